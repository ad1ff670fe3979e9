//! HTML as text, for what is much and never changes by itself: the inside of charts, rows of tables, lists. One attribute to
//! the WebAssembly, where a tree of views would be code. Nothing else may put HTML together.

/// HTML of our own templates, with everything that filled them escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markup(String);

/// What fills a place of a template: text, which is escaped, or markup, which is taken as it is.
pub trait Piece {
    fn write(&self, html: &mut String);
}

/// `template` with the next of `pieces` in place of each `{}`, in content or between double quotes.
pub fn markup(template: &'static str, pieces: &[&dyn Piece]) -> Markup {
    let mut html = String::with_capacity(template.len() * 2);
    let mut parts = template.split("{}");
    html.push_str(parts.next().unwrap_or_default());
    let mut pieces = pieces.iter();
    for part in parts {
        if let Some(piece) = pieces.next() {
            piece.write(&mut html);
        }
        html.push_str(part);
    }
    Markup(html)
}

impl Markup {
    /// For `inner_html`.
    pub fn into_html(self) -> String {
        self.0
    }
}

impl Piece for Markup {
    fn write(&self, html: &mut String) {
        html.push_str(&self.0);
    }
}

impl Piece for &str {
    fn write(&self, html: &mut String) {
        for letter in self.chars() {
            match letter {
                '&' => html.push_str("&amp;"),
                '<' => html.push_str("&lt;"),
                '>' => html.push_str("&gt;"),
                '"' => html.push_str("&quot;"),
                letter => html.push(letter),
            }
        }
    }
}

impl Piece for String {
    fn write(&self, html: &mut String) {
        self.as_str().write(html);
    }
}

impl FromIterator<Markup> for Markup {
    fn from_iter<I: IntoIterator<Item = Markup>>(all: I) -> Self {
        let mut html = Self::default();
        all.into_iter().for_each(|one| html.0.push_str(&one.0));
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        let odd = "\"><script>alert(1)</script>&amp;";
        let html = markup(r#"<a href="{}">{}</a>"#, &[&odd, &odd.to_owned()]).into_html();
        let escaped = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;";
        assert_eq!(html, format!("<a href=\"{escaped}\">{escaped}</a>"));
    }

    #[test]
    fn markup_is_taken_as_it_is_and_braces_in_texts_fill_nothing() {
        let items: Markup = ["{}", "b"].iter().map(|item| markup("<li>{}</li>", &[item])).collect();
        let html = markup("<ul>{}</ul>{}", &[&items, &"c"]).into_html();
        assert_eq!(html, "<ul><li>{}</li><li>b</li></ul>c");
    }
}
