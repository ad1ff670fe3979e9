//! What came of a form, beside it.

use crate::model::settings::{Said, Told};
use crate::ui::components::icon;
use crate::ui::markup::{Markup, markup};

/// What is told about one of `forms`; nothing where it is about another.
pub fn about(told: Option<&Told>, forms: &[&str]) -> Markup {
    match told.filter(|told| forms.contains(&told.form)).map(|told| &told.outcome) {
        None => Markup::default(),
        Some(Err(why)) => notice("bad", "alert", icon::CROSS, why, &Markup::default()),
        Some(Ok(Said { sentence, secret })) => {
            let secret =
                secret.as_ref().map(|secret| markup(r#"<p><code class="secret">{}</code></p>"#, &[secret]));
            notice("ok", "status", icon::CHECK, sentence, &secret.unwrap_or_default())
        }
    }
}

pub(super) fn notice(tone: &str, role: &str, outline: &str, sentence: &str, more: &Markup) -> Markup {
    markup(
        r#"<div class="notice notice-{}" role="{}"><svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="{}"/></svg><div><p>{}</p>{}</div></div>"#,
        &[&tone, &role, &outline, &sentence, more],
    )
}
