//! The filters of the list of jobs, as encoded in URLs, forms and saved views: texts under fixed names, empty for the default.
//! Pure; the server parses the values.

use serde::{Deserialize, Serialize};

use crate::url_encoding::with_query;

/// The status of completed jobs without changes, beside the job states.
pub const NO_CHANGES: &str = "no-changes";

/// The filters and the sort, without a cursor; empty is the default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobQuery {
    /// A job state, or [`NO_CHANGES`].
    pub status: String,
    /// Words in prompts and follow-ups.
    pub q: String,
    /// The name of the author.
    pub author: String,
    /// A tag, or the path of a page if it begins with `/`.
    pub tag: String,
    /// `yes` or `no`: with or without a pull request; or a [`PullRequestFilter`](crate::pull_request::PullRequestFilter).
    pub pr: String,
    /// `attention`: only jobs that need attention.
    pub needs: String,
    /// `yes`: only jobs archived in Docket, which are hidden otherwise.
    pub archived: String,
    /// The first UTC day on which the jobs were created, or the number of days until today, such as `7d`.
    pub from: String,
    /// The last UTC day on which they were created.
    pub to: String,
    /// `newest` (the default), `oldest` or `changed`.
    pub sort: String,
}

impl JobQuery {
    pub const FIELDS: [&str; 10] =
        ["status", "q", "author", "tag", "pr", "needs", "archived", "from", "to", "sort"];

    /// Parses the fields; `value` returns the value of a field.
    pub fn of(mut value: impl FnMut(&str) -> Option<String>) -> Self {
        let mut query = Self::default();
        for name in Self::FIELDS {
            let given = value(name).map(|value| value.trim().to_owned());
            *query.field(name) = given.unwrap_or_default();
        }
        query
    }

    /// As [`Self::of`], for fields that select the jobs of an action. Returns the name of an unknown field, which might be
    /// a misspelled filter: without it, the action would apply to more jobs.
    pub fn of_known(fields: &[(String, String)]) -> Result<Self, &str> {
        match fields.iter().find(|(name, _)| !Self::FIELDS.contains(&name.as_str())) {
            Some((unknown, _)) => Err(unknown),
            None => Ok(Self::of_fields(fields)),
        }
    }

    /// As [`Self::of`]. Ignores unknown fields, and the first of repeated fields counts.
    pub fn of_fields(fields: &[(String, String)]) -> Self {
        Self::of(|name| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone()))
    }

    /// A copy with one field changed.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut query = self.clone();
        *query.field(name) = value.to_owned();
        query
    }

    pub fn values(&self) -> [(&'static str, &str); 10] {
        let values = [
            &self.status,
            &self.q,
            &self.author,
            &self.tag,
            &self.pr,
            &self.needs,
            &self.archived,
            &self.from,
            &self.to,
            &self.sort,
        ];
        std::array::from_fn(|at| (Self::FIELDS[at], values[at].as_str()))
    }

    /// The canonical query string: fields in fixed order, defaults omitted. Empty for the unfiltered list.
    pub fn canonical(&self) -> String {
        with_query("", &self.values()).trim_start_matches('?').to_owned()
    }

    /// Whether any filter is set. The sort does not count.
    pub fn is_filtered(&self) -> bool {
        self.with("sort", "") != Self::default()
    }

    fn field(&mut self, name: &str) -> &mut String {
        match name {
            "status" => &mut self.status,
            "q" => &mut self.q,
            "author" => &mut self.author,
            "tag" => &mut self.tag,
            "pr" => &mut self.pr,
            "needs" => &mut self.needs,
            "archived" => &mut self.archived,
            "from" => &mut self.from,
            "to" => &mut self.to,
            _ => &mut self.sort,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_string_is_canonical() {
        let query = JobQuery::of(|name| Some(name.to_uppercase()));
        assert_eq!(
            query.canonical(),
            "status=STATUS&q=Q&author=AUTHOR&tag=TAG&pr=PR&needs=NEEDS&archived=ARCHIVED&from=FROM&to=TO&sort=SORT"
        );
        assert_eq!(JobQuery::of(|_| Some("  ".to_owned())).canonical(), "");
    }

    #[test]
    fn unknown_field_is_ignored_or_refused() {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let known = [field("status", "failed"), field("q", "sdk")];
        let query = JobQuery::default().with("status", "failed").with("q", "sdk");
        assert_eq!(JobQuery::of_known(&known), Ok(query.clone()));
        let unknown = [&known[..], &[field("autor", "ada")]].concat();
        assert_eq!(JobQuery::of_known(&unknown), Err("autor"));
        assert_eq!(JobQuery::of_fields(&unknown), query);
    }

    #[test]
    fn sort_does_not_count_as_a_filter() {
        assert!(!JobQuery::default().with("sort", "oldest").is_filtered());
        assert!(JobQuery::default().with("archived", "yes").is_filtered());
    }
}
