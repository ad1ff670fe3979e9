//! Paging, sorting, searching and folders of the pages table in place: fetches the rows and renders them
//! ([`pages_table`]). Every control is a link or a GET form that also works without JavaScript. Updates the address,
//! and with a [`super::live::LiveState`] the rest of the page.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::web_sys::{Event, MouseEvent, SubmitEvent};

use crate::api::analytics::{GetTable, GetViews};
use crate::error::{AppError, ErrorCode};
use crate::model::analytics_query::AnalyticsQuery;
use crate::model::analytics_report::PagesTable;
use crate::model::day::Day;
use crate::model::links;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::pages_table::{self, About, FOLDER, HEADING, PLACE, SEARCH, Shown, pages_table};
use crate::ui::islands::live::LiveState;
use crate::ui::islands::{browser, morph};

struct State {
    about: About,
    /// The address of the rows that are shown.
    shown: RefCell<String>,
    /// The last query that was requested.
    asked: RefCell<AnalyticsQuery>,
    is_busy: Cell<bool>,
    live: Option<LiveState>,
}

/// `children` are the table as the server rendered it for `days`.
#[island]
pub fn PagedViews(project: String, days: (Day, Day), may_start: bool, children: Children) -> impl IntoView {
    if browser::IS_HERE {
        let here = browser::here();
        let state = Rc::new(State {
            about: About { project, days, may_start },
            asked: RefCell::new(asked_by(&here)),
            shown: RefCell::new(here),
            is_busy: Cell::new(false),
            live: LiveState::here(),
        });
        state.listen();
    }
    children()
}

impl State {
    fn listen(self: Rc<Self>) {
        let Some(table) = browser::by_id(pages_table::ID) else { return };
        let this = self.clone();
        browser::on(&table, "click", move |event: MouseEvent| this.clone().clicked(&event));
        let this = self.clone();
        browser::on(&table, "submit", move |event: SubmitEvent| this.clone().submitted(&event));
        browser::on_window::<Event>("popstate", move |_| self.clone().came_back());
    }

    /// Opens a link of the table in place.
    fn clicked(self: Rc<Self>, event: &MouseEvent) {
        let Some(link) = browser::target(event, "a.in-place").filter(|_| browser::is_plain(event)) else {
            return;
        };
        event.prevent_default();
        let href = link.get_attribute("href").unwrap_or_default();
        self.open(asked_by(&href), &href);
        if link.has_attribute("rel") {
            browser::scroll_to(HEADING);
        }
    }

    /// Searches, or refreshes the live figures.
    fn submitted(self: Rc<Self>, event: &SubmitEvent) {
        let Some(form) = browser::submitted(event).filter(|_| !event.default_prevented()) else { return };
        let Some(fields) = browser::fields(&form, event) else { return };
        event.prevent_default();
        if form.method() == "post" {
            return self.refresh(fields);
        }
        let query = asked_by(&["?", &fields].concat());
        let href = query.href(&self.about.project);
        self.open(query, &href);
    }

    /// Makes the server fetch the figures from the upstream again, and shows them.
    fn refresh(self: Rc<Self>, fields: String) {
        if self.is_busy.get() {
            return;
        }
        self.set_busy(true);
        spawn_local(async move {
            match browser::post_raw(GetViews::PATH, &fields).await.answer {
                Ok(_) => {
                    if let Some(live) = &self.live {
                        live.refresh_now();
                    }
                    let query = self.asked.borrow().clone();
                    self.ask(query, false);
                }
                Err(error) => {
                    self.set_busy(false);
                    self.fail(&error);
                }
            }
        });
    }

    fn open(self: Rc<Self>, query: AnalyticsQuery, href: &str) {
        if self.is_busy.get() && *self.asked.borrow() == query {
            return;
        }
        if browser::here() != href {
            browser::push_address(href);
        }
        self.ask(query, true);
    }

    /// The address changed by back or forward navigation.
    fn came_back(self: Rc<Self>) {
        let here = browser::here();
        let query = asked_by(&here);
        if query.path.is_some() {
            return browser::go(&here);
        }
        if *self.asked.borrow() != query {
            self.ask(query, false);
        }
    }

    /// `is_pressed`: whether a control of the table was used, which then keeps the focus.
    fn ask(self: Rc<Self>, query: AnalyticsQuery, is_pressed: bool) {
        let pressed = is_pressed.then(browser::focused);
        self.asked.replace(query.clone());
        self.set_busy(true);
        let fields = browser::fields_of(&[("project", &self.about.project), ("query", &query.address())]);
        spawn_local(async move {
            let answer = browser::post::<PagesTable>(GetTable::PATH, &fields).await.answer;
            // A newer query was requested meanwhile.
            if *self.asked.borrow() != query {
                return;
            }
            self.set_busy(false);
            match answer {
                Ok(table) => self.show(Shown { query, table }, pressed),
                Err(error) if error.code == ErrorCode::Unauthenticated => {
                    browser::go(&links::login(&browser::here()));
                }
                Err(error) => self.fail(&error),
            }
        });
    }

    /// Shows the answer. `pressed`: the id of the control that was used, if it has one.
    fn show(&self, shown: Shown, pressed: Option<Option<String>>) {
        let before = asked_by(&self.shown.replace(browser::here()));
        let query = &shown.query;
        morph::show(pages_table::ID, || pages_table(&self.about, &shown));
        if before.q != query.q {
            browser::set_value(SEARCH, query.q.as_deref().unwrap_or_default());
        }
        if let Some(pressed) = pressed {
            keep_focus(pressed, query.folder != before.folder);
        }
        // Another page of the table changes nothing else.
        if let Some(live) = self.live.as_ref().filter(|_| query.on_page(1) != before.on_page(1)) {
            live.refresh();
        }
    }

    fn set_busy(&self, is_busy: bool) {
        self.is_busy.set(is_busy);
        if let Some(table) = browser::by_id(pages_table::ID) {
            browser::set(&table, "aria-busy", is_busy.then_some("true"));
        }
    }

    /// Shows the error below the table.
    fn fail(&self, error: &AppError) {
        let href = self.asked.borrow().href(&self.about.project);
        morph::show(pages_table::PROBLEM, || {
            let again = view! { <a class="button in-place" href=href>"Try again"</a> };
            notice(Tone::Bad, view! { <p>{error.message.clone()}</p> {again} })
        });
    }
}

/// Keeps the focus on the pressed control. If that is gone, moves it to the name of the opened folder or to the range
/// of rows.
fn keep_focus(pressed: Option<String>, is_elsewhere: bool) {
    let is_kept = pressed.is_some_and(|id| browser::focus(&id)) || (is_elsewhere && browser::focus(FOLDER));
    if !is_kept && browser::has_no_focus() {
        browser::focus(PLACE);
    }
}

/// The query in an address of this page.
fn asked_by(address: &str) -> AnalyticsQuery {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    AnalyticsQuery::of(|name| browser::value_in(query, name))
}
