//! The pages between the password and the session: whole documents without scripts, so that they work everywhere. Must
//! not use the frame.

use leptos::config::LeptosOptions;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::session::EnterCode;
use crate::ui::components::form::submit_button;
use crate::ui::components::icon::mark;
use crate::ui::components::notice::problem;

/// The data that every document needs.
pub struct Document<'a> {
    pub options: &'a LeptosOptions,
    /// `light` or `dark` if the person chose one.
    pub theme: Option<&'static str>,
}

/// The form for the code. `refused`: why the last code was refused.
pub fn code(document: &Document, refused: Option<String>) -> String {
    let content = move || {
        view! {
            <h1>"Enter your code"</h1>
            <p class="soft">
                "Enter the six-digit code from your authenticator app, or one of your recovery codes."
            </p>
            {problem(refused)}
            <form class="stack" method="post" action=EnterCode::PATH>
                <label class="field-label" for="code">"Code"</label>
                <input
                    id="code"
                    class="field"
                    name="code"
                    autocomplete="one-time-code"
                    autocapitalize="none"
                    spellcheck="false"
                    maxlength="40"
                    required
                    autofocus
                />
                {submit_button("Sign in")}
            </form>
            <p class="faint">
                "Lost both? An administrator can reset your second factor. " <a href="/login">"Start again"</a>
            </p>
        }
    };
    whole(document, "Enter your code", content)
}

/// Why signing in failed, with a link back.
pub fn refused(document: &Document, sentence: &str) -> String {
    let sentence = sentence.to_owned();
    let content = move || {
        view! {
            <h1>"You are not signed in"</h1>
            {problem(Some(sentence))}
            <a class="button" href="/login">"Go to the sign-in page"</a>
        }
    };
    whole(document, "You are not signed in", content)
}

fn whole<V: IntoView>(document: &Document, title: &'static str, content: impl FnOnce() -> V) -> String {
    let stylesheet = format!("/{}/{}.css", document.options.site_pkg_dir, document.options.output_name);
    // Views need an owner. Leptos provides one to the pages of the app, but not to a handler of the router.
    let html = Owner::new().with(|| {
        view! {
            <html lang="en" data-theme=document.theme>
                <head>
                    <meta charset="utf-8" />
                    <meta name="viewport" content="width=device-width, initial-scale=1" />
                    <meta name="color-scheme" content="light dark" />
                    <meta name="robots" content="noindex" />
                    <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                    <link rel="stylesheet" href=stylesheet />
                    <title>{title} " · Docket"</title>
                </head>
                <body>
                    <main class="lone">
                        <div class="card">{mark()} {content().into_view()}</div>
                    </main>
                </body>
            </html>
        }
        .to_html()
    });
    format!("<!DOCTYPE html>{html}")
}
