//! The HTML document around every page.

use leptos::nonce::use_nonce;
use leptos::prelude::*;

use crate::ui::look::Look;
use crate::ui::marks;

/// Starts the islands, each after those around it. Leptos's own script waits for an idle moment and then visits every element of the page.
/// `__hydrateIsland` is for the islands that a refresh inserts. Every page has it, so its comments are here.
const START: &str = include_str!("document/start.js");

/// Speculation rules: browsers prefetch the page of a link when the pointer rests on it. Exceptions are pages that may send a request to the
/// platform, the notifications, which a visit marks as seen, and pages of other projects, which a visit stores as the last project.
const PREFETCH: &str = include_str!("document/prefetch.json");

/// The script of the parts of the module that are loaded on demand, as cargo-leptos names it. That of the module imports it.
const SPLIT: &str = "__wasm_split.______________________.js";

/// A whole document. `head` follows the elements that every document has.
pub fn document<H: IntoView, B: IntoView>(
    options: &LeptosOptions,
    look: Look,
    head: H,
    body: B,
) -> impl IntoView + use<H, B> {
    let stylesheet = file_url(options, "css");
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=look.theme data-density=look.density data-no-shortcuts=look.no_shortcuts.then_some("")>
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name="robots" content="noindex" />
                <link id=marks::ICON.name() rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <link rel="stylesheet" href=stylesheet />
                {head}
            </head>
            <body>{body}</body>
        </html>
    }
}

/// The scripts of a page with islands. The page works without them. The first script is `async`: the browser loads and compiles the module while it parses
/// the page.
pub fn scripts(options: &LeptosOptions) -> impl IntoView + use<> {
    // As `HydrationScripts` does for islands: only islands are hydrated.
    if let Some(context) = Owner::current_shared_context() {
        context.set_is_hydrating(false);
    }
    let (script, module) = (file_url(options, "js"), file_url(options, "wasm"));
    let split = format!("/{}/{SPLIT}", options.site_pkg_dir);
    let nonce = use_nonce();
    view! {
        <link rel="modulepreload" href=script crossorigin=nonce.clone() />
        <link rel="modulepreload" href=split crossorigin=nonce.clone() />
        <link rel="preload" href=module r#as="fetch" r#type="application/wasm" crossorigin=nonce.clone() />
        <script type="module" r#async=true nonce=nonce.clone() inner_html=START></script>
        <script type="speculationrules" nonce=nonce inner_html=PREFETCH></script>
    }
}

fn file_url(options: &LeptosOptions, extension: &str) -> String {
    format!("/{}/{}.{extension}", options.site_pkg_dir, options.output_name)
}
