//! What the list of jobs is asked for, as it stands in the address.

use leptos_router::params::ParamsMap;

use crate::ui::links;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct JobsQuery {
    pub(super) status: Option<String>,
    pub(super) q: Option<String>,
    pub(super) author: Option<String>,
    pub(super) cursor: Option<String>,
}

impl JobsQuery {
    pub(super) fn read(params: &ParamsMap) -> Self {
        let given = |name| params.get(name).filter(|value: &String| !value.trim().is_empty());
        Self { status: given("status"), q: given("q"), author: given("author"), cursor: given("cursor") }
    }

    pub(super) fn href(&self, project: &str) -> String {
        fn text(field: &Option<String>) -> &str {
            field.as_deref().unwrap_or_default()
        }
        links::with_query(
            &links::jobs(project),
            &[
                ("status", text(&self.status)),
                ("q", text(&self.q)),
                ("author", text(&self.author)),
                ("cursor", text(&self.cursor)),
            ],
        )
    }

    /// Whether anything narrows the list down.
    pub(super) fn is_filtered(&self) -> bool {
        self.status.is_some() || self.q.is_some() || self.author.is_some()
    }

    /// The same search and author in another state, from the newest.
    pub(super) fn with_status(&self, status: Option<&str>) -> Self {
        Self { status: status.map(str::to_owned), cursor: None, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_filter_starts_from_the_newest() {
        let query =
            JobsQuery { q: Some("sdk v3".to_owned()), cursor: Some("abc".to_owned()), ..Default::default() };
        assert_eq!(query.with_status(Some("failed")).href("docs"), "/p/docs/jobs?status=failed&q=sdk%20v3");
        assert_eq!(JobsQuery::default().href("docs"), "/p/docs/jobs");
    }
}
