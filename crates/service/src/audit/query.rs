//! Parses the filters of the audit log.

use base::username;
use model::ParseError;
use model::audit_query::AuditQuery;
use model::day::Day;
use model::error::AppError;
use store::audit::AuditFilter;

/// Parses `query`.
pub fn filter(query: &AuditQuery) -> Result<AuditFilter, AppError> {
    let day = |text: &str| (!text.is_empty()).then(|| text.parse::<Day>()).transpose();
    let (from, to) = (day(&query.from)?, day(&query.to)?);
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(AppError::bad_input("The first day is after the last one. Swap them."));
    }
    if !query.person.is_empty() {
        username::check_form(&query.person)?;
    }
    Ok(AuditFilter {
        person: (!query.person.is_empty()).then(|| query.person.clone()),
        action: parsed(&query.action)?,
        outcome: parsed(&query.outcome)?,
        project: parsed(&query.project)?,
        from: from.map(Day::start),
        until: to.map(|to| to.plus_days(1).start()),
        before: parsed_number(&query.before)?,
    })
}

fn parsed<T: std::str::FromStr>(text: &str) -> Result<Option<T>, T::Err> {
    (!text.is_empty()).then(|| text.parse()).transpose()
}

fn parsed_number(text: &str) -> Result<Option<i64>, ParseError> {
    let number = (!text.is_empty()).then(|| text.parse()).transpose();
    number.map_err(|_| "A page of the audit log starts at a record number.".into())
}
