//! Many shapes as one type. The WebAssembly has code for each type of view, handler and effect, so the pages have few.

use std::sync::Arc;

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

/// Runs `action` in the browser, and again whenever what it reads has changed.
pub fn effect(action: impl FnMut() + 'static) {
    let action: Box<dyn FnMut()> = Box::new(action);
    Effect::new(action);
}
