//! What the analytics page is asked for, as it stands in the address.

use leptos_router::params::ParamsMap;

use crate::model::history::Sort;
use crate::model::paging::PageLimit;
use crate::ui::charts::columns::Form;
use crate::ui::links;
use crate::ui::markup::{Markup, markup};

pub(super) const DEFAULT_SIZE: i64 = PageLimit::DEFAULT.get() as i64;

/// Days, sort and folder as typed: the server says what is wrong with them.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalyticsQuery {
    pub from: Option<String>,
    pub to: Option<String>,
    /// One page of the documentation, with a view of its own.
    pub path: Option<String>,
    /// What lies directly in a folder; all pages flat where there is none.
    pub folder: Option<String>,
    pub q: Option<String>,
    pub sort: Option<String>,
    pub form: Form,
    /// From 1.
    pub page: i64,
    pub limit: i64,
}

impl AnalyticsQuery {
    pub fn read(params: &ParamsMap) -> Self {
        let given = |name| params.get(name).filter(|value: &String| !value.trim().is_empty());
        let number = |name, default| given(name).and_then(|value| value.parse().ok()).unwrap_or(default);
        Self {
            from: given("from"),
            to: given("to"),
            path: given("path"),
            folder: given("folder"),
            q: given("q"),
            sort: given("sort"),
            form: if given("chart").as_deref() == Some("side") { Form::Side } else { Form::Stacked },
            // So many pages of so many rows still count as an offset.
            page: number("page", 1).clamp(1, 1_000_000_000),
            limit: number("limit", DEFAULT_SIZE),
        }
    }

    pub fn offset(&self) -> i64 {
        (self.page - 1).saturating_mul(self.limit.max(0))
    }

    /// What follows the question mark of the address.
    pub fn address(&self) -> String {
        self.href("").split_once('?').map(|(_, query)| query.to_owned()).unwrap_or_default()
    }

    pub(super) fn href(&self, project: &str) -> String {
        let fields = self.fields();
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        links::with_query(&links::analytics(project), &fields)
    }

    /// As hidden fields of a form that asks for the rest itself: without the names in `but`, from the first page.
    pub(super) fn hidden_fields(&self, but: &[&str]) -> Markup {
        let first = self.on_page(1).fields().into_iter();
        let kept = first.filter(|(name, value)| !value.is_empty() && !but.contains(name));
        kept.map(|(name, value)| markup(r#"<input type="hidden" name="{}" value="{}">"#, &[&name, &value]))
            .collect()
    }

    pub(super) fn on_page(&self, page: i64) -> Self {
        Self { page, ..self.clone() }
    }

    /// Over other days, from the first page; `None` is the default range. A page size that there is not is left behind.
    pub(super) fn over(&self, days: Option<(String, String)>) -> Self {
        let (from, to) = days.unzip();
        let limit =
            if (1..=i64::from(PageLimit::MAX)).contains(&self.limit) { self.limit } else { DEFAULT_SIZE };
        Self { from, to, page: 1, limit, ..self.clone() }
    }

    /// Names and values, empty where it is the default.
    fn fields(&self) -> [(&'static str, String); 9] {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let number =
            |value: i64, default: i64| if value == default { String::new() } else { value.to_string() };
        let chart = if self.form == Form::Side { "side" } else { "" };
        let sort = self.sort.clone().filter(|sort| sort != Sort::default().as_str());
        [
            ("from", text(&self.from)),
            ("to", text(&self.to)),
            ("path", text(&self.path)),
            ("folder", text(&self.folder)),
            ("q", text(&self.q)),
            ("sort", text(&sort)),
            ("chart", chart.to_owned()),
            ("page", number(self.page, 1)),
            ("limit", number(self.limit, DEFAULT_SIZE)),
        ]
    }
}

/// What those fields of an address ask for.
#[cfg(test)]
pub(super) fn query(fields: &[(&'static str, &str)]) -> AnalyticsQuery {
    let mut params = ParamsMap::new();
    for (name, value) in fields {
        params.insert(*name, (*value).to_owned());
    }
    AnalyticsQuery::read(&params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_stay_out_of_the_address() {
        assert_eq!(query(&[]).href("docs"), "/p/docs/analytics");
        let defaults = [("page", "1"), ("limit", "50"), ("sort", "total"), ("chart", "stacked"), ("q", " ")];
        assert_eq!(query(&defaults).href("docs"), "/p/docs/analytics");
        assert_eq!(
            query(&[("page", "3"), ("limit", "25")]).href("docs"),
            "/p/docs/analytics?page=3&limit=25"
        );
    }

    #[test]
    fn everything_else_stands_in_the_address() {
        let address =
            "?from=2026-11-01&to=2026-11-21&path=/a&folder=/b&q=c%20d&sort=-share&chart=side&page=2&limit=25";
        let fields = [
            ("from", "2026-11-01"),
            ("to", "2026-11-21"),
            ("path", "/a"),
            ("folder", "/b"),
            ("q", "c d"),
            ("sort", "-share"),
            ("chart", "side"),
            ("page", "2"),
            ("limit", "25"),
        ];
        assert_eq!(query(&fields).href("docs"), format!("/p/docs/analytics{address}"));
    }

    #[test]
    fn pages_are_turned_by_the_page_size() {
        assert_eq!(query(&[("page", "3"), ("limit", "25")]).offset(), 50);
        assert_eq!(query(&[("page", "-7"), ("limit", "x")]).offset(), 0);
        assert!(query(&[("page", "9999999999"), ("limit", "250")]).offset() > 0);
    }

    #[test]
    fn other_days_begin_on_the_first_page() {
        let days = ("2026-11-01".to_owned(), "2026-11-21".to_owned());
        let href = query(&[("page", "3"), ("limit", "25")]).over(Some(days)).href("docs");
        assert_eq!(href, "/p/docs/analytics?from=2026-11-01&to=2026-11-21&limit=25");
        for limit in ["0", "251", "-1"] {
            assert_eq!(query(&[("limit", limit)]).over(None).href("docs"), "/p/docs/analytics");
        }
    }

    #[test]
    fn a_form_keeps_what_it_does_not_ask() {
        let table = query(&[("q", "a\"b"), ("from", "2026-11-01"), ("page", "2")]);
        let html = table.hidden_fields(&["from", "to"]).into_html();
        assert_eq!(html, r#"<input type="hidden" name="q" value="a&quot;b">"#);
    }
}
