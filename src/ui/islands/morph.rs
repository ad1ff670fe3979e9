//! Scripts the DOM: updates elements in place to match the HTML that the server ([`morph`]) or the browser ([`show`]) rendered. Unchanged
//! elements stay, with their focus, open and checked state and typed text. The content of an element with `data-keep` and an id
//! is never changed.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Node};

use crate::ui::islands::{browser, localized};

/// Attribute of an element whose content is never changed.
const PRESERVED: &str = "data-keep";

/// The class of the error above a form. Morphing leaves it in place.
pub const PROBLEM: &str = "form-problem";

/// Attributes that only the browser sets.
const OWN: [&str; 3] = ["open", "aria-busy", "data-hydrated"];

/// Renders `view` into the element with this id. The view must contain no islands and no listeners.
pub fn show<V: IntoView>(id: &str, view: impl FnOnce() -> V) {
    if let Some(element) = browser::by_id(id) {
        show_in(&element, view);
    }
}

/// As [`show`], for an element.
pub fn show_in<V: IntoView>(element: &Element, view: impl FnOnce() -> V) {
    rendered(view, |now| morph_children(element, now, &mut Vec::new()));
    localized::within(element);
}

/// Renders `view` into a detached element and passes it to `action`.
pub fn rendered<V: IntoView>(view: impl FnOnce() -> V, action: impl FnOnce(&Element)) {
    let Ok(outside) = document().create_element("div") else { return };
    let owner = Owner::new();
    owner.with(|| {
        let mut state = view().build();
        state.mount(&outside, None);
        action(&outside);
    });
    owner.cleanup();
}

/// Morphs `old` into `new`. Inserted islands are added to `fresh`.
pub fn morph(old: &Element, new: &Element, fresh: &mut Vec<Element>) {
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
    let mut at = of_page(old.first_child());
    let wanted = new.child_nodes();
    for wanted in (0..wanted.length()).filter_map(|index| wanted.item(index)) {
        match matching(at.clone(), &wanted) {
            Some(found) => {
                if at.as_ref() == Some(&found) {
                    at = of_page(found.next_sibling());
                } else {
                    let _ = old.insert_before(&found, at.as_ref());
                }
                match (found.dyn_ref::<Element>(), wanted.dyn_ref::<Element>()) {
                    (Some(found), Some(_)) if found.has_attribute(PRESERVED) => {}
                    (Some(found), Some(wanted)) if is_island(found) => {
                        // The island owns its element; its children come from the server.
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
                    fresh.extend(browser::all_in(copy, "leptos-island"));
                }
            }
        }
    }
    while let Some(left) = at {
        at = of_page(left.next_sibling());
        let _ = old.remove_child(&left);
    }
}

/// The first node from `at` on with the same name and key as `wanted`: the counterpart of `wanted`.
fn matching(at: Option<Node>, wanted: &Node) -> Option<Node> {
    let wanted_key = key(wanted);
    let mut next = at;
    while let Some(node) = next {
        if node.node_name() == wanted.node_name() && key(&node) == wanted_key {
            return Some(node);
        }
        next = of_page(node.next_sibling());
    }
    None
}

/// The first node from `node` on that is not an error above a form.
fn of_page(node: Option<Node>) -> Option<Node> {
    let mut next = node;
    while let Some(node) = next {
        if !node.dyn_ref::<Element>().is_some_and(|element| element.class_list().contains(PROBLEM)) {
            return Some(node);
        }
        next = node.next_sibling();
    }
    None
}

/// Identifies an element among its siblings: its id or `data-key`, or an island's component and props.
fn key(node: &Node) -> Option<String> {
    let element = node.dyn_ref::<Element>()?;
    if is_island(element) {
        let props = element.get_attribute("data-props").unwrap_or_default();
        return Some(element.get_attribute("data-component").unwrap_or_default() + &props);
    }
    element.get_attribute("id").or_else(|| element.get_attribute("data-key"))
}

/// The children that the server rendered for an island.
fn children(island: &Element) -> Option<Element> {
    island.query_selector("leptos-children").ok()?
}

fn is_island(element: &Element) -> bool {
    element.local_name() == "leptos-island"
}
