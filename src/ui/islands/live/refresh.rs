//! Replaces regions of the page with the server's current HTML, and hydrates new islands in them.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::js_sys::{Function, Reflect};
use leptos::web_sys::{Document, Element, Event, HtmlElement};

use super::{LiveState, ages, news};
use crate::ui::components::list_news::SHOW;
use crate::ui::islands::morph::morph;
use crate::ui::islands::{browser, localized, picked};
use model::links;

/// Why the page is refreshed; decides which regions are replaced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// The interval passed: regions with `data-every`.
    Time,
    /// Some job of the project changed: regions with `data-follows`.
    Project,
    /// A job on the page changed its state: also all regions but those with `data-when="posted"`.
    Change,
    /// A form was posted: all regions.
    Post,
}

impl Reason {
    const fn regions(self) -> &'static str {
        match self {
            Self::Time => "[data-region][data-every]",
            Self::Project => "[data-region][data-follows]",
            Self::Change => "[data-region]:not([data-when]), [data-region][data-follows]",
            Self::Post => "[data-region]",
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Progress {
    #[default]
    Idle,
    Fetching,
    /// There was another reason during the fetch: the page is fetched again.
    Outdated(Reason),
}

/// Refreshes everything when the user presses the button of the bar with new rows.
pub(super) fn listen(live: &LiveState) {
    let live = live.clone();
    browser::on_window("click", move |event: Event| {
        if browser::target(&event, &["[", SHOW, "]"].concat()).is_some() {
            refresh(&live, Reason::Post);
        }
    });
}

/// The shortest `data-every` on the page, in seconds.
pub(super) fn interval() -> Option<u32> {
    browser::all("[data-every]")
        .iter()
        .filter_map(|region| region.get_attribute("data-every")?.parse().ok())
        .min()
}

/// Fetches the page and replaces its regions, one fetch at a time. A page without regions is not fetched.
pub(super) fn refresh(live: &LiveState, reason: Reason) {
    if browser::find(reason.regions()).is_none() {
        return;
    }
    if live.refreshing.get() != Progress::Idle {
        let reason = match live.refreshing.get() {
            Progress::Outdated(other) => reason.max(other),
            _ => reason,
        };
        // The interval will pass again.
        if reason != Reason::Time {
            live.refreshing.set(Progress::Outdated(reason));
        }
        return;
    }
    live.refreshing.set(Progress::Fetching);
    let live = live.clone();
    spawn_local(async move {
        // After a failure the last content stays. A page whose URL was left is not shown.
        let url = browser::here();
        if let Ok(page) = browser::fetch_page(&url).await
            && url == browser::here()
        {
            live.connected();
            replace(&live, &page, reason);
        }
        let progress = live.refreshing.get();
        live.refreshing.set(Progress::Idle);
        if let Progress::Outdated(reason) = progress {
            refresh(&live, reason);
        }
    });
}

/// The focused element, and the keyed element around it.
struct Focus {
    element: HtmlElement,
    row: Option<Element>,
}

impl Focus {
    fn now() -> Option<Self> {
        let element = document().active_element().filter(|_| !browser::has_no_focus())?;
        let row = element.closest("[data-key]").ok().flatten();
        Some(Self { element: element.dyn_into().ok()?, row })
    }

    /// Restores a lost focus: to the element itself if it was only moved, else to the element with `data-focus` in its row,
    /// else to the page's content.
    fn restore(self) {
        if !browser::has_no_focus() {
            return;
        }
        if self.element.is_connected() {
            let _ = self.element.focus();
            return;
        }
        let row = self.row.filter(|row| row.is_connected());
        let next = row.and_then(|row| browser::find_in(&row, "[data-focus]"));
        if let Some(next) =
            next.or_else(|| browser::by_id("content")).and_then(|next| next.dyn_into::<HtmlElement>().ok())
        {
            let _ = next.focus();
        }
    }
}

pub(super) fn replace(live: &LiveState, page: &Document, reason: Reason) {
    let mut missing = Vec::new();
    change(live, |fresh| {
        for region in browser::all(reason.regions()) {
            let name = region.get_attribute("data-region").unwrap_or_default();
            if let Ok(Some(now)) = page.query_selector(&["[data-region=\"", &name, "\"]"].concat()) {
                if reason == Reason::Post || !news::waits(&region) {
                    morph(&region, &now, fresh);
                } else {
                    missing.extend(news::merge(&region, &now, fresh));
                }
            }
        }
    });
    if !missing.is_empty() {
        update(live.clone(), missing);
    }
}

/// Updates rows of the list that are no longer on its page.
fn update(live: LiveState, missing: Vec<Element>) {
    let last_changed = links::with_query(&links::jobs(live.project()), &[("sort", "changed")]);
    spawn_local(async move {
        // After a failure the last content stays.
        if let Ok(page) = browser::fetch_page(&last_changed).await {
            change(&live, |fresh| news::update(&missing, &page, fresh));
        }
    });
}

/// Changes elements of the page, and completes them: focus, times, days and numbers, chosen pages, and the islands that `morphs` adds to its argument.
fn change(live: &LiveState, morphs: impl FnOnce(&mut Vec<Element>)) {
    let mut fresh = Vec::new();
    let focus = Focus::now();
    morphs(&mut fresh);
    if let Some(focus) = focus {
        focus.restore();
    }
    ages::tick();
    localized::page();
    picked::apply();
    hydrate(live, fresh);
}

/// Starts islands that were inserted, as the start script of the page does: each inherits the context of the islands around it.
fn hydrate(live: &LiveState, fresh: Vec<Element>) {
    let Some(hydrate) = function(&window(), "__hydrateIsland") else { return };
    let mut inserted = live.inserted.borrow_mut();
    // Ends the signals of islands that were removed.
    inserted.retain(|(island, _)| island.is_connected());
    for island in fresh {
        let around = island.parent_element().and_then(|parent| parent.closest("leptos-children").ok()?);
        if let Some(enter) = around.and_then(|around| function(&around, "$$on_hydrate")) {
            let _ = enter.call0(&JsValue::NULL);
        }
        let owner = Owner::new();
        let (element, hydrate) = (island.clone(), hydrate.clone());
        owner.with(|| {
            Owner::with_no_hydration(move || {
                let name = element.get_attribute("data-component").unwrap_or_default();
                let _ = hydrate.call2(&JsValue::NULL, &element, &name.into());
            });
        });
        inserted.push((island, owner));
    }
}

fn function(of: &JsValue, name: &str) -> Option<Function> {
    Reflect::get(of, &name.into()).ok()?.dyn_into().ok()
}
