//! What the analytics page is asked for, as it stands in the address.

use leptos_router::params::ParamsMap;

use crate::model::paging::PageLimit;
use crate::ui::links;

/// The page sizes that are offered.
pub(super) const SIZES: [i64; 4] = [25, 50, 100, 250];
const DEFAULT_SIZE: i64 = PageLimit::DEFAULT.get() as i64;

/// `from` and `to` as typed: the server says what is wrong with them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnalyticsQuery {
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    /// From 1.
    pub(super) page: i64,
    pub(super) limit: i64,
}

impl AnalyticsQuery {
    pub(super) fn read(params: &ParamsMap) -> Self {
        let given = |name| params.get(name).filter(|value: &String| !value.is_empty());
        let number = |name, default| given(name).and_then(|value| value.parse().ok()).unwrap_or(default);
        Self {
            from: given("from"),
            to: given("to"),
            // So many pages of so many rows still count as an offset.
            page: number("page", 1).clamp(1, 1_000_000_000),
            limit: number("limit", DEFAULT_SIZE),
        }
    }

    pub(super) fn offset(&self) -> i64 {
        (self.page - 1).saturating_mul(self.limit.max(0))
    }

    pub(super) fn href(&self, project: &str) -> String {
        let number =
            |value: i64, default: i64| if value == default { String::new() } else { value.to_string() };
        links::with_query(
            &links::analytics(project),
            &[
                ("from", self.from.as_deref().unwrap_or_default()),
                ("to", self.to.as_deref().unwrap_or_default()),
                ("page", &number(self.page, 1)),
                ("limit", &number(self.limit, DEFAULT_SIZE)),
            ],
        )
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
        Self { from, to, page: 1, limit }
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
        assert_eq!(query(&[("page", "1"), ("limit", "50")]).href("docs"), "/p/docs/analytics");
        assert_eq!(
            query(&[("page", "3"), ("limit", "25")]).href("docs"),
            "/p/docs/analytics?page=3&limit=25"
        );
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
}
