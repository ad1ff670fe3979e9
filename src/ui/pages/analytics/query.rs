//! What the analytics page is asked for, as it stands in the address.

use leptos_router::params::ParamsMap;

use crate::model::history::{Order, Sort};
use crate::model::paging::PageLimit;
use crate::ui::charts::columns::Form;
use crate::ui::links;
use crate::ui::markup::{Markup, markup};

/// The page sizes that are offered.
pub(super) const SIZES: [i64; 4] = [25, 50, 100, 250];
const DEFAULT_SIZE: i64 = PageLimit::DEFAULT.get() as i64;

/// Days, sort and folder as typed: the server says what is wrong with them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnalyticsQuery {
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    /// One page of the documentation, with a view of its own.
    pub(super) path: Option<String>,
    /// What lies directly in a folder; all pages flat where there is none.
    pub(super) folder: Option<String>,
    pub(super) q: Option<String>,
    pub(super) sort: Option<String>,
    pub(super) form: Form,
    /// From 1.
    pub(super) page: i64,
    pub(super) limit: i64,
}

impl AnalyticsQuery {
    pub(super) fn read(params: &ParamsMap) -> Self {
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

    pub(super) fn offset(&self) -> i64 {
        (self.page - 1).saturating_mul(self.limit.max(0))
    }

    pub(super) fn order(&self) -> Order {
        self.sort.as_deref().and_then(|sort| sort.parse().ok()).unwrap_or_default()
    }

    pub(super) fn href(&self, project: &str) -> String {
        let fields = self.fields();
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        links::with_query(&links::analytics(project), &fields)
    }

    /// Whether what changed most is shown: on the first page of everything.
    pub(super) fn has_movers(&self) -> bool {
        self.page == 1 && self.q.is_none() && self.folder.as_deref().is_none_or(|folder| folder == "/")
    }

    /// The same rows in a file.
    pub(super) fn export_href(&self, project: &str, kind: &str) -> String {
        let whole = Self { page: 1, limit: DEFAULT_SIZE, form: Form::Stacked, path: None, ..self.clone() };
        let href = whole.href(project);
        let (page, query) = href.split_once('?').unwrap_or((&href, ""));
        format!("{page}/export.{kind}{}{query}", if query.is_empty() { "" } else { "?" })
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

    /// With another page size, from the first page.
    pub(super) fn sized(&self, limit: i64) -> Self {
        Self { limit, page: 1, ..self.clone() }
    }

    /// Over other days, from the first page; `None` is the default range. A page size that there is not is left behind.
    pub(super) fn over(&self, days: Option<(String, String)>) -> Self {
        let (from, to) = days.unzip();
        let limit =
            if (1..=i64::from(PageLimit::MAX)).contains(&self.limit) { self.limit } else { DEFAULT_SIZE };
        Self { from, to, page: 1, limit, ..self.clone() }
    }

    /// Sorted by a column; by the one it is sorted by already, the other way round.
    pub(super) fn sorted(&self, by: Sort) -> Self {
        let now = self.order();
        let order = Order { by, reversed: now.by == by && !now.reversed };
        let sort = (order != Order::default()).then(|| order.to_string());
        Self { sort, page: 1, ..self.clone() }
    }

    /// In a folder, or flat.
    pub(super) fn in_folder(&self, folder: Option<&str>) -> Self {
        Self { folder: folder.map(str::to_owned), page: 1, ..self.clone() }
    }

    /// Whatever its path holds.
    pub(super) fn unsearched(&self) -> Self {
        Self { q: None, page: 1, ..self.clone() }
    }

    /// Of one page, or of all.
    pub(super) fn about(&self, path: Option<&str>) -> Self {
        Self { path: path.map(str::to_owned), ..self.clone() }
    }

    pub(super) fn drawn(&self, form: Form) -> Self {
        Self { form, ..self.clone() }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn query(fields: &[(&'static str, &str)]) -> AnalyticsQuery {
        let mut params = ParamsMap::new();
        for (name, value) in fields {
            params.insert(*name, (*value).to_owned());
        }
        AnalyticsQuery::read(&params)
    }

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
    fn a_column_that_is_sorted_by_is_turned_round() {
        let flat = query(&[("page", "3")]);
        assert_eq!(flat.sorted(Sort::Share).href("docs"), "/p/docs/analytics?sort=share");
        assert_eq!(
            flat.sorted(Sort::Share).sorted(Sort::Share).href("docs"),
            "/p/docs/analytics?sort=-share"
        );
        assert_eq!(flat.sorted(Sort::Total).href("docs"), "/p/docs/analytics?sort=-total");
        assert_eq!(flat.sorted(Sort::Share).sorted(Sort::Total).href("docs"), "/p/docs/analytics");
    }

    #[test]
    fn a_file_has_every_row_of_the_table() {
        let table = query(&[("q", "sdk"), ("sort", "ai"), ("page", "3"), ("limit", "25"), ("chart", "side")]);
        assert_eq!(table.export_href("docs", "csv"), "/p/docs/analytics/export.csv?q=sdk&sort=ai");
        assert_eq!(query(&[]).export_href("docs", "json"), "/p/docs/analytics/export.json");
    }

    #[test]
    fn a_form_keeps_what_it_does_not_ask() {
        let table = query(&[("q", "a\"b"), ("from", "2026-11-01"), ("page", "2")]);
        let html = table.hidden_fields(&["from", "to"]).into_html();
        assert_eq!(html, r#"<input type="hidden" name="q" value="a&quot;b">"#);
    }
}
