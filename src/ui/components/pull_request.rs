//! A link to a pull request. An unsafe link from the upstream is shown as text.

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use model::job::safe_link;
use model::pull_request::{self, Checks, PullRequestFilter, PullRequestState, Review, WaitingFor};

/// `class`: the link's style. `of`: distinguishes it from other links to the same pull request, for screen readers; may be
/// empty.
pub fn pull_request(link: &str, class: &'static str, of: &str) -> impl IntoView + use<> {
    match safe_link(link) {
        Some(href) => {
            let name = (!of.is_empty()).then(|| [&label(href), ", ", of].concat());
            Either::Left(view! {
                <a class=class href=href.to_owned() aria-label=name target="_blank" rel="noopener noreferrer">
                    {icon(icon::PULL_REQUEST)}
                    <span>{label(href)}</span>
                </a>
            })
        }
        None => Either::Right(view! { <span class="plain-link" dir="auto">{link.to_owned()}</span> }),
    }
}

/// As [`pull_request`], in the short form for rows: `#12 merged`. `is_earlier`: the platform named it in an earlier answer. An empty element without `link`, so that a row gets its link in place.
pub fn short_pull_request(
    link: Option<&str>,
    state: Option<PullRequestState>,
    is_earlier: bool,
    class: &'static str,
) -> impl IntoView + use<> {
    let Some(link) = link else {
        return EitherOf3::A(view! { <a class=class></a> });
    };
    let Some(href) = safe_link(link) else {
        let class = [class, " plain-link"].concat();
        return EitherOf3::B(view! { <a class=class dir="auto">{link.to_owned()}</a> });
    };
    let name = label(href);
    let text = match name.split_once('#') {
        Some((_, number)) => Either::Left(["#", number].concat()),
        None => Either::Right(icon(icon::PULL_REQUEST)),
    };
    // Without a connection to the code host, links have no state.
    let state = state.filter(|state| *state != PullRequestState::Unknown);
    let words =
        [state.map(|state| state_name(state).to_ascii_lowercase()), is_earlier.then(|| "earlier".to_owned())];
    let words: Vec<_> = words.into_iter().flatten().collect();
    let word = (!words.is_empty()).then(|| words.join(", "));
    let name = word.iter().fold(name, |name, word| [&name, ", ", word].concat());
    let word = word.map(|word| view! { " " <span>{word}</span> });
    // `noreferrer` implies `noopener`.
    EitherOf3::C(view! {
        <a class=class href=href.to_owned() target="_blank" rel="noreferrer" aria-label=name data-pr=state.map(PullRequestState::as_str)>
            {text} {word}
        </a>
    })
}

pub const fn state_name(state: PullRequestState) -> &'static str {
    match state {
        PullRequestState::Open => "Open",
        PullRequestState::Draft => "Draft",
        PullRequestState::Merged => "Merged",
        PullRequestState::Closed => "Closed",
        PullRequestState::Unknown => "Unknown",
    }
}

pub const fn checks_name(checks: Checks) -> &'static str {
    match checks {
        Checks::Passing => "Passing",
        Checks::Failing => "Failing",
        Checks::Pending => "Running",
        Checks::None => "None",
        Checks::Unreadable => "Not readable with this token",
    }
}

pub const fn review_name(review: Review) -> &'static str {
    match review {
        Review::Approved => "Approved",
        Review::ChangesRequested => "Changes requested",
        Review::Required => "Review required",
        Review::None => "No review",
    }
}

/// Who acts next, as a heading or a value.
pub const fn waiting_name(waiting_for: WaitingFor) -> &'static str {
    match waiting_for {
        WaitingFor::Reviewer => "A reviewer",
        WaitingFor::Author => "The author",
        WaitingFor::Merge => "A merge",
        WaitingFor::Checks => "Its checks",
        WaitingFor::Nobody => "Nobody",
    }
}

/// The name of a filter by pull request.
pub const fn filter_name(filter: PullRequestFilter) -> &'static str {
    match filter {
        PullRequestFilter::Open => "Open",
        PullRequestFilter::Draft => "Draft",
        PullRequestFilter::Merged => "Merged",
        PullRequestFilter::Closed => "Closed",
        PullRequestFilter::Waiting => "Waiting for review",
        PullRequestFilter::Conflict => "With conflicts",
    }
}

/// `Pull request #12` if the URL ends in a number, else `Pull request`.
pub fn label(link: &str) -> String {
    match pull_request::number(link) {
        Some(number) => format!("Pull request #{number}"),
        None => "Pull request".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_has_the_number_of_the_pull_request() {
        assert_eq!(label("https://git.example/a/b/pull/128"), "Pull request #128");
        assert_eq!(label("https://git.example/a/b/merge_requests/7/?tab=x"), "Pull request #7");
        assert_eq!(label("https://git.example"), "Pull request");
        assert_eq!(label(&format!("https://git.example/{}", "9".repeat(10_000))), "Pull request");
    }
}
