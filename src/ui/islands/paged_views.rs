//! Lets the table of pages be paged, sorted, searched and filed by folder without leaving the page: follows its links and its GET form in
//! place. The address is kept in step, and all regions of the page follow it. Needs [`super::live::LiveState`]; the rows are the server's.

use leptos::ev::{self, MouseEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlFormElement};

use crate::error::{AppError, ErrorCode};
use crate::model::links;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::islands::browser;
use crate::ui::islands::live::{LiveState, forms};

/// Links of this class are followed in place.
pub const IN_PLACE: &str = "in-place";
/// The id of the heading, which is scrolled to when a page is turned.
pub const HEADING: &str = "table";
/// The id of the name of the open folder.
pub const FOLDER: &str = "folder";
/// The id of the search field.
pub const SEARCH: &str = "q";
/// The id of the words that say which rows are shown.
pub const PLACE: &str = "place";

#[derive(Clone, Copy)]
struct State {
    /// The address that is shown.
    shown: StoredValue<String>,
    /// The one that was asked for last.
    asked: StoredValue<String>,
    is_busy: RwSignal<bool>,
    problem: RwSignal<Option<AppError>>,
    live: Option<LiveState>,
}

/// `children` are the controls and the rows, in a region.
#[island]
pub fn PagedViews(children: Children) -> impl IntoView {
    let state = State {
        shown: StoredValue::new(browser::here()),
        asked: StoredValue::new(browser::here()),
        is_busy: RwSignal::new(false),
        problem: RwSignal::new(None),
        live: use_context(),
    };
    browser::on_window(ev::popstate, move |_| state.came_back());
    let failed = move || {
        state.problem.get().map(|error| {
            let href = state.asked.get_value();
            let again = view! { <a class="button in-place" href=href>"Try again"</a> };
            notice(Tone::Bad, view! { <p>{error.message}</p> {again} })
        })
    };
    view! {
        <section
            class="paged-views"
            aria-labelledby=HEADING
            aria-busy=Signal::derive(move || state.is_busy.get().then_some("true"))
            on:click=move |event| state.clicked(&event)
            on:submit=move |event| state.submitted(&event)
        >
            {children()}
            <div>{failed}</div>
        </section>
    }
}

impl State {
    /// Follows a link of the table in place.
    fn clicked(self, event: &MouseEvent) {
        let plain = event.button() == 0
            && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key());
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let link = target.and_then(|target| target.closest("a.in-place").ok().flatten());
        let Some(link) = link.filter(|_| plain && !event.default_prevented()) else { return };
        event.prevent_default();
        self.open(link.get_attribute("href").unwrap_or_default());
        if link.has_attribute("rel") {
            browser::scroll_to(HEADING);
        }
    }

    /// Searches. Forms of the POST method are those of the page.
    fn submitted(self, event: &SubmitEvent) {
        let form = event.target().and_then(|target| target.dyn_into::<HtmlFormElement>().ok());
        let Some(form) = form.filter(|form| form.method() == "get") else { return };
        let Some(fields) = browser::fields(&form, event) else { return };
        event.prevent_default();
        let action = form.get_attribute("action").unwrap_or_default();
        self.open(forms::with_given(&action, &fields));
    }

    fn open(self, address: String) {
        if self.is_busy.get_untracked() && self.asked.with_value(|asked| *asked == address) {
            return;
        }
        if browser::here() != address {
            browser::push_address(&address);
        }
        self.ask(address, true);
    }

    /// The address changed by itself: somebody went back, or forward.
    fn came_back(self) {
        let here = browser::here();
        if value("path", &here).is_some() {
            return browser::go(&here);
        }
        if self.asked.with_value(|asked| *asked != here) {
            self.ask(here, false);
        }
    }

    /// `is_pressed`: whether somebody pressed a control of the table, which keeps the focus.
    fn ask(self, address: String, is_pressed: bool) {
        let Some(live) = self.live else { return browser::go(&address) };
        let pressed = is_pressed.then(browser::focused);
        self.asked.set_value(address.clone());
        self.is_busy.set(true);
        spawn_local(async move {
            let answer = live.fetch(&address).await;
            // Something else was asked meanwhile.
            if self.asked.with_value(|asked| *asked != address) {
                return;
            }
            self.is_busy.set(false);
            match answer {
                Ok(page) => {
                    self.problem.set(None);
                    live.show(&page);
                    self.follow(address, pressed);
                }
                Err(error) if error.code == ErrorCode::Unauthenticated => {
                    browser::go(&links::login(&address));
                }
                Err(error) => self.problem.set(Some(error)),
            }
        });
    }

    /// The page shows `address`. `pressed` is the id of the control that it was asked for with, if it has one.
    fn follow(self, address: String, pressed: Option<Option<String>>) {
        let before = self.shown.get_value();
        let changed = |name: &str| value(name, &before) != value(name, &address);
        if changed(SEARCH) {
            browser::set_value(SEARCH, &value(SEARCH, &address).unwrap_or_default());
        }
        if let Some(pressed) = pressed {
            keep_focus(pressed, changed(FOLDER));
        }
        self.shown.set_value(address);
    }
}

/// Leaves the focus on the pressed control. One that is gone gives it to the name of the folder that was opened, or to the words that say
/// which rows are shown.
fn keep_focus(pressed: Option<String>, is_elsewhere: bool) {
    let is_kept = pressed.is_some_and(|id| browser::focus(&id)) || (is_elsewhere && browser::focus(FOLDER));
    if !is_kept && browser::focus_is_lost() {
        browser::focus(PLACE);
    }
}

/// The field `name` of an address, where it has a value.
fn value(name: &str, address: &str) -> Option<String> {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    browser::value_in(query, name).filter(|value| !value.is_empty())
}
