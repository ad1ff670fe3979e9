//! The query of the list of jobs in the URL: the filters and the cursor.

use leptos_router::params::ParamsMap;

use model::job_query::JobQuery;
use model::links;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct JobsUrl {
    pub(super) query: JobQuery,
    pub(super) cursor: Option<String>,
    pub(super) page: Option<String>,
}

impl JobsUrl {
    pub(super) fn read(params: &ParamsMap) -> Self {
        let given = |name: &str| params.get(name).filter(|value: &String| !value.trim().is_empty());
        Self { query: JobQuery::of(given), cursor: given("cursor"), page: given("page") }
    }

    /// Whether it is not the first page.
    pub(super) fn is_further_on(&self) -> bool {
        self.cursor.is_some() || self.page.as_deref().is_some_and(|page| page != "1")
    }
}

/// The first page of a list.
pub(super) fn href(project: &str, query: &JobQuery) -> String {
    page_href(project, query, "")
}

/// The page of a list at `cursor`.
pub(super) fn page_href(project: &str, query: &JobQuery, cursor: &str) -> String {
    let mut fields = query.values().to_vec();
    fields.push(("cursor", cursor));
    links::with_query(&links::jobs(project), &fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_filter_starts_from_the_first_page() {
        let query = JobQuery::default().with("q", "sdk v3");
        assert_eq!(href("docs", &query.with("status", "failed")), "/p/docs/jobs?status=failed&q=sdk%20v3");
        assert_eq!(href("docs", &JobQuery::default()), "/p/docs/jobs");
        assert_eq!(page_href("docs", &query, "abc"), "/p/docs/jobs?q=sdk%20v3&cursor=abc");
    }
}
