//! Paging and sorting of the pages table in place: fetches the rows and renders them ([`pages_table`]). Every control is a link
//! that also works without JavaScript. Updates the URL. [`super::live::LiveState`] refreshes other parts that depend on the
//! URL. [`super::in_place`] handles changes that affect more than the rows.

use std::cell::Cell;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::web_sys::{Element, MouseEvent, SubmitEvent};

use crate::api::analytics::{GetTable, GetViews};
use crate::error::{AppError, ErrorCode};
use crate::model::analytics_query::AnalyticsQuery;
use crate::model::analytics_report::PagesTable;
use crate::model::day::Day;
use crate::model::links;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::pages_table::{self, About, HEADING, IN_PLACE, PLACE, Shown, pages_table};
use crate::ui::islands::live::LiveState;
use crate::ui::islands::{browser, morph, picked};

struct State {
    about: About,
    table: Element,
    is_busy: Cell<bool>,
    live: LiveState,
}

/// `children` are the table as the server rendered it for `days`. `site`: the URL of the published pages.
#[island]
pub fn PagedViews(
    project: String,
    days: (Day, Day),
    may_start: bool,
    site: Option<String>,
    children: Children,
) -> impl IntoView {
    if browser::IS_HERE
        && let (Some(live), Some(table)) = (LiveState::here(), browser::by_id(pages_table::ID))
    {
        if may_start {
            picked::start(&project);
        }
        let about = About { project, days, may_start, site };
        Rc::new(State { about, table, is_busy: Cell::new(false), live }).listen();
    }
    children()
}

impl State {
    fn listen(self: Rc<Self>) {
        let this = self.clone();
        browser::on(&self.table, "click", move |event: MouseEvent| this.clone().clicked(&event));
        let this = self.clone();
        browser::on(&self.table, "submit", move |event: SubmitEvent| this.clone().submitted(&event));
    }

    /// Opens another page or order of the table.
    fn clicked(self: Rc<Self>, event: &MouseEvent) {
        let link = browser::target(event, &["a.", IN_PLACE].concat()).filter(|_| browser::is_plain(event));
        let Some(link) = link else { return };
        event.prevent_default();
        let href = link.get_attribute("href").unwrap_or_default();
        if self.is_busy.get() && self.live.address() == href {
            return;
        }
        let before = asked_by(&self.live.address());
        self.live.go_to(&href);
        self.fetch_rows(before);
        if link.has_attribute("rel") {
            browser::scroll_to(HEADING);
        }
    }

    /// Makes the server fetch the figures from the upstream again, and shows them.
    fn submitted(self: Rc<Self>, event: &SubmitEvent) {
        let form = browser::submitted(event)
            .filter(|form| form.get_attribute("action").as_deref() == Some(GetViews::PATH));
        let Some(form) = form.filter(|_| !event.default_prevented()) else { return };
        let Some(fields) = browser::fields(&form, event) else { return };
        event.prevent_default();
        if self.is_busy.get() {
            return;
        }
        self.set_busy(true);
        spawn_local(async move {
            let answer = browser::post_raw(GetViews::PATH, &fields).await.answer;
            self.set_busy(false);
            match answer {
                Ok(_) => self.live.refresh_now(),
                Err(error) => self.fail(&error),
            }
        });
    }

    /// Shows the rows of the current URL.
    fn fetch_rows(self: Rc<Self>, before: AnalyticsQuery) {
        let (here, pressed) = (browser::here(), browser::focused());
        let query = asked_by(&here);
        self.set_busy(true);
        let fields = browser::fields_of(&[("project", &self.about.project), ("query", &query.address())]);
        spawn_local(async move {
            let answer = browser::post::<PagesTable>(GetTable::PATH, &fields).await.answer;
            // The URL changed again meanwhile.
            if browser::here() != here {
                return;
            }
            self.set_busy(false);
            match answer {
                Ok(table) => self.show(Shown { query, table }, pressed, &before),
                Err(error) if error.code == ErrorCode::Unauthenticated => browser::go(&links::login(&here)),
                Err(error) => self.fail(&error),
            }
        });
    }

    /// Shows the response. `pressed`: the id of the control that was used, if it has one.
    fn show(&self, shown: Shown, pressed: Option<String>, before: &AnalyticsQuery) {
        morph::show(pages_table::ID, || pages_table(&self.about, &shown));
        picked::apply();
        let is_focused = pressed.is_some_and(|id| browser::focus(&id));
        if !is_focused && browser::has_no_focus() {
            browser::focus(PLACE);
        }
        // Another page of the table changes nothing else.
        if shown.query.on_page(1) != before.on_page(1) {
            self.live.refresh();
        }
    }

    fn set_busy(&self, is_busy: bool) {
        self.is_busy.set(is_busy);
        browser::set(&self.table, "aria-busy", is_busy.then_some("true"));
    }

    /// Shows the error below the table.
    fn fail(&self, error: &AppError) {
        let href = browser::here();
        morph::show(pages_table::PROBLEM, || {
            let again = view! { <a class=format!("button {IN_PLACE}") href=href>"Try again"</a> };
            notice(Tone::Bad, view! { <p>{error.message.clone()}</p> {again} })
        });
    }
}

/// The query in a URL of this page.
pub(super) fn asked_by(address: &str) -> AnalyticsQuery {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    AnalyticsQuery::of(|name| browser::value_in(query, name))
}
