//! Scripts the DOM: posts the page's plain forms without leaving it. Without JavaScript the browser posts them.
//!
//! - An error is shown above the form, which keeps its values.
//! - A redirect is followed; after any other response the page is refreshed.
//! - The form is emptied, unless it was changed while it was posted.
//! - `data-done` on the form or the pressed button is the text of a toast. With `data-undo`, the path of an endpoint, the toast
//!   counts the jobs in the response ("2 jobs archived") and offers to undo.
//!
//! A GET form becomes a navigation, without the empty fields.

use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement, HtmlFormElement, SubmitEvent};

use super::LiveState;
use super::kept::{self, Task};
use crate::ui::charts::number::counted;
use crate::ui::components::notice;
use crate::ui::islands::morph::{self, PROBLEM};
use crate::ui::islands::selection::bulk;
use crate::ui::islands::toasts::Undo;
use crate::ui::islands::{browser, json};
use crate::ui::marks::SIGN_OUT;
use model::error::{AppError, ErrorCode};
use model::job::BulkResult;
use model::links;

pub(super) fn listen(live: &LiveState) {
    let live = live.clone();
    browser::on_window("submit", move |event: SubmitEvent| submitted(&live, &event));
}

fn submitted(live: &LiveState, event: &SubmitEvent) {
    let form = browser::submitted(event);
    let is_plain = |form: &HtmlFormElement| form.closest("[data-plain]").ok().flatten().is_some();
    let is_ours = |form: &HtmlFormElement| !is_plain(form) && form.method() != "dialog";
    let Some(form) = form.filter(|form| !event.default_prevented() && is_ours(form)) else { return };
    let Some(fields) = browser::fields(&form, event) else { return };
    let submitter = event.submitter();
    let attribute = |of_button: &str, of_form: &str| {
        let of_button = submitter.as_ref().and_then(|button| button.get_attribute(of_button));
        of_button.or_else(|| form.get_attribute(of_form))
    };
    let action = attribute("formaction", "action").unwrap_or_default();
    event.prevent_default();
    if form.method() != "post" {
        return browser::go(&with_given(&action, &fields));
    }
    if form.has_attribute("aria-busy") {
        return;
    }
    let toast = attribute("data-done", "data-done").map(|done| (done, attribute("data-undo", "data-undo")));
    browser::set_busy(&form, true);
    let is_sign_out = SIGN_OUT.is_of(&form);
    let (live, typed) = (live.clone(), browser::typed_fields(&form));
    spawn_local(async move {
        if is_sign_out {
            browser::set_signing_out(true);
        }
        let reply = browser::post_raw(&action, &fields).await;
        browser::set_busy(&form, false);
        let has_session = |error: &AppError| error.code != ErrorCode::Unauthenticated;
        // The next user of this browser must not read the drafts. They stay if the server does not respond.
        if is_sign_out && !reply.result.as_ref().is_err_and(has_session) {
            browser::forget_drafts();
        }
        // What was typed since then has not been processed.
        let is_processed = reply.result.is_ok() && browser::typed_fields(&form) == typed;
        // Signing out in another tab has removed what was stored.
        let task = if is_processed { Task::Forget } else { Task::Store };
        kept::keep(task, form.clone(), live.clone()).await;
        match reply.result {
            Ok(text) => {
                problem(&form, None);
                if let Some(path) = reply.redirect {
                    return browser::go(&path);
                }
                if let Some((done, undo)) = toast {
                    show_done(&live, &fields, &text, &done, undo);
                }
                match is_processed {
                    true => end(&form),
                    false => bulk::untick(&form, &fields),
                }
                live.refresh_now();
            }
            Err(error) if is_sign_out && has_session(&error) => {
                browser::set_signing_out(false);
                live.toasts.warn(&["You are still signed in. ", &error.message].concat(), "", None);
            }
            Err(error) => refused(&form, &error),
        }
    });
}

/// Empties a form whose input has been processed, and closes the details around it.
fn end(form: &HtmlFormElement) {
    form.reset();
    if let Ok(Some(details)) = form.closest("details") {
        browser::set_open(&details, false);
    }
}

/// Shows the error above `form`. Without a session it redirects to sign-in, which leads back here.
pub fn refused(form: &HtmlFormElement, error: &AppError) {
    if error.code == ErrorCode::Unauthenticated {
        return browser::go(&links::login(&browser::here()));
    }
    problem(form, Some(error));
}

fn show_done(live: &LiveState, posted: &str, text: &str, done: &str, undo: Option<String>) {
    let Some(path) = undo else { return live.toasts.announce(done, "") };
    let Ok(BulkResult { jobs }) = json::from_str(text) else { return };
    if jobs.is_empty() {
        return live.toasts.show("Nothing to change", "", None);
    }
    let ids = jobs.iter().map(|job| job.as_str()).collect::<Vec<_>>().join(",");
    let [tag, page] = ["tag", "path"].map(|name| browser::value_in(posted, name).unwrap_or_default());
    let fields =
        browser::fields_of(&[("project", live.project()), ("jobs", &ids), ("tag", &tag), ("path", &page)]);
    let count = counted(jobs.len() as u64, "job", "jobs");
    let text = [&count, " ", done].concat();
    let undo = Undo { path, fields, done: ["Undone: ", &text].concat() };
    live.offer_undo(&text, undo);
}

/// Shows the error above `form`, or removes it if there is none.
pub fn problem(form: &HtmlFormElement, error: Option<&AppError>) {
    let above = form.previous_element_sibling().filter(|before| before.class_list().contains(PROBLEM));
    let Some(above) = above.or_else(|| error.and_then(|_| new_element(form))) else { return };
    morph::show_in(&above, || notice::problem(error.map(|error| error.message.clone())));
    if let Some(shown) = above.first_element_child().and_then(|shown| shown.dyn_into::<HtmlElement>().ok()) {
        shown.scroll_into_view_with_bool(false);
    }
}

fn new_element(form: &HtmlFormElement) -> Option<Element> {
    let element = form.owner_document()?.create_element("div").ok()?;
    element.set_class_name(PROBLEM);
    form.parent_node()?.insert_before(&element, Some(form)).ok()?;
    Some(element)
}

/// `action` with the non-empty `fields` as its query.
pub fn with_given(action: &str, fields: &str) -> String {
    let given: Vec<_> =
        fields.split('&').filter(|field| !field.is_empty() && !field.ends_with('=')).collect();
    if given.is_empty() { action.to_owned() } else { [action, "?", &given.join("&")].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_omits_empty_form_fields() {
        assert_eq!(with_given("/p/docs/jobs", "status=&q=sdk+v3&author="), "/p/docs/jobs?q=sdk+v3");
        assert_eq!(with_given("/p/docs/jobs", "q="), "/p/docs/jobs");
    }
}
