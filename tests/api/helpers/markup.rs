//! The tags of a page, found by a parser that reads HTML as browsers do, so that tests can distinguish markup from text.

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// An element.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) name: String,
    /// Names in lower case, values with their references resolved.
    pub(crate) attributes: Vec<(String, String)>,
    /// The text directly in the element.
    pub(crate) text: String,
}

impl Tag {
    /// The value of an attribute; empty without one.
    pub(crate) fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }
}

/// Every element of a page, in order.
pub(crate) fn tags(page: &str) -> Vec<Tag> {
    let parsed = parse_document(RcDom::default(), ParseOpts::default()).one(page);
    let mut found = Vec::new();
    collect(&parsed.document, &mut found);
    found
}

/// The tags of a page's content, without its navigation and dialogs.
pub(crate) fn content_tags(page: &str) -> Vec<Tag> {
    let parsed = parse_document(RcDom::default(), ParseOpts::default()).one(page);
    let mut found = Vec::new();
    elements(&parsed.document, &["main"]).iter().for_each(|content| collect(content, &mut found));
    found
}

/// The texts of the cells of each row in the body of the first table with these classes.
pub(crate) fn table_rows(page: &str, classes: &str) -> Vec<Vec<String>> {
    let parsed = parse_document(RcDom::default(), ParseOpts::default()).one(page);
    let tables = elements(&parsed.document, &["table"]);
    let table = tables.into_iter().find(|table| attribute(table, "class").as_deref() == Some(classes));
    let table = table.unwrap_or_else(|| panic!("no table with the classes {classes} in {page}"));
    let bodies = elements(&table, &["tbody"]);
    let rows = bodies.iter().flat_map(|body| elements(body, &["tr"]));
    rows.map(|row| elements(&row, &["th", "td"]).iter().map(whole_text_of).collect()).collect()
}

/// The texts of the figures of a page: views, people, AI and the share of AI, each with its change if there is one.
pub(crate) fn figures(page: &str) -> Vec<String> {
    let parsed = parse_document(RcDom::default(), ParseOpts::default()).one(page);
    let lists = elements(&parsed.document, &["dl"]);
    let list = lists.into_iter().find(|list| attribute(list, "class").as_deref() == Some("figures"));
    let list = list.unwrap_or_else(|| panic!("no figures in {page}"));
    elements(&list, &["dd"]).iter().map(whole_text_of).collect()
}

/// The texts of the paragraphs with these classes, one a line.
pub(crate) fn paragraphs(page: &str, classes: &str) -> String {
    let parsed = parse_document(RcDom::default(), ParseOpts::default()).one(page);
    let paragraphs = elements(&parsed.document, &["p"]);
    let found = paragraphs.iter().filter(|found| attribute(found, "class").as_deref() == Some(classes));
    found.map(whole_text_of).collect::<Vec<_>>().join("\n")
}

/// The elements with these names below a node, in order.
fn elements(node: &Handle, names: &[&str]) -> Vec<Handle> {
    let mut found = Vec::new();
    for child in node.children.borrow().iter() {
        if let NodeData::Element { name, .. } = &child.data
            && names.contains(&&*name.local)
        {
            found.push(child.clone());
        }
        found.extend(elements(child, names));
    }
    found
}

fn attribute(node: &Handle, name: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    attrs.borrow().iter().find(|found| &*found.name.local == name).map(|found| found.value.to_string())
}

/// The text of a node and of all nodes below it.
fn whole_text_of(node: &Handle) -> String {
    let below = node.children.borrow();
    let text: String = below.iter().map(|child| text_of(child) + &whole_text_of(child)).collect();
    text.trim().to_owned()
}

fn collect(node: &Handle, found: &mut Vec<Tag>) {
    if let NodeData::Element { name, attrs, .. } = &node.data {
        let attributes =
            attrs.borrow().iter().map(|a| (a.name.local.to_string(), a.value.to_string())).collect();
        let text = node.children.borrow().iter().map(text_of).collect();
        found.push(Tag { name: name.local.to_string(), attributes, text });
    }
    for child in node.children.borrow().iter() {
        collect(child, found);
    }
}

fn text_of(node: &Handle) -> String {
    match &node.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::tags;

    #[test]
    fn parser_detects_injected_markup() {
        let page = "<!DOCTYPE html><title></title><img src=x ONERROR=1></title><textarea><s></textarea><script>1</script>";
        let found = tags(page);
        let names: Vec<&str> = found.iter().map(|tag| tag.name.as_str()).collect();
        assert_eq!(names, ["html", "head", "title", "body", "img", "textarea", "script"]);
        assert_eq!((found[4].attribute("onerror"), found[5].text.as_str()), ("1", "<s>"));
    }
}
