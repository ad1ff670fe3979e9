//! What makes a form of the GET method a link: with JavaScript it navigates without a reload and leaves empty fields out
//! of the address. Without, the browser submits it.

use leptos::ev::SubmitEvent;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{FormData, HtmlFormElement, UrlSearchParams};
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

/// For `on:submit` of the form.
pub fn navigating() -> impl Fn(SubmitEvent) + Clone {
    let navigate = use_navigate();
    move |event: SubmitEvent| {
        if let Some(address) = address(&event) {
            event.prevent_default();
            navigate(&address, NavigateOptions::default());
        }
    }
}

fn address(event: &SubmitEvent) -> Option<String> {
    let form = event.target()?.dyn_into::<HtmlFormElement>().ok()?;
    let fields = FormData::new_with_form(&form).ok()?;
    let query = UrlSearchParams::new_with_str_sequence_sequence(&fields).ok()?.to_string();
    let action = form.get_attribute("action").unwrap_or_default();
    Some(joined(&action, &String::from(query)))
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
