//! Where the links of a report lead: the same address with one thing changed.

use leptos_router::params::ParamsMap;

use crate::model::history::{Order, Sort};
use crate::ui::charts::columns::Form;
use crate::ui::pages::analytics::query::{AnalyticsQuery, DEFAULT_SIZE};

impl AnalyticsQuery {
    /// What stands in `address` after the question mark.
    pub fn parsed(address: &str) -> Self {
        let mut params = ParamsMap::new();
        for (name, value) in url::form_urlencoded::parse(address.trim_start_matches('?').as_bytes()) {
            params.insert(name.into_owned(), value.into_owned());
        }
        Self::read(&params)
    }

    pub fn order(&self) -> Order {
        self.sort.as_deref().and_then(|sort| sort.parse().ok()).unwrap_or_default()
    }

    /// Whether what changed most is shown: on the first page of everything.
    pub fn has_movers(&self) -> bool {
        self.page == 1 && self.q.is_none() && self.folder.as_deref().is_none_or(|folder| folder == "/")
    }

    /// The same rows in a file.
    pub fn export_href(&self, project: &str, kind: &str) -> String {
        let whole = Self { page: 1, limit: DEFAULT_SIZE, form: Form::Stacked, path: None, ..self.clone() };
        let href = whole.href(project);
        let (page, query) = href.split_once('?').unwrap_or((&href, ""));
        format!("{page}/export.{kind}{}{query}", if query.is_empty() { "" } else { "?" })
    }

    /// Sorted by a column; by the one it is sorted by already, the other way round.
    pub fn sorted(&self, by: Sort) -> Self {
        let now = self.order();
        let order = Order { by, reversed: now.by == by && !now.reversed };
        let sort = (order != Order::default()).then(|| order.to_string());
        Self { sort, page: 1, ..self.clone() }
    }

    /// In a folder, or flat.
    pub fn in_folder(&self, folder: Option<&str>) -> Self {
        Self { folder: folder.map(str::to_owned), page: 1, ..self.clone() }
    }

    /// Whatever its path holds.
    pub fn unsearched(&self) -> Self {
        Self { q: None, page: 1, ..self.clone() }
    }

    /// Of one page, or of all.
    pub fn about(&self, path: Option<&str>) -> Self {
        Self { path: path.map(str::to_owned), ..self.clone() }
    }

    /// With another page size, from the first page.
    pub fn sized(&self, limit: i64) -> Self {
        Self { limit, page: 1, ..self.clone() }
    }

    pub fn drawn(&self, form: Form) -> Self {
        Self { form, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::pages::analytics::query::query;

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
}
