//! The tags of a page, found the way a browser finds them, so that a test sees what really is markup and what is text.

/// A start tag.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) name: String,
    /// Names in lower case, values with their references resolved.
    pub(crate) attributes: Vec<(String, String)>,
    /// What follows in an element that holds text only.
    pub(crate) raw_text: String,
}

/// Elements whose content is text up to their own end tag.
const RAW: [&str; 4] = ["script", "style", "textarea", "title"];

impl Tag {
    /// The value of an attribute; empty where there is none.
    pub(crate) fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }
}

/// Every start tag of a page, in order.
pub(crate) fn tags(page: &str) -> Vec<Tag> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            let end = if comment.starts_with('>') { Some(1) } else { comment.find("-->").map(|end| end + 3) };
            rest = end.map_or("", |end| &comment[end..]);
        } else if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let (mut tag, after) = tag(rest);
            rest = after;
            if RAW.contains(&tag.name.as_str()) {
                let end = rest.to_ascii_lowercase().find(&format!("</{}", tag.name)).unwrap_or(rest.len());
                tag.raw_text = rest[..end].to_owned();
                rest = &rest[end..];
            }
            found.push(tag);
        }
    }
    found
}

/// The tag whose name `text` begins with, and what follows it.
fn tag(text: &str) -> (Tag, &str) {
    let end = text.find(|c: char| c.is_ascii_whitespace() || "/>".contains(c)).unwrap_or(text.len());
    let mut tag =
        Tag { name: text[..end].to_ascii_lowercase(), attributes: Vec::new(), raw_text: String::new() };
    let mut rest = &text[end..];
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() || rest.starts_with('>') {
            return (tag, rest.get(1..).unwrap_or_default());
        }
        let end = rest[1..]
            .find(|c: char| c.is_ascii_whitespace() || "/>=".contains(c))
            .map_or(rest.len(), |end| end + 1);
        let name = rest[..end].to_ascii_lowercase();
        rest = rest[end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| "\"'".contains(*c));
            let (start, stop) = match quote {
                Some(quote) => (1, after[1..].find(quote).map_or(after.len(), |end| end + 1)),
                None => (0, after.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(after.len())),
            };
            value = &after[start..stop];
            rest = &after[(stop + start).min(after.len())..];
        }
        tag.attributes.push((name, resolved(value)));
    }
}

fn resolved(value: &str) -> String {
    let mut value = value.to_owned();
    for (reference, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&#x2F;", "/"),
        ("&amp;", "&"),
    ] {
        value = value.replace(reference, character);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::tags;

    #[test]
    fn tags_are_found_where_a_browser_finds_them() {
        let page = "<!DOCTYPE html><a href=\"x>y\" B=1 c>&lt;i><!--<u>--><textarea><s></textarea><P data-x='<q>'/>a < b";
        let found = tags(page);
        let names: Vec<&str> = found.iter().map(|tag| tag.name.as_str()).collect();
        assert_eq!(names, ["a", "textarea", "p"]);
        assert_eq!(
            (found[0].attribute("href"), found[0].attribute("b"), found[0].attributes.len()),
            ("x>y", "1", 3)
        );
        assert_eq!((found[1].raw_text.as_str(), found[2].attribute("data-x")), ("<s>", "<q>"));
    }

    #[test]
    fn text_that_breaks_out_is_seen() {
        let found =
            tags("<textarea>x</textarea><script>1</script><title></title><img src=x onerror=1></title>");
        let names: Vec<&str> = found.iter().map(|tag| tag.name.as_str()).collect();
        assert_eq!(names, ["textarea", "script", "title", "img"]);
        assert_eq!(found[3].attribute("onerror"), "1");
    }
}
