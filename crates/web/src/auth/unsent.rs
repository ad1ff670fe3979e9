//! A page with the text of a form that was refused because another person signed in. Nothing of it is stored: it belongs to neither of them here.

use std::fmt::Write;

use url::form_urlencoded;

/// The fields with texts that people write.
const TEXTS: [&str; 6] = ["prompt", "values", "text", "note", "name", "tag"];

/// `message`: why the form was refused. `back`: the path of its page. `body`: its url-encoded fields.
pub(super) fn page(message: &str, back: &str, body: &[u8]) -> String {
    let mut page = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\"><title>Not sent - Docket</title></head><body><main>\
         <h1>Not sent</h1><p>{}</p>",
        escaped(message)
    );
    let texts =
        form_urlencoded::parse(body).filter(|(name, text)| TEXTS.contains(&&**name) && !text.is_empty());
    for (index, (name, text)) in texts.enumerate() {
        if index == 0 {
            page.push_str("<p>Docket did not store what you wrote. Copy it before you leave this page:</p>");
        }
        // A line break after the tag is not part of the text.
        let _ = write!(
            page,
            "<p><label>{name}<br><textarea rows=\"6\" cols=\"60\" dir=\"auto\" readonly>\n{}</textarea></label></p>",
            escaped(&text)
        );
    }
    let _ = write!(page, "<p><a href=\"{}\">Back to the page</a></p></main></body></html>", escaped(back));
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_form_are_shown_and_escaped() {
        let page = page(
            "Another <person>",
            "/p/docs?a=1&b=\"2\"",
            b"prompt=%3C%2Ftextarea%3E%3Cb%3E&project=docs&note=&intent=x",
        );
        assert!(page.contains("<p>Another &lt;person&gt;</p>"), "{page}");
        assert!(page.contains(">\n&lt;/textarea&gt;&lt;b&gt;</textarea>"), "{page}");
        assert!(page.contains("href=\"/p/docs?a=1&amp;b=&quot;2&quot;\""), "{page}");
        assert!(!page.contains("docs</textarea>") && page.matches("<textarea").count() == 1, "{page}");
    }

    #[test]
    fn form_without_a_text_is_not_said_to_have_one() {
        assert!(!page("No", "/", b"project=docs").contains("Copy it"));
    }
}
