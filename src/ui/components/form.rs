//! Plain HTML forms that post to a server function; `islands::live::forms` posts them without leaving the page.

use leptos::prelude::*;

/// Names and values of hidden fields.
pub type Hidden = Vec<(&'static str, String)>;

/// A form with `content` that posts to `action`, with the `hidden` fields.
pub fn post_form<C: IntoView>(
    class: &'static str,
    action: &'static str,
    hidden: Hidden,
    content: C,
) -> impl IntoView + use<C> {
    let hidden = hidden
        .into_iter()
        .map(|(name, value)| view! { <input type="hidden" name=name value=value autocomplete="off" /> });
    view! { <form class=class method="post" action=action>{hidden.collect_view()} {content.into_view()}</form> }
}

/// A button that opens `content` to confirm an action. Works without JavaScript.
pub fn confirm(name: &'static str, content: impl IntoView) -> AnyView {
    view! { <details class="confirm"><summary class="button">{name}</summary> {content.into_view()}</details> }.into_any()
}

/// The valid characters of a username, for the `pattern` of a field. `server::auth::username` has the same rule.
pub const USERNAME_PATTERN: &str = r"[\p{L}\p{M}\p{N}._@+\-]+";

/// The rule as text. Browsers show it at the field.
pub const USERNAME_RULE: &str = "Letters, digits and . _ - @ +, without spaces. For example, jane.doe.";

/// The primary submit button of a form.
pub fn submit_button<N: IntoView>(name: N) -> impl IntoView + use<N> {
    view! { <button type="submit" class="button button-primary">{name.into_view()}</button> }
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
