//! Scripts the DOM: follows links and GET forms that lead to the same page with other filters, without leaving the page. Fetches the page at the
//! new URL and merges its region; if that fails, the browser loads the page itself, unless it is offline. Scroll position and focus stay. The URL is updated, and Back restores the filters with the
//! scroll position. Expects an element [`REPORT`] with `data-region` among its children, and in it an element [`REPORT_PROBLEM`].

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlInputElement, MouseEvent, SubmitEvent};

use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::pages_table::{FOLDER, HEADING, POSITION};
use crate::ui::islands::browser;
use crate::ui::islands::live::{LiveState, forms};
use crate::ui::islands::morph;
use crate::ui::marks::{REPORT, REPORT_PROBLEM};
use model::analytics::query::DAYS;
use model::error::AppError;

/// `children` are the page as the server rendered it.
#[island]
pub fn InPlace(children: Children) -> impl IntoView {
    let live = LiveState::here();
    if let Some(live) = &live {
        let state = live.clone();
        live.on_history(move |scroll| show(&state, None, scroll));
    }
    view! {
        <div on:click=LiveState::handler(&live, clicked) on:submit=LiveState::handler(&live, submitted)>
            {children()}
        </div>
    }
}

fn clicked(live: &LiveState, event: &MouseEvent) {
    let link = browser::target(event, "a[href]:not([download])").filter(|_| browser::is_plain(event));
    let Some(link) = link else { return };
    if let Some(href) = link.get_attribute("href").filter(|href| browser::is_here(href)) {
        event.prevent_default();
        open(live, &href);
        // The previous or next page of the table.
        if link.has_attribute("rel") {
            browser::scroll_to(HEADING);
        }
    }
}

fn submitted(live: &LiveState, event: &SubmitEvent) {
    let Some(form) = browser::submitted(event).filter(|form| form.method() == "get") else { return };
    let action = form.get_attribute("action").unwrap_or_default();
    let Some(fields) = browser::fields(&form, event).filter(|_| browser::is_here(&action)) else { return };
    event.prevent_default();
    let fields = with_url(&form, &fields, &live.url());
    open(live, &forms::with_given(&action, &fields));
}

/// The visible ones of a form's `fields`, and all other fields from `url`. The form's hidden fields are for browsers
/// without JavaScript. They are outdated while a response is pending.
fn with_url(form: &Element, fields: &str, url: &str) -> String {
    let visible = browser::all_in(form, "[name]:not([type=hidden])");
    let visible: Vec<_> = visible.iter().filter_map(|field| field.get_attribute("name")).collect();
    let mut visible: Vec<_> = visible.iter().map(String::as_str).collect();
    // The ends of a range replace the name of a preset.
    if visible.contains(&"from") {
        visible.push(DAYS);
    }
    let is_visible = |field: &&str| visible.contains(&name_of(field));
    // Another filter shows the first page.
    let other_fields = query_of(url)
        .split('&')
        .filter(|field| !is_visible(field) && !["", "page"].contains(&name_of(field)));
    other_fields.chain(fields.split('&').filter(is_visible)).collect::<Vec<_>>().join("&")
}

/// The query string of a URL; empty without one.
fn query_of(url: &str) -> &str {
    url.split_once('?').map_or("", |(_, query)| query)
}

/// The name of a url-encoded field.
fn name_of(field: &str) -> &str {
    field.split('=').next().unwrap_or_default()
}

fn open(live: &LiveState, href: &str) {
    let before = live.url();
    live.go_to(href);
    show(live, Some(before), None);
}

/// Shows the page at the current URL. `before`: the URL before a link or a form changed it; `scroll`: the scroll position when
/// the page was left.
fn show(live: &LiveState, before: Option<String>, scroll: Option<f64>) {
    let here = browser::here();
    browser::close_popovers(|_| true);
    let fields = Field::all();
    live.show_address(REPORT.element(), move |shown| match shown {
        Ok(()) => {
            fields.iter().for_each(Field::show_filter);
            if let Some(before) = before {
                restore_focus(&before, &here);
            }
            if let Some(y) = scroll {
                browser::scroll_to_y(y);
            }
        }
        // An extension or a proxy may block requests of scripts only.
        Err(_) if browser::is_online() => browser::go(&here),
        Err(error) => fail(&error, &here),
    });
}

/// A field for a filter, with its text from before the page was requested.
struct Field {
    input: HtmlInputElement,
    text: String,
}

impl Field {
    fn all() -> Vec<Self> {
        let of_report = |report| browser::all_in(&report, "form[method=get] input:not([type=hidden])");
        let inputs = REPORT.element().map(of_report).unwrap_or_default().into_iter();
        let inputs = inputs.filter_map(|input| input.dyn_into::<HtmlInputElement>().ok());
        inputs.map(|input| Self { text: input.value(), input }).collect()
    }

    /// Shows the filter of the URL, unless a person has typed while the page was requested.
    fn show_filter(&self) {
        if self.input.value() == self.text {
            self.input.set_value(&self.input.default_value());
        }
    }
}

/// Scrolls to the top for the report of another page. Otherwise the focus stays, or moves to the opened folder, or to the range
/// of rows if the pressed link is gone.
fn restore_focus(before: &str, here: &str) {
    let field = |url: &str, name: &str| browser::value_in(query_of(url), name);
    if field(before, "path") != field(here, "path") {
        browser::scroll_to_y(0.0);
        browser::focus("content");
    } else if field(before, "folder") != field(here, "folder") {
        browser::focus(FOLDER);
    } else if browser::focused().as_deref() == Some("content") {
        browser::focus_where_it_is(POSITION);
    }
}

fn fail(error: &AppError, here: &str) {
    let href = here.to_owned();
    morph::show(REPORT_PROBLEM.name(), || {
        let again = view! { <a class="button" href=href>"Try again"</a> };
        notice(Tone::Bad, view! { <p>{error.message.clone()}</p> {again} })
    });
    browser::scroll_to(REPORT_PROBLEM.name());
}
