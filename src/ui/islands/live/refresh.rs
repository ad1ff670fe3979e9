//! Regions of the page, brought up to date by what the server renders now. Elements that stay the same stay as they are, with the focus,
//! what is open, ticked and typed in them; islands that are new are hydrated. What is in an element with `data-keep` and an id is never
//! changed once it is there.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::js_sys::{Function, Reflect};
use leptos::web_sys::{Document, Element, HtmlElement, Node};

use super::forms::PROBLEM;
use super::{LiveState, ages};
use crate::ui::islands::browser;

const REGION: &str = "data-region";
/// Beside it: after how many seconds a region is refreshed again.
const EVERY: &str = "data-every";

/// On an element that keeps its content.
const KEEP: &str = "data-keep";

/// Why the page is refreshed, and with it which regions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// Time went by: those that ask for it.
    Time,
    /// The state of a job changed: all but those with `data-when="posted"`.
    Change,
    /// Somebody posted a form: all of them.
    Post,
}

impl Reason {
    const fn regions(self) -> &'static str {
        match self {
            Self::Time => "[data-region][data-every]",
            Self::Change => "[data-region]:not([data-when])",
            Self::Post => "[data-region]",
        }
    }
}

/// What the reader changes, and the server does not know of.
const OWN: [&str; 3] = ["open", "aria-busy", "data-hydrated"];

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Progress {
    #[default]
    Idle,
    Fetching,
    /// Something happened while the page was on its way: it is fetched again.
    Outdated(Reason),
}

/// The shortest time between two refreshes that a region of the page asks for, in seconds.
pub(super) fn interval() -> Option<u32> {
    let regions = elements(&document().into(), &format!("[{EVERY}]"));
    regions.iter().filter_map(|region| region.get_attribute(EVERY)?.parse().ok()).min()
}

/// Fetches the page and replaces its regions. One at a time; a page without regions is not fetched.
pub(super) fn refresh(live: LiveState, reason: Reason) {
    if elements(&document().into(), reason.regions()).is_empty() {
        return;
    }
    if live.refreshing.get_value() != Progress::Idle {
        // Time will come again.
        if reason != Reason::Time {
            live.refreshing.set_value(Progress::Outdated(reason));
        }
        return;
    }
    live.refreshing.set_value(Progress::Fetching);
    spawn_local(async move {
        // The last good content stays where none can be had.
        if let Ok(page) = browser::fetch_page(&browser::here()).await {
            live.trouble.set(None);
            replace(live, &page, reason);
        }
        let progress = live.refreshing.get_value();
        live.refreshing.set_value(Progress::Idle);
        if let Progress::Outdated(reason) = progress {
            refresh(live, reason);
        }
    });
}

/// What has the focus, and the keyed element around it.
struct Focus {
    element: HtmlElement,
    row: Option<Element>,
}

impl Focus {
    fn now() -> Option<Self> {
        let element = document().active_element().filter(|element| element.local_name() != "body")?;
        let row = element.closest("[data-key]").ok().flatten();
        Some(Self { element: element.dyn_into().ok()?, row })
    }

    /// Gives it back where it was lost: to the element itself, if that was only moved; else to what is marked with `data-focus` in its
    /// row; else to the page.
    fn keep(self) {
        if document().active_element().is_some_and(|element| element.local_name() != "body") {
            return;
        }
        if self.element.is_connected() {
            let _ = self.element.focus();
            return;
        }
        let row = self.row.filter(|row| row.is_connected());
        let next = match row.and_then(|row| row.query_selector("[data-focus]").ok().flatten()) {
            Some(next) => Some(next),
            None => document().get_element_by_id("content"),
        };
        if let Some(next) = next.and_then(|next| next.dyn_into::<HtmlElement>().ok()) {
            let _ = next.focus();
        }
    }
}

pub(super) fn replace(live: LiveState, page: &Document, reason: Reason) {
    let mut fresh = Vec::new();
    let focus = Focus::now();
    for region in elements(&document().into(), reason.regions()) {
        let name = region.get_attribute(REGION).unwrap_or_default();
        if let Ok(Some(now)) = page.query_selector(&format!("[{REGION}=\"{name}\"]")) {
            morph(&region, &now, &mut fresh);
        }
    }
    if let Some(focus) = focus {
        focus.keep();
    }
    ages::tick();
    let hydrate =
        Reflect::get(&window(), &"__hydrateIsland".into()).ok().and_then(|it| it.dyn_into::<Function>().ok());
    let Some(hydrate) = hydrate else { return };
    // As for the children of an island: what is hydrated now is no part of another island's view.
    live.owner.get_value().with(|| {
        Owner::with_no_hydration(move || {
            for island in fresh {
                let name = island.get_attribute("data-component").unwrap_or_default();
                let _ = hydrate.call2(&JsValue::NULL, &island, &name.into());
            }
        });
    });
}

/// Makes `old` what `new` is. Islands that were put in are added to `fresh`.
fn morph(old: &Element, new: &Element, fresh: &mut Vec<Element>) {
    let names = |element: &Element| {
        element.get_attribute_names().iter().filter_map(|name| name.as_string()).collect::<Vec<_>>()
    };
    for name in names(new).iter().filter(|name| !OWN.contains(&name.as_str())) {
        let value = new.get_attribute(name).unwrap_or_default();
        if old.get_attribute(name).as_ref() != Some(&value) {
            let _ = old.set_attribute(name, &value);
        }
    }
    for name in names(old).iter().filter(|name| !OWN.contains(&name.as_str()) && !new.has_attribute(name)) {
        let _ = old.remove_attribute(name);
    }
    morph_children(old, new, fresh);
}

fn morph_children(old: &Element, new: &Element, fresh: &mut Vec<Element>) {
    let mut at = rendered(old.first_child());
    let wanted = new.child_nodes();
    for wanted in (0..wanted.length()).filter_map(|index| wanted.item(index)) {
        match matching(at.clone(), &wanted) {
            Some(found) => {
                if at.as_ref() == Some(&found) {
                    at = rendered(found.next_sibling());
                } else {
                    let _ = old.insert_before(&found, at.as_ref());
                }
                match (found.dyn_ref::<Element>(), wanted.dyn_ref::<Element>()) {
                    (Some(found), Some(_)) if found.has_attribute(KEEP) => {}
                    (Some(found), Some(wanted)) if is_island(found) => {
                        // What it shows is its own; its children are the server's.
                        if let (Some(found), Some(wanted)) = (children(found), children(wanted)) {
                            morph_children(&found, &wanted, fresh);
                        }
                    }
                    (Some(found), Some(wanted)) => morph(found, wanted, fresh),
                    _ if found.node_value() != wanted.node_value() => {
                        found.set_node_value(wanted.node_value().as_deref());
                    }
                    _ => {}
                }
            }
            None => {
                let Ok(copy) = document().import_node_with_deep(&wanted, true) else { continue };
                let _ = old.insert_before(&copy, at.as_ref());
                if let Some(copy) = copy.dyn_ref::<Element>() {
                    if is_island(copy) {
                        fresh.push(copy.clone());
                    }
                    fresh.extend(elements(copy, "leptos-island"));
                }
            }
        }
    }
    while let Some(left) = at {
        at = rendered(left.next_sibling());
        let _ = old.remove_child(&left);
    }
}

/// What stands for `wanted` from `at` on: what has its id or is the very same island, or else the next of its kind that has no id.
fn matching(at: Option<Node>, wanted: &Node) -> Option<Node> {
    let wanted_key = key(wanted);
    let mut next = at;
    while let Some(node) = next {
        if node.node_name() == wanted.node_name() && key(&node) == wanted_key {
            return Some(node);
        }
        next = rendered(node.next_sibling());
    }
    None
}

/// The first from `node` on that the server rendered: not why a form was refused.
fn rendered(node: Option<Node>) -> Option<Node> {
    let mut next = node;
    while let Some(node) = next {
        if !node.dyn_ref::<Element>().is_some_and(|element| element.class_list().contains(PROBLEM)) {
            return Some(node);
        }
        next = node.next_sibling();
    }
    None
}

/// What tells an element from its neighbours: its id, or what an island is and shows.
fn key(node: &Node) -> Option<String> {
    let element = node.dyn_ref::<Element>()?;
    if is_island(element) {
        let props = element.get_attribute("data-props").unwrap_or_default();
        return Some(element.get_attribute("data-component").unwrap_or_default() + &props);
    }
    element.get_attribute("id").or_else(|| element.get_attribute("data-key"))
}

/// What an island was given by the server to show.
fn children(island: &Element) -> Option<Element> {
    island.query_selector("leptos-children").ok()?
}

fn is_island(element: &Element) -> bool {
    element.local_name() == "leptos-island"
}

fn elements(under: &Node, selector: &str) -> Vec<Element> {
    let found = match (under.dyn_ref::<Element>(), under.dyn_ref::<Document>()) {
        (Some(element), _) => element.query_selector_all(selector),
        (None, Some(document)) => document.query_selector_all(selector),
        (None, None) => return Vec::new(),
    };
    let Ok(found) = found else { return Vec::new() };
    (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect()
}
