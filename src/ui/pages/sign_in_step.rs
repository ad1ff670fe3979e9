//! The pages between the password and the panel, whole documents that the server draws: they have no scripts, so they weigh
//! nothing and work everywhere. Must not know the frame.

use leptos::config::LeptosOptions;
use leptos::server_fn::ServerFn;

use crate::api::session::EnterCode;
use crate::error::ErrorCode;
use crate::ui::components::icon;
use crate::ui::markup::{Markup, markup};

/// What every document needs.
pub struct Document<'a> {
    pub options: &'a LeptosOptions,
    /// `light` or `dark`, where the person chose one.
    pub theme: Option<&'static str>,
}

/// The form for the code. `problem`: why the last one was refused.
pub fn code(document: &Document, problem: Option<ErrorCode>) -> String {
    let problem = problem.map_or(Markup::default(), |code| alert(in_words(code)));
    let form = markup(
        r#"<h1>Enter your code</h1><p class="soft">Your password was right. Your authenticator shows six digits for Docket; if you do not have it, enter one of your recovery codes.</p>{}<form class="stack" method="post" action="{}"><label class="field-label" for="code">Code</label><input id="code" class="field" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="40" required autofocus><button class="button button-primary" type="submit">Sign in</button></form><p class="faint">Lost both? An administrator can reset your second factor. <a href="/login">Start again</a></p>"#,
        &[&problem, &EnterCode::PATH],
    );
    whole(document, "Enter your code", &form)
}

/// Why a sign-in came to nothing, and the way back.
pub fn refused(document: &Document, sentence: &str) -> String {
    let said = markup(
        r#"<h1>You are not signed in</h1>{}<a class="button" href="/login">Go to the sign-in page</a>"#,
        &[&alert(sentence)],
    );
    whole(document, "You are not signed in", &said)
}

fn alert(sentence: &str) -> Markup {
    markup(
        r#"<div class="notice notice-bad" role="alert"><svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="{}"/></svg><p>{}</p></div>"#,
        &[&icon::CROSS, &sentence],
    )
}

fn in_words(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::BadInput => "A code is needed.",
        ErrorCode::Unauthenticated => {
            "That code is not right, or it was used already. Wait for the next one and enter that."
        }
        ErrorCode::TooManyAttempts => "Too many tries. Wait a minute, then try again.",
        ErrorCode::DatabaseUnavailable => "Docket’s database did not answer. Please try again in a moment.",
        _ => "That did not work. Please try again in a moment.",
    }
}

fn whole(document: &Document, title: &str, content: &Markup) -> String {
    let stylesheet = format!("/{}/{}.css", document.options.site_pkg_dir, document.options.output_name);
    let theme = document.theme.map_or(Markup::default(), |theme| markup(r#" data-theme="{}""#, &[&theme]));
    markup(
        r#"<!DOCTYPE html><html lang="en"{}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><link rel="icon" href="/favicon.svg" type="image/svg+xml"><link rel="stylesheet" href="{}"><title>{} · Docket</title></head><body><main class="lone"><div class="card">{}</div></main></body></html>"#,
        &[&theme, &stylesheet, &title, content],
    )
    .into_html()
}
