//! The filters of the audit log, as encoded in its URL. Pure; the server parses the values.

use serde::{Deserialize, Serialize};

use crate::url_encoding::with_query;

/// The fields of the URL, as typed and unchecked. Empty fields do not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditQuery {
    pub person: String,
    pub action: String,
    pub outcome: String,
    pub project: String,
    /// Both inclusive UTC days.
    pub from: String,
    pub to: String,
    /// Cursor: only records older than this number.
    pub before: String,
    /// Whether to verify the chain.
    pub check: String,
}

impl AuditQuery {
    /// Parses the fields; `value` returns the value of a field.
    pub fn of(mut value: impl FnMut(&str) -> Option<String>) -> Self {
        let mut value = |name| value(name).map(|value| value.trim().to_owned()).unwrap_or_default();
        Self {
            person: value("person"),
            action: value("action"),
            outcome: value("outcome"),
            project: value("project"),
            from: value("from"),
            to: value("to"),
            before: value("before"),
            check: value("check"),
        }
    }

    /// The query string for a URL, without the `?`; empty without filters.
    pub fn query_string(&self) -> String {
        let fields = [
            ("person", self.person.as_str()),
            ("action", &self.action),
            ("outcome", &self.outcome),
            ("project", &self.project),
            ("from", &self.from),
            ("to", &self.to),
            ("before", &self.before),
            ("check", &self.check),
        ];
        with_query("", &fields).trim_start_matches('?').to_owned()
    }

    /// The same filters from the newest record.
    pub fn from_newest(&self) -> Self {
        Self { before: String::new(), check: String::new(), ..self.clone() }
    }

    /// The same filters, with only records older than `number`.
    pub fn before(&self, number: i64) -> Self {
        Self { before: number.to_string(), ..self.from_newest() }
    }

    /// The same filters, with verification.
    pub fn checked(&self) -> Self {
        Self { check: "on".to_owned(), ..self.clone() }
    }

    pub fn is_filtered(&self) -> bool {
        self.from_newest() != Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_omits_empty_filters() {
        assert_eq!(AuditQuery::of(|_| Some(" ".to_owned())).query_string(), "");
        let query = AuditQuery::of(|name| (name == "person").then(|| " Åse & co".to_owned()));
        assert_eq!(query.before(7).query_string(), "person=%C3%85se%20%26%20co&before=7");
        assert_eq!(query.before(7).checked().from_newest(), query);
        assert!(query.is_filtered() && !AuditQuery::default().before(7).is_filtered());
    }
}
