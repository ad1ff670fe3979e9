//! The table of pages with their bars, paged, sorted, searched and filed by folder in place: the browser asks for the rows and renders them.
//! Every control is a link or a GET form, which the server answers with a whole page where there is no JavaScript. The address is kept in
//! step, and the rest of the page follows it. Needs [`super::live::LiveState`] for that.

mod controls;
mod pager;
mod rows;

use leptos::ev::{self, MouseEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlFormElement};

use crate::api::analytics::{GetTable, GetViews};
use crate::error::{AppError, ErrorCode};
use crate::model::analytics_query::AnalyticsQuery;
use crate::model::analytics_report::{PagesTable, TableSource};
use crate::model::day::Day;
use crate::model::links;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;

/// Links of this class are followed in place.
const IN_PLACE: &str = "in-place";
/// The id of the heading, which is scrolled to when a page is turned.
const HEADING: &str = "table";
/// The id of the name of the open folder.
const FOLDER: &str = "folder";
/// The id of the search field.
const SEARCH: &str = "q";
/// The id of the words that say which rows are shown.
const PLACE: &str = "place";

/// What the table is about, whatever is paged and sorted.
#[derive(Clone)]
struct About {
    project: String,
    /// The first and the last day, both inclusive.
    days: (Day, Day),
    may_start: bool,
}

/// What is shown: the answer to `query`.
#[derive(Clone)]
struct Shown {
    query: AnalyticsQuery,
    table: PagesTable,
}

#[derive(Clone, Copy)]
struct State {
    about: StoredValue<About>,
    shown: RwSignal<Shown>,
    /// What was asked for last, and whether the answer is still to come.
    asked: StoredValue<AnalyticsQuery>,
    is_busy: RwSignal<bool>,
    problem: RwSignal<Option<AppError>>,
    live: Option<LiveState>,
}

/// `table` is the answer to `query`; `days` are those that it means.
#[island]
pub fn PagedViews(
    project: String,
    query: AnalyticsQuery,
    days: (Day, Day),
    may_start: bool,
    table: PagesTable,
) -> impl IntoView {
    let state = State {
        about: StoredValue::new(About { project, days, may_start }),
        asked: StoredValue::new(query.clone()),
        shown: RwSignal::new(Shown { query, table }),
        is_busy: RwSignal::new(false),
        problem: RwSignal::new(None),
        live: use_context(),
    };
    browser::on_window(ev::popstate, move |_| state.came_back());
    let content = move || state.about.with_value(|about| content(about, &state.shown.read()));
    view! {
        <section
            class="paged-views"
            aria-labelledby=HEADING
            aria-busy=move || state.is_busy.get().then_some("true")
            on:click=move |event| state.clicked(&event)
            on:submit=move |event| state.submitted(&event)
        >
            {content}
            <div>{move || state.problem.get().map(|error| state.failed(&error))}</div>
        </section>
    }
}

fn content(about: &About, shown: &Shown) -> AnyView {
    let empty = shown.table.rows.is_empty() && shown.query.page == 1;
    let table = match shown.table.source {
        TableSource::Daily { .. } if empty => controls::nothing_found(about, &shown.query),
        TableSource::Daily { .. } => rows::daily(about, shown),
        TableSource::Live { .. } => rows::live(about, shown),
    };
    view! {
        {controls::controls(about, shown)}
        {table}
        {pager::pager(about, shown)}
    }
    .into_any()
}

impl State {
    /// Follows a link of the table in place.
    fn clicked(self, event: &MouseEvent) {
        let plain = event.button() == 0
            && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key());
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let link = target.and_then(|target| target.closest(&format!("a.{IN_PLACE}")).ok().flatten());
        let Some(link) = link.filter(|_| plain && !event.default_prevented()) else { return };
        event.prevent_default();
        let href = link.get_attribute("href").unwrap_or_default();
        self.open(asked_by(&href), &href);
        if link.has_attribute("rel") {
            browser::scroll_to(HEADING);
        }
    }

    /// Searches, or asks the platform anew.
    fn submitted(self, event: &SubmitEvent) {
        let form = event.target().and_then(|target| target.dyn_into::<HtmlFormElement>().ok());
        let Some(form) = form.filter(|_| !event.default_prevented()) else { return };
        let Some(fields) = browser::fields(&form, event) else { return };
        event.prevent_default();
        if form.method() == "post" {
            return self.refresh(fields);
        }
        let query = asked_by(&format!("?{fields}"));
        let href = self.about.with_value(|about| query.href(&about.project));
        self.open(query, &href);
    }

    /// Has the figures asked for upstream again, and shows what came of it.
    fn refresh(self, fields: String) {
        if self.is_busy.get_untracked() {
            return;
        }
        self.is_busy.set(true);
        spawn_local(async move {
            match browser::post_raw(GetViews::PATH, &fields).await.answer {
                Ok(_) => {
                    self.ask(self.asked.get_value(), false);
                    if let Some(live) = self.live {
                        live.hurry();
                    }
                }
                Err(error) => {
                    self.is_busy.set(false);
                    self.problem.set(Some(error));
                }
            }
        });
    }

    fn open(self, query: AnalyticsQuery, href: &str) {
        if self.is_busy.get_untracked() && self.asked.with_value(|asked| *asked == query) {
            return;
        }
        if browser::here() != href {
            browser::push_address(href);
        }
        self.ask(query, true);
    }

    /// The address changed by itself: somebody went back, or forward.
    fn came_back(self) {
        let here = browser::here();
        let query = asked_by(&here);
        if query.path.is_some() {
            return browser::go(&here);
        }
        if self.asked.with_value(|asked| *asked != query) {
            self.ask(query, false);
        }
    }

    /// `is_pressed`: whether somebody pressed a control of the table, which keeps the focus.
    fn ask(self, query: AnalyticsQuery, is_pressed: bool) {
        let pressed = is_pressed.then(browser::focused);
        self.asked.set_value(query.clone());
        self.is_busy.set(true);
        let (project, address) = (self.about.with_value(|about| about.project.clone()), query.address());
        spawn_local(async move {
            let fields = browser::fields_of(&[("project", &project), ("query", &address)]);
            let answer = browser::post::<PagesTable>(GetTable::PATH, &fields).await.answer;
            // Something else was asked meanwhile.
            if self.asked.with_value(|asked| *asked != query) {
                return;
            }
            self.is_busy.set(false);
            match answer {
                Ok(table) => self.show(Shown { query, table }, pressed),
                Err(error) if error.code == ErrorCode::Unauthenticated => {
                    browser::go(&links::login(&browser::here()))
                }
                Err(error) => self.problem.set(Some(error)),
            }
        });
    }

    /// Shows the answer. `pressed` is the id of the control that it was asked for with, if it has one.
    fn show(self, shown: Shown, pressed: Option<Option<String>>) {
        let before = self.shown.with_untracked(|shown| shown.query.clone());
        let query = &shown.query;
        let (q, is_elsewhere) = (query.q.clone().unwrap_or_default(), query.folder != before.folder);
        let is_only_turned = query.on_page(1) == before.on_page(1);
        self.problem.set(None);
        self.shown.set(shown);
        let live = self.live;
        // After the page was changed.
        browser::after(0, move || {
            if before.q.unwrap_or_default() != q {
                browser::set_value(SEARCH, &q);
            }
            if let Some(pressed) = pressed {
                keep_focus(pressed, is_elsewhere);
            }
            if let Some(live) = live {
                live.tick();
                if !is_only_turned {
                    live.follow();
                }
            }
        });
    }

    fn failed(self, error: &AppError) -> AnyView {
        let href = self.about.with_value(|about| self.asked.with_value(|asked| asked.href(&about.project)));
        let again = view! { <a class=format!("button {IN_PLACE}") href=href>"Try again"</a> };
        notice(Tone::Bad, view! { <p>{error.message.clone()}</p> {again} })
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

/// What an address of this page asks for.
fn asked_by(address: &str) -> AnalyticsQuery {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    AnalyticsQuery::of(|name| browser::value_in(query, name))
}
