//! Forms that post to a server function. Plain HTML: `islands::live::forms` posts them without leaving the page where there is JavaScript.

use leptos::prelude::*;

/// Names and values of hidden fields.
pub type Hidden = Vec<(&'static str, String)>;

/// `content` in a form that posts `hidden` along with it to `action`.
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

/// A button that shows `content`: what it would do is said before it is done. Works without JavaScript.
pub fn confirm(name: &'static str, content: impl IntoView) -> AnyView {
    view! { <details class="confirm"><summary class="button">{name}</summary> {content.into_view()}</details> }.into_any()
}

/// The button that sends a form.
pub fn submit_button<N: IntoView>(name: N) -> impl IntoView + use<N> {
    view! { <button type="submit" class="button button-primary">{name.into_view()}</button> }
}

/// Where the platform's own id of a job is typed.
pub fn id_field(value: String) -> AnyView {
    view! {
        <label class="id-field">
            <span class="field-label">"Id of the job on the platform"</span>
            <input class="field" name="remote_id" value=value required maxlength="200" autocomplete="off" spellcheck="false" />
        </label>
    }
    .into_any()
}

/// `text` as the content of a text area. Leptos does not escape what is between the tags, and a browser drops a line
/// end that follows the start tag in a page (but not one set by a script).
pub fn as_content(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    if cfg!(feature = "ssr") { format!("\n{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_box() {
        let content = as_content("a</textarea><script>alert(1)</script>&amp;");
        assert!(!content.contains('<'), "{content}");
        assert!(content.ends_with("&amp;amp;"), "{content}");
    }
}
