//! A link to a pull request. An unsafe link from the upstream is shown as text.

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;

use crate::model::job::safe_link;
use crate::ui::components::icon::{self, icon};

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

/// As [`pull_request`], in the short form for rows: `#12`. An empty element without `link`, so that a row gets its link in place.
pub fn short_pull_request(link: Option<&str>, class: &'static str) -> impl IntoView + use<> {
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
    // `noreferrer` implies `noopener`.
    EitherOf3::C(view! {
        <a class=class href=href.to_owned() target="_blank" rel="noreferrer" aria-label=name>{text}</a>
    })
}

/// `Pull request #12` if the URL ends in a number, else `Pull request`.
pub fn label(link: &str) -> String {
    let plain = link.split(['?', '#']).next().unwrap_or(link).trim_end_matches('/');
    let number = plain.rsplit('/').next().unwrap_or_default();
    let numbered =
        !number.is_empty() && number.len() < 10 && number.bytes().all(|byte| byte.is_ascii_digit());
    if numbered { format!("Pull request #{number}") } else { "Pull request".to_owned() }
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
