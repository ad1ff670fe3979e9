//! What makes a form of the GET method a link: with JavaScript it navigates without a reload and leaves empty fields out
//! of the address. Without, the browser submits it.

use leptos::ev::SubmitEvent;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::ui::erase::handler;
use crate::ui::state::post::fields;

/// For `on:submit` of the form.
pub fn navigating() -> Box<dyn FnMut(SubmitEvent)> {
    let navigate = use_navigate();
    handler(move |event: SubmitEvent| {
        if let Some(address) = address(&event) {
            event.prevent_default();
            navigate(&address, NavigateOptions::default());
        }
    })
}

fn address(event: &SubmitEvent) -> Option<String> {
    let (form, query) = fields(event)?;
    let action = form.get_attribute("action").unwrap_or_default();
    Some(joined(&action, &query))
}

fn joined(action: &str, query: &str) -> String {
    let given: Vec<_> = query.split('&').filter(|field| !field.is_empty() && !field.ends_with('=')).collect();
    if given.is_empty() { action.to_owned() } else { format!("{action}?{}", given.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_fields_stay_out_of_the_address() {
        assert_eq!(joined("/p/docs/jobs", "status=&q=sdk+v3&author="), "/p/docs/jobs?q=sdk+v3");
        assert_eq!(joined("/p/docs/jobs", "q="), "/p/docs/jobs");
    }
}
