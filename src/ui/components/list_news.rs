//! The bar above a list with the number of new jobs and a button that shows them.

use leptos::prelude::*;

use crate::ui::charts::number::counted;
use crate::ui::marks::{NEWS, SHOW_NEWS};

/// The empty bar, which `islands::live` fills.
pub fn list_news() -> impl IntoView + use<> {
    view! { <div id=NEWS.name() class="list-news" role="status"></div> }
}

/// The content of the bar when `new` jobs are not on the page, or others left the list.
pub fn show_news(new: usize) -> impl IntoView + use<> {
    let text = match new {
        0 => "The list has changed".to_owned(),
        new => counted(new as u64, "new job", "new jobs"),
    };
    view! { <button id=SHOW_NEWS.name() type="button" class="button button-primary">{text} " · Show"</button> }
}
