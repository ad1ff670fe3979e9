//! Plain HTML forms that post to a server function; `islands::live::forms` posts them without leaving the page.

use leptos::prelude::*;

use model::headers::PERSON_FIELD;

/// Names and values of hidden fields.
pub type Hidden = Vec<(&'static str, String)>;

/// The id of the signed-in person's account. The router provides it; no endpoint returns it.
#[derive(Clone)]
pub struct PersonId(pub String);

/// The hidden field with the person that this page is made for: every form that posts needs it. The server refuses the form once another person has
/// signed in in this browser.
pub fn of_person() -> impl IntoView {
    // What islands render is posted with the header instead.
    let person = if cfg!(feature = "ssr") { use_context::<PersonId>() } else { None };
    person.map(|PersonId(id)| view! { <input type="hidden" name=PERSON_FIELD value=id autocomplete="off" /> })
}

/// A form with `content` that posts to `action`, with the `hidden` fields.
pub fn post_form<C: IntoView>(
    class: &'static str,
    action: &'static str,
    hidden: Hidden,
    content: C,
) -> impl IntoView + use<C> {
    view! { <form class=class method="post" action=action>{hidden_fields(hidden)} {content.into_view()}</form> }
}

pub(super) fn hidden_fields(hidden: Hidden) -> impl IntoView {
    let fields = hidden
        .into_iter()
        .map(|(name, value)| view! { <input type="hidden" name=name value=value autocomplete="off" /> });
    view! { {of_person()} {fields.collect_view()} }
}

/// A button that opens `content` to confirm an action. Works without JavaScript.
pub fn confirm(name: &'static str, content: impl IntoView) -> AnyView {
    view! { <details class="confirm"><summary class="button">{name}</summary> {content.into_view()}</details> }.into_any()
}

/// The valid characters of a username, for the `pattern` of a field. `base::username` has the same rule.
pub const USERNAME_PATTERN: &str = r"[\p{L}\p{M}\p{N}._@+\-]+";

/// The rule as text. Browsers show it at the field.
pub const USERNAME_RULE: &str = "Letters, digits and . _ - @ +, without spaces. For example, jane.doe.";

/// The rule for passwords as text, which is beside each field for a new one. `service::auth::password` checks it.
const PASSWORD_RULE: &str = "At least 12 characters. Not a common password, a repetition or your username. A few unrelated words work well.";

/// The field for a new password, with the rule and, after it, `more`.
pub fn new_password_field(name: &'static str, label: &'static str, more: &'static str) -> AnyView {
    let hint = [name, "-hint"].concat();
    view! {
        <label class="field-label" for=name>{label}</label>
        <input
            id=name
            class="field"
            type="password"
            name=name
            autocomplete="new-password"
            minlength="12"
            required
            aria-describedby=hint.clone()
        />
        <p class="hint" id=hint>{PASSWORD_RULE} {more}</p>
    }
    .into_any()
}

/// The primary submit button of a form.
pub fn submit_button<N: IntoView>(name: N) -> impl IntoView + use<N> {
    view! { <button type="submit" class="button button-primary">{name.into_view()}</button> }
}

/// The field for a code of an authenticator, or for a recovery code.
pub struct CodeField {
    pub id: String,
    pub label: &'static str,
    pub required: bool,
    pub autofocus: bool,
    /// Shown below the field, which it describes.
    pub hint: Option<AnyView>,
}

impl CodeField {
    /// A required field without a hint.
    pub fn new(id: impl Into<String>, label: &'static str) -> Self {
        Self { id: id.into(), label, required: true, autofocus: false, hint: None }
    }
}

pub fn code_field(CodeField { id, label, required, autofocus, hint }: CodeField) -> AnyView {
    let hint_id = format!("{id}-hint");
    let described_by = hint.is_some().then(|| hint_id.clone());
    view! {
        <label class="field-label" for=id.clone()>{label}</label>
        <input
            id=id
            class="field"
            name="code"
            autocomplete="one-time-code"
            autocapitalize="none"
            spellcheck="false"
            maxlength="40"
            required=required
            autofocus=autofocus
            aria-describedby=described_by
        />
        {hint.map(|hint| view! { <p class="hint" id=hint_id>{hint}</p> })}
    }
    .into_any()
}

/// The field for the platform's id of a job.
pub fn id_field(value: String) -> AnyView {
    view! {
        <label class="id-field">
            <span class="field-label">"Id of the job on the platform"</span>
            <input class="field" name="remote_id" value=value required maxlength="200" autocomplete="off" spellcheck="false" />
        </label>
    }
    .into_any()
}

/// Escapes `text` as the content of a textarea: Leptos does not escape `inner_html`. In parsed HTML, browsers drop a
/// newline after the start tag, so the server adds one.
pub fn as_content(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    if cfg!(feature = "ssr") { format!("\n{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_a_textarea_is_escaped() {
        let content = as_content("a</textarea><script>alert(1)</script>&amp;");
        assert!(!content.contains('<'), "{content}");
        assert!(content.ends_with("&amp;amp;"), "{content}");
    }
}
