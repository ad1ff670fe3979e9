//! A strip over the page while it cannot be kept true by itself.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::state::live::{Live, explain};

pub(super) fn strip(live: Live) -> AnyView {
    let notice = move || {
        live.trouble().map(|error| {
            let (text, sign_in) = explain(&error);
            // A whole new page: it comes back here after signing in.
            let link = sign_in.then(|| view! { <a href="" rel="external">"Sign in again"</a> });
            view! {
                <div class="notice notice-warn">
                    {icon(icon::QUESTION)}
                    <p>{text} " " {link}</p>
                </div>
            }
        })
    };
    view! { <div role="status">{notice}</div> }.into_any()
}
