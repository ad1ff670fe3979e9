//! The options of the command palette: `islands::palette` filters them. An option is a link or a button.

use leptos::prelude::*;

use crate::ui::components::badge::option_badge;
use model::job::JobBadge;
use model::palette::{Found, PaletteItem};

/// A link as an option, with its keyboard shortcut, if any. `id` is unique in the palette; `status` is a job's.
pub fn option(
    id: String,
    href: String,
    name: String,
    detail: String,
    status: Option<JobBadge>,
    keys: &'static str,
) -> impl IntoView + use<> {
    let badge = status.as_ref().map(|status| view! { {option_badge(status)} " · " });
    view! {
        <a id=id class="palette-option" role="option" tabindex="-1" aria-selected="false" href=href>
            <span class="palette-name" dir="auto">{name}</span>
            <span class="faint">{badge} {detail}</span>
            {self::keys(keys)}
        </a>
    }
}

/// The keys of a shortcut, separated by spaces.
pub fn keys(keys: &'static str) -> impl IntoView + use<> {
    let caps = keys.split(' ').filter(|key| !key.is_empty()).map(|key| view! { <kbd>{key}</kbd> });
    view! { <span class="keys">{caps.collect_view()}</span> }
}

/// A group of options.
pub fn group<O: IntoView>(name: &'static str, options: O) -> impl IntoView + use<O> {
    view! {
        <div role="group" aria-label=name>
            <p class="palette-group" aria-hidden="true">{name}</p>
            {options.into_view()}
        </div>
    }
}

/// The server's results.
pub fn found(found: Found) -> impl IntoView + use<> {
    view! { {found_group("Templates", "template", found.templates)} {found_group("Jobs", "job", found.jobs)} }
}

fn found_group(
    name: &'static str,
    kind: &'static str,
    items: Vec<PaletteItem>,
) -> Option<impl IntoView + use<>> {
    let options = items.into_iter().enumerate().map(move |(at, item)| {
        let PaletteItem { name, detail, href, status } = item;
        option(["palette-", kind, "-", &at.to_string()].concat(), href, name, detail, status, "")
    });
    let options: Vec<_> = options.collect();
    (!options.is_empty()).then(|| group(name, options))
}
