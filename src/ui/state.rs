//! What is shared between the pieces of a page and changes while it is open: typed contexts, each with its own file.
//! Must not render anything but the document's title.

pub mod address;
pub mod asked;
pub mod badges;
pub mod browser;
pub mod budget;
pub mod clock;
pub mod drafts;
pub mod filing;
pub mod kept;
pub mod limits;
pub mod live;
pub mod notices;
pub mod outcome;
pub mod post;
pub mod project;
pub mod response;
pub mod session;
pub mod title;
pub mod toasts;

use crate::ui::erase::run_effects;

/// Provides what every page may ask for. Once, at the root, on the server and in the browser alike.
pub fn provide() {
    clock::provide();
    title::provide();
    toasts::provide();
    badges::provide();
    notices::provide();
}

/// Makes the hydrated page interactive, and tells tests and styles when it is.
pub async fn become_interactive() {
    run_effects();
    leptos::task::tick().await;
    browser::set_on_document("data-hydrated", "true");
}
