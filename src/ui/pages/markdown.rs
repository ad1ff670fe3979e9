//! Markdown (CommonMark with tables) as HTML. Raw HTML is shown as text, and images as their descriptions. Only links to web
//! pages, mail addresses and pages of Docket become links.

use std::fmt;

use leptos::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// The author of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A person: line breaks stay, headings are bold lines, and links lead to web pages and mail addresses only.
    Person,
    /// Docket: links lead to its pages as well.
    Docket,
}

/// Markdown as HTML.
pub(super) struct Formatted {
    pub(super) html: String,
    /// Whether the text looks different as Markdown.
    pub(super) has_markup: bool,
}

/// A text of Docket as HTML in an element of the class `markdown`.
pub(super) fn markdown(text: &str, origin: Origin) -> AnyView {
    let html = formatted(text, origin, usize::MAX).map(|formatted| formatted.html).unwrap_or_default();
    element(html)
}

/// An element with the HTML of [`formatted`].
pub(super) fn element(html: String) -> AnyView {
    view! { <div class="markdown" dir="auto" inner_html=html></div> }.into_any()
}

/// Whether the text looks different as Markdown.
pub(super) fn has_markup(text: &str) -> bool {
    !parsed(text).all(|event| is_plain(&event))
}

fn is_plain(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::Text(_) | Event::SoftBreak | Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph)
    )
}

fn parsed(text: &str) -> Parser<'_> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    Parser::new_ext(text, options)
}

/// The start of the element around a table.
const TABLE: &str = r#"<div class="wide" role="group" aria-label="Table" tabindex="0">"#;

/// The text as HTML; `None` if this would have more than `most` bytes. A table or nested quotes can be 77 times as long as
/// their source, so writing stops at the limit.
pub(super) fn formatted(text: &str, origin: Origin, most: usize) -> Option<Formatted> {
    let mut is_link = false;
    let mut has_markup = false;
    let safe = parsed(text).flat_map(|event| {
        has_markup |= !is_plain(&event);
        let (first, second) = match event {
            Event::Html(raw) | Event::InlineHtml(raw) => (Some(Event::Text(raw)), None),
            Event::Start(Tag::HtmlBlock) => (Some(Event::Start(Tag::Paragraph)), None),
            Event::End(TagEnd::HtmlBlock) => (Some(Event::End(TagEnd::Paragraph)), None),
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => (None, None),
            Event::Start(Tag::Link { ref dest_url, .. }) => {
                is_link = may_follow(dest_url, origin);
                (is_link.then_some(event), None)
            }
            // Links are never nested.
            Event::End(TagEnd::Link) => (is_link.then_some(event), None),
            // Wide ones scroll, so the keyboard has to reach them.
            Event::Start(Tag::CodeBlock(_)) => {
                (Some(Event::Html(r#"<pre tabindex="0"><code>"#.into())), None)
            }
            Event::End(TagEnd::CodeBlock) => (Some(Event::Html("</code></pre>\n".into())), None),
            Event::Start(Tag::Table(_)) => (Some(Event::Html(TABLE.into())), Some(event)),
            Event::End(TagEnd::Table) => (Some(event), Some(Event::Html("</div>\n".into()))),
            Event::SoftBreak if origin == Origin::Person => (Some(Event::HardBreak), None),
            Event::Start(Tag::Heading { .. }) if origin == Origin::Person => {
                (Some(Event::Start(Tag::Paragraph)), Some(Event::Start(Tag::Strong)))
            }
            Event::End(TagEnd::Heading(_)) if origin == Origin::Person => {
                (Some(Event::End(TagEnd::Strong)), Some(Event::End(TagEnd::Paragraph)))
            }
            event => (Some(event), None),
        };
        first.into_iter().chain(second)
    });
    let mut written = Bounded { html: String::with_capacity(most.min(text.len() * 2)), most };
    html::write_html_fmt(&mut written, safe).ok()?;
    Some(Formatted { html: written.html, has_markup })
}

/// HTML that refuses what would exceed its limit, which ends its writer.
struct Bounded {
    html: String,
    most: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if part.len() > self.most.saturating_sub(self.html.len()) {
            return Err(fmt::Error);
        }
        self.html.push_str(part);
        Ok(())
    }
}

fn may_follow(url: &str, origin: Origin) -> bool {
    let has_scheme =
        |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let is_of_docket = origin == Origin::Docket && url.starts_with(['/', '#']) && !url.starts_with("//");
    is_of_docket || ["https://", "http://", "mailto:"].into_iter().any(has_scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_html(text: &str, origin: Origin) -> String {
        formatted(text, origin, usize::MAX).map(|formatted| formatted.html).unwrap_or_default()
    }

    fn of_person(text: &str) -> String {
        to_html(text, Origin::Person)
    }

    #[test]
    fn html_stops_at_the_limit() {
        let text = "| a | b |\n| - | - |\n| 1 | 2 |";
        let whole = of_person(text);
        let within = |most| formatted(text, Origin::Person, most).map(|formatted| formatted.html);
        assert_eq!(within(whole.len()), Some(whole.clone()));
        assert_eq!(within(whole.len() - 1), None);
        let mut written = Bounded { html: String::new(), most: 100 };
        assert!(html::write_html_fmt(&mut written, parsed(&text.repeat(1_000))).is_err());
        assert!(written.html.len() <= 100);
    }

    #[test]
    fn raw_html_is_shown_as_text() {
        let html = of_person("<script>a()</script>\n\nA <b onclick=x>word</b> <!-- no -->");
        assert!(!html.contains("<script") && !html.contains("<b"), "{html}");
        assert!(
            html.contains("&lt;script&gt;a()&lt;/script&gt;") && html.contains("&lt;b onclick=x&gt;"),
            "{html}"
        );
    }

    #[test]
    fn only_safe_urls_become_links() {
        assert_eq!(
            of_person("[a](https://example.com/?a=1&b=2)"),
            "<p><a href=\"https://example.com/?a=1&amp;b=2\">a</a></p>\n"
        );
        for address in [
            "javascript:a()",
            "JaVaScRiPt:a()",
            "data:text/html,a",
            "//evil.example",
            "/p/docs",
            "#part",
            "vbscript:a",
            "\u{1}javascript:a",
        ] {
            assert!(!of_person(&format!("[a](<{address}>) ![b](<{address}>)")).contains("href"), "{address}");
            assert!(!of_person(&format!("<{address}>")).contains("href"), "{address}");
        }
        assert_eq!(to_html("[a](/help)", Origin::Docket), "<p><a href=\"/help\">a</a></p>\n");
        assert_eq!(to_html("[a](#job)", Origin::Docket), "<p><a href=\"#job\">a</a></p>\n");
        assert!(!to_html("[a](//evil.example)", Origin::Docket).contains("href"));
    }

    #[test]
    fn image_is_replaced_by_its_description() {
        assert_eq!(
            of_person("![A <b> chart](https://example.com/a.png \"t\")"),
            "<p>A &lt;b&gt; chart</p>\n"
        );
    }

    #[test]
    fn quotes_cannot_leave_an_attribute() {
        let html = of_person(
            "[a](https://example.com/\"onclick=\"b 'title\" onclick=c')\n\n```x\" onclick=\"y\ncode\n```",
        );
        assert!(!html.contains("\" onclick") && !html.contains("\"onclick"), "{html}");
    }

    #[test]
    fn keyboard_reaches_what_may_scroll() {
        let html = of_person("```sh\nls <a>\n```\n\n| a |\n| - |\n| 1 |");
        let Some((code, table)) = html.split_once(TABLE) else { panic!("there is no table: {html}") };
        assert_eq!(code, "<pre tabindex=\"0\"><code>ls &lt;a&gt;\n</code></pre>\n");
        assert!(table.starts_with("<table>") && table.ends_with("</table>\n</div>\n"), "{table}");
    }

    #[test]
    fn line_breaks_and_headings_of_people_stay_lines() {
        assert_eq!(of_person("# Title\none\ntwo"), "<p><strong>Title</strong></p>\n<p>one<br />\ntwo</p>\n");
        assert_eq!(to_html("# Title\none\ntwo", Origin::Docket), "<h1>Title</h1>\n<p>one\ntwo</p>\n");
    }

    #[test]
    fn only_texts_with_markup_look_different() {
        for text in ["Fix typos", "One\n\nTwo & three", ""] {
            assert!(!has_markup(text), "{text}");
            assert!(formatted(text, Origin::Person, 100).is_some_and(|it| !it.has_markup), "{text}");
        }
        for text in ["Fix `a`", "- one", "<b>", "**b**", "[a](https://example.com)", "    code"] {
            assert!(has_markup(text), "{text}");
            assert!(formatted(text, Origin::Person, 1_000).is_some_and(|it| it.has_markup), "{text}");
        }
    }
}
