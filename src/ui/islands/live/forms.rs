//! Plain forms of a page, posted without leaving it. The server renders the form; without JavaScript the browser posts it.
//!
//! - A refused post is said above its form, which keeps what was typed.
//! - An answer that leads elsewhere is followed; after any other the page is refreshed where it stands.
//! - `data-done` on a form or on the pressed button is said in a toast. With `data-undo`, the path of an endpoint, it is said of the jobs
//!   in the answer ("2 jobs archived"), with a way to take it back.
//! - `data-plain` leaves a form to the browser.
//!
//! A form of the GET method is a link: fields without a value stay out of its address.

use leptos::ev::{self, SubmitEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement, HtmlFormElement};

use super::LiveState;
use crate::error::{AppError, ErrorCode};
use crate::model::job::BulkResult;
use crate::model::links;
use crate::ui::charts::number::counted;
use crate::ui::components::notice::NAMED_PAGE;
use crate::ui::islands::toasts::Undo;
use crate::ui::islands::{browser, json};

/// The class of the element that says why a form was refused.
pub(super) const PROBLEM: &str = "form-problem";

pub(super) fn listen(live: LiveState) {
    browser::on_window(ev::submit, move |event| submitted(live, &event));
}

fn submitted(live: LiveState, event: &SubmitEvent) {
    let form = event.target().and_then(|target| target.dyn_into::<HtmlFormElement>().ok());
    let Some(form) = form.filter(|form| !event.default_prevented() && !form.has_attribute("data-plain"))
    else {
        return;
    };
    let Some(fields) = browser::fields(&form, event) else { return };
    let submitter = event.submitter();
    let attribute = |name: &str| {
        let of_button = submitter.as_ref().and_then(|button| button.get_attribute(name));
        of_button.or_else(|| form.get_attribute(&name.replace("formaction", "action")))
    };
    let action = attribute("formaction").unwrap_or_default();
    match form.method().as_str() {
        "get" => {
            event.prevent_default();
            browser::go(&with_given(&action, &fields));
        }
        "post" => {
            event.prevent_default();
            if form.has_attribute("aria-busy") {
                return;
            }
            let done = attribute("data-done");
            let undo = attribute("data-undo");
            let _ = form.set_attribute("aria-busy", "true");
            spawn_local(async move {
                let reply = browser::post_raw(&action, &fields).await;
                let _ = form.remove_attribute("aria-busy");
                match reply.answer {
                    Ok(answer) => {
                        problem(&form, None);
                        if let Some(place) = reply.redirect {
                            return browser::go(&place);
                        }
                        say(live, &form, &answer, done, undo);
                        // What was typed and ticked has been done.
                        form.reset();
                        if let Ok(Some(details)) = form.closest("details") {
                            let _ = details.remove_attribute("open");
                        }
                        live.hurry();
                    }
                    Err(error) if error.code == ErrorCode::Unauthenticated => {
                        browser::go(&links::login(&browser::here()));
                    }
                    Err(error) => problem(&form, Some(&error)),
                }
            });
        }
        _ => {}
    }
}

fn say(live: LiveState, form: &HtmlFormElement, answer: &str, done: Option<String>, undo: Option<String>) {
    let Some(done) = done else { return };
    let Some(path) = undo else { return live.toasts.say(done, "", None) };
    let Ok(BulkResult { jobs }) = json::from_str(answer) else { return };
    if jobs.is_empty() {
        return live.toasts.say("Nothing had to be changed", "", None);
    }
    let ids = jobs.iter().map(|job| job.as_str()).collect::<Vec<_>>().join(",");
    let tag = browser::value_of(form, "tag");
    let fields = browser::fields_of(&[("project", &live.project()), ("jobs", &ids), ("tag", &tag)]);
    let count = counted(jobs.len() as u64, "job", "jobs");
    let opposite = match done.as_str() {
        "archived" => "restored",
        "restored" => "archived",
        "tagged" => "untagged",
        _ => "tagged",
    };
    let undo = Undo { path, fields, done: format!("{count} {opposite}") };
    live.toasts.say_with_undo(format!("{count} {done}"), undo);
}

/// Says why `form` was refused, above it; without an error, takes that away.
pub fn problem(form: &HtmlFormElement, error: Option<&AppError>) {
    let before: Option<Element> =
        form.previous_element_sibling().filter(|element| element.class_list().contains(PROBLEM));
    if let Some(before) = before {
        before.remove();
    }
    let Some(error) = error else { return };
    let Ok(said) = document().create_element("div") else { return };
    let _ = said.set_attribute("role", "alert");
    said.set_class_name(&format!("notice notice-bad {PROBLEM}"));
    let _ = said.set_attribute("tabindex", "-1");
    if let Ok(text) = document().create_element("p") {
        text.set_text_content(Some(&error.message));
        let _ = said.append_child(&text);
    }
    if let (Some(page), Ok(link)) = (links::named_in(&error.message), document().create_element("a")) {
        let _ = link.set_attribute("href", page);
        link.set_class_name("button");
        link.set_text_content(Some(NAMED_PAGE));
        let _ = said.append_child(&link);
    }
    let is_shown = form.parent_node().is_some_and(|parent| parent.insert_before(&said, Some(form)).is_ok());
    if let Some(said) = said.dyn_ref::<HtmlElement>().filter(|_| is_shown) {
        said.scroll_into_view_with_bool(false);
    }
}

/// `action` with those `fields` that have a value.
fn with_given(action: &str, fields: &str) -> String {
    let given: Vec<_> =
        fields.split('&').filter(|field| !field.is_empty() && !field.ends_with('=')).collect();
    if given.is_empty() { action.to_owned() } else { format!("{action}?{}", given.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_fields_stay_out_of_the_address() {
        assert_eq!(with_given("/p/docs/jobs", "status=&q=sdk+v3&author="), "/p/docs/jobs?q=sdk+v3");
        assert_eq!(with_given("/p/docs/jobs", "q="), "/p/docs/jobs");
    }
}
