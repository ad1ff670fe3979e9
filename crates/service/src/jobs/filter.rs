//! Parses the filters of the list. Nothing deeper validates them again.

use thiserror::Error;

use base::nfc::nfc;
use model::day::Day;
use model::error::BadInput;
use model::job::JobState;
use model::job_query::{JobQuery, NO_CHANGES};
use model::pull_request::PullRequestFilter;
use model::tag;
use model::time::Timestamp;
use store::jobs::list::{JobFilter, Sort};

/// The maximum length of a search, tag, page or name, in characters.
pub const FIELD_MAX_CHARS: usize = 500;

/// The most days until today.
const DAYS_MAX: u16 = 3_660;

/// Why a filter is not valid.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum FilterError {
    #[error("There is no filter “{name}”, so nothing was changed. The filters are {known}.")]
    Unknown { name: String, known: String },
    #[error("A search or a filter is at most {FIELD_MAX_CHARS} characters long.")]
    TooLong,
    #[error("A status is one of {states}, {NO_CHANGES}.")]
    Status { states: String },
    #[error("“pr” must be yes, no, {kinds} or empty.")]
    PullRequest { kinds: String },
    #[error("“{name}” must be {words} or empty.")]
    Word { name: &'static str, words: String },
    #[error("“{name}” must be a day such as {today}, or empty.")]
    Day { name: &'static str, today: Day },
    #[error("“from” must be a day such as {today}, a number of days such as 7d, or empty.")]
    FirstDay { today: Day },
    #[error("The first day must not be after the last one.")]
    Reversed,
}

impl BadInput for FilterError {}

/// The canonical filters in a query string. Other fields are ignored, and the first of repeated fields counts.
pub fn canonical(query: &str, today: Day) -> Result<String, FilterError> {
    Ok(parse(&JobQuery::of_fields(&fields(query)), today)?.0.canonical())
}

/// The filter in a query string that selects the jobs of an action. Unknown fields are refused.
pub(super) fn of_selection(query: &str, today: Day) -> Result<JobFilter, FilterError> {
    let fields = fields(query);
    let query = JobQuery::of_known(&fields).map_err(|unknown| FilterError::Unknown {
        name: unknown.to_owned(),
        known: JobQuery::FIELDS.join(", "),
    })?;
    Ok(parse(&query, today)?.1)
}

fn fields(query: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(query.trim_start_matches('?').as_bytes()).into_owned().collect()
}

/// The canonical form of the query, and the parsed filter. Days are counted from `today`.
pub(super) fn parse(query: &JobQuery, today: Day) -> Result<(JobQuery, JobFilter), FilterError> {
    let mut query = JobQuery::of(|name| {
        query.values().iter().find(|(field, _)| *field == name).map(|(_, value)| nfc(value).into_owned())
    });
    if query.values().iter().any(|(_, value)| value.chars().count() > FIELD_MAX_CHARS) {
        return Err(FilterError::TooLong);
    }
    if query.sort == "newest" {
        query.sort.clear();
    }
    if !query.tag.starts_with('/') {
        query.tag = tag::fold(&query.tag);
    }
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let (state, no_changes) = status(&query.status)?;
    let (has_pull_request, pull_request) = pull_request(&query.pr)?;
    let (created_from, created_before) = created(&query.from, &query.to, today)?;
    let filter = JobFilter {
        state,
        no_changes,
        text: given(&query.q),
        named: None,
        author: given(&query.author),
        label: given(&query.tag),
        created_from,
        created_before,
        has_pull_request,
        pull_request,
        needs_attention: one_of("needs", &query.needs, [("", false), ("attention", true)])?,
        new_to: None,
        archived: Some(one_of("archived", &query.archived, [("", false), ("yes", true)])?),
        sort: one_of(
            "sort",
            &query.sort,
            [("", Sort::Newest), ("oldest", Sort::Oldest), ("changed", Sort::Changed)],
        )?,
        ..JobFilter::default()
    };
    Ok((query, filter))
}

/// The state of the status filter, and whether only jobs without changes have it.
fn status(status: &str) -> Result<(Option<JobState>, bool), FilterError> {
    match status {
        "" => Ok((None, false)),
        NO_CHANGES => Ok((Some(JobState::Completed), true)),
        state => match state.parse() {
            Ok(state) => Ok((Some(state), false)),
            Err(_) => {
                let states = JobState::ALL.map(JobState::as_str).join(", ");
                Err(FilterError::Status { states })
            }
        },
    }
}

/// From which time on, and before which time the jobs were created.
fn created(from: &str, to: &str, today: Day) -> Result<(Option<Timestamp>, Option<Timestamp>), FilterError> {
    let number = |days: &str| days.parse().ok().filter(|days| (1..=DAYS_MAX).contains(days));
    let first = match (from, from.strip_suffix('d').and_then(number)) {
        ("", _) => None,
        (_, Some(days)) => Some(today.plus_days(1 - i64::from(days))),
        (day, None) => Some(day.parse().map_err(|_| FilterError::FirstDay { today })?),
    };
    let last = match to {
        "" => None,
        day => Some(day.parse::<Day>().map_err(|_| FilterError::Day { name: "to", today })?),
    };
    match (first, last) {
        (Some(first), Some(last)) if first > last => Err(FilterError::Reversed),
        _ => Ok((first.map(Day::start), last.map(|last| last.plus_days(1).start()))),
    }
}

/// Whether jobs have a pull request, and of what kind.
fn pull_request(value: &str) -> Result<(Option<bool>, Option<PullRequestFilter>), FilterError> {
    match (value, value.parse()) {
        ("", _) => Ok((None, None)),
        ("yes", _) => Ok((Some(true), None)),
        ("no", _) => Ok((Some(false), None)),
        (_, Ok(kind)) => Ok((None, Some(kind))),
        (_, Err(_)) => {
            let kinds = PullRequestFilter::ALL.map(PullRequestFilter::as_str).join(", ");
            Err(FilterError::PullRequest { kinds })
        }
    }
}

/// The meaning of `value`. The first entry is the empty value of an omitted field.
fn one_of<T: Copy, const N: usize>(
    name: &'static str,
    value: &str,
    meanings: [(&str, T); N],
) -> Result<T, FilterError> {
    meanings.iter().find(|(word, _)| *word == value).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<&str> = meanings[1..].iter().map(|(word, _)| *word).collect();
        FilterError::Word { name, words: words.join(", ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn today() -> Day {
        Day::of(Timestamp::from_millis(1_796_040_000_000))
    }

    #[test]
    fn days_are_inclusive_and_may_be_counted_from_today() {
        let of = |from: &str, to: &str| {
            created(from, to, today()).map(|(from, before)| [from, before].map(|at| at.map(Day::of)))
        };
        let day = |text: &str| text.parse::<Day>().ok();
        assert_eq!(of("", ""), Ok([None, None]));
        assert_eq!(of("2026-11-02", "2026-11-03"), Ok([day("2026-11-02"), day("2026-11-04")]));
        assert_eq!(of("1d", ""), Ok([day("2026-11-30"), None]));
        assert_eq!(of("7d", "2026-11-24"), Ok([day("2026-11-24"), day("2026-11-25")]));
        assert_eq!(of("2026-11-03", "2026-11-02"), Err(FilterError::Reversed));
        for from in ["0d", "3661d", "-1d", "d", "2026-13-01", "yesterday"] {
            assert_eq!(of(from, ""), Err(FilterError::FirstDay { today: today() }), "{from}");
        }
    }

    #[test]
    fn equivalent_queries_have_one_canonical_form() {
        let query = JobQuery::default().with("sort", "newest").with("tag", "SDK").with("q", "  fix  ");
        let canonical = parse(&query, today()).map(|(query, _)| query.canonical());
        assert_eq!(canonical, Ok("q=fix&tag=sdk".to_owned()));
        let page = JobQuery::default().with("tag", "/Guides");
        assert_eq!(parse(&page, today()).map(|(query, _)| query.canonical()), Ok("tag=/Guides".to_owned()));
    }

    #[test]
    fn selection_with_an_unknown_filter_is_refused() {
        assert!(of_selection("?status=failed&q=sdk%20v3", today()).is_ok());
        let refused = of_selection("?autor=ada", today())
            .map(|_| String::new())
            .unwrap_or_else(|error| error.to_string());
        assert!(refused.contains("“autor”"), "{refused}");
    }

    #[test]
    fn invalid_filter_value_is_refused_with_the_valid_values() {
        for (name, words) in [
            ("status", "queued, sending"),
            ("status", "other, no-changes."),
            ("pr", "yes, no"),
            ("needs", "attention"),
            ("archived", "yes"),
            ("from", "2026-11-30, a number of days such as 7d"),
            ("to", "2026-11-30"),
            ("sort", "oldest, changed"),
        ] {
            let refused = parse(&JobQuery::default().with(name, "nonsense"), today());
            let message = refused.map(|_| String::new()).unwrap_or_else(|error| error.to_string());
            assert!(message.contains(words), "{name}: {message}");
        }
        for name in JobQuery::FIELDS {
            assert!(parse(&JobQuery::default().with(name, &"x".repeat(501)), today()).is_err(), "{name}");
        }
    }
}
