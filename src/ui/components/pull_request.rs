//! A link to a pull request, if what the upstream sent is a link that a browser may follow; its text otherwise.

use leptos::prelude::*;

use crate::model::job::safe_link;
use crate::ui::components::icon::{self, icon};
use crate::ui::erase::Erase;

/// `class` says how loud it is.
pub fn pull_request(link: &str, class: &'static str) -> AnyView {
    let Some(href) = safe_link(link) else {
        return view! { <span class="plain-link" dir="auto">{link.to_owned()}</span> }.erase();
    };
    let number = number(href).map(|number| view! { <span>{number}</span> }.erase());
    view! {
        <a class=class href=href.to_owned() target="_blank" rel="noopener noreferrer">
            {icon(icon::PULL_REQUEST)}
            <span><span class="link-words">"Pull request"</span>{number}</span>
        </a>
    }
    .erase()
}

/// ` #12` where the address ends so.
fn number(link: &str) -> Option<String> {
    let plain = link.split(['?', '#']).next().unwrap_or(link).trim_end_matches('/');
    let number = plain.rsplit('/').next().unwrap_or_default();
    let numbered =
        !number.is_empty() && number.len() < 10 && number.bytes().all(|byte| byte.is_ascii_digit());
    numbered.then(|| format!(" #{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_is_named_by_its_number() {
        let numbers = |link: &str, text: Option<&str>| assert_eq!(number(link).as_deref(), text, "{link}");
        numbers("https://git.example/a/b/pull/128", Some(" #128"));
        numbers("https://git.example/a/b/merge_requests/7/?tab=x", Some(" #7"));
        numbers("https://git.example", None);
        numbers(&format!("https://git.example/{}", "9".repeat(10_000)), None);
    }
}
