//! Many shapes as one type. The WebAssembly has code for each type of view, handler and effect, so the pages have few.

use std::sync::{Arc, LazyLock};

use leptos::prelude::*;

/// What [`IntoAny`] does, for what `view!` makes, and without its wrapper: that would be a second type for each element.
pub trait Erase {
    fn erase(self) -> AnyView;
}

impl<T: RenderHtml + Send> Erase for View<T> {
    fn erase(self) -> AnyView {
        self.into_inner().into_any()
    }
}

/// For `on:` attributes.
pub fn handler<E: 'static>(action: impl FnMut(E) + 'static) -> Box<dyn FnMut(E)> {
    Box::new(action)
}

/// What `content` gives, shown anew whenever what it reads has changed.
pub fn shown(content: impl Fn() -> AnyView + Send + Sync + 'static) -> AnyView {
    erased(Arc::new(content))
}

fn erased(content: Arc<dyn Fn() -> AnyView + Send + Sync>) -> AnyView {
    view! { {move || content()} }.into_any()
}

/// Whether effects run. A page is hydrated bit by bit while its pieces arrive, and takes what the server rendered for what it
/// would render itself: an effect that changed something meanwhile would be overlooked by all that is hydrated after it.
static EFFECTS_RUN: LazyLock<ArcRwSignal<bool>> = LazyLock::new(|| ArcRwSignal::new(false));

/// Lets effects run, those that wait first. To be called once the page is hydrated.
pub fn run_effects() {
    EFFECTS_RUN.set(true);
}

/// Runs `action` in the browser once the page is hydrated, and again whenever what it reads has changed.
pub fn effect(action: impl FnMut() + 'static) {
    let mut action: Box<dyn FnMut()> = Box::new(action);
    let action: Box<dyn FnMut()> = Box::new(move || {
        if EFFECTS_RUN.get() {
            action();
        }
    });
    Effect::new(action);
}
