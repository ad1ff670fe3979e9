//! What somebody wants to see of the audit log, as the address says it.

use url::form_urlencoded;

use crate::error::AppError;
use crate::model::day::Day;
use crate::server::auth::sign_in::check_username;
use crate::server::store::audit::AuditFilter;

/// The query of the page, as typed. Nothing in it is checked; what is empty does not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuery {
    pub person: String,
    pub action: String,
    pub outcome: String,
    pub project: String,
    /// Both inclusive UTC days.
    pub from: String,
    pub to: String,
    /// Where a page begins: records older than this number.
    pub before: String,
    /// Whether the chain is to be checked.
    pub check: String,
}

impl AuditQuery {
    pub fn read(query: &str) -> Self {
        let mut read = Self::default();
        for (name, value) in form_urlencoded::parse(query.trim_start_matches('?').as_bytes()) {
            if let Some((_, field)) = read.fields_mut().into_iter().find(|(known, _)| *known == name) {
                *field = value.trim().to_owned();
            }
        }
        read
    }

    /// The part of an address after the `?` that asks the same; empty where everything is asked for.
    pub fn to_address(&self) -> String {
        let mut address = form_urlencoded::Serializer::new(String::new());
        for (name, value) in self.clone().fields_mut() {
            if !value.is_empty() {
                address.append_pair(name, value);
            }
        }
        address.finish()
    }

    /// The same question from the newest record on, as an address.
    pub fn without_place(&self) -> String {
        Self { before: String::new(), check: String::new(), ..self.clone() }.to_address()
    }

    /// What is older than a record.
    pub fn at(&self, number: i64) -> String {
        Self { before: number.to_string(), check: String::new(), ..self.clone() }.to_address()
    }

    /// The same, and whether the chain holds.
    pub fn checked(&self) -> String {
        Self { check: "on".to_owned(), ..self.clone() }.to_address()
    }

    pub fn is_filtered(&self) -> bool {
        !self.without_place().is_empty()
    }

    pub fn filter(&self) -> Result<AuditFilter, AppError> {
        let day = |text: &str| {
            let day = (!text.is_empty()).then(|| text.parse::<Day>()).transpose();
            day.map_err(AppError::bad_input)
        };
        let (from, to) = (day(&self.from)?, day(&self.to)?);
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            return Err(AppError::bad_input("The first day is after the last one. Swap them."));
        }
        if !self.person.is_empty() {
            check_username(&self.person).map_err(AppError::bad_input)?;
        }
        Ok(AuditFilter {
            person: (!self.person.is_empty()).then(|| self.person.clone()),
            action: parsed(&self.action)?,
            outcome: parsed(&self.outcome)?,
            project: parsed(&self.project)?,
            from: from.map(Day::start),
            until: to.map(|to| to.plus_days(1).start()),
            before: parsed_number(&self.before)?,
        })
    }

    fn fields_mut(&mut self) -> [(&'static str, &mut String); 8] {
        [
            ("person", &mut self.person),
            ("action", &mut self.action),
            ("outcome", &mut self.outcome),
            ("project", &mut self.project),
            ("from", &mut self.from),
            ("to", &mut self.to),
            ("before", &mut self.before),
            ("check", &mut self.check),
        ]
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<Option<T>, AppError> {
    (!text.is_empty()).then(|| text.parse()).transpose().map_err(AppError::bad_input)
}

fn parsed_number(text: &str) -> Result<Option<i64>, AppError> {
    let number = (!text.is_empty()).then(|| text.parse()).transpose();
    number.map_err(|_| AppError::bad_input("A page of the audit log begins at the number of a record."))
}
