//! Finds jobs by a name: the number of their pull request, their id at the platform, their branch, author, tag or page.

use crate::dialect::select::Select;
use model::tag;

/// The maximum length of a name. Only this much of a longer branch is indexed.
const NAME_MAX_CHARS: usize = 200;

/// The minimum length of a prefix that finds an author, a tag or a page.
const BEGINNING_MIN_CHARS: usize = 3;

/// The same for a branch or an id: many in a project begin with the same word, which texts contain too.
const ID_BEGINNING_MIN_CHARS: usize = 8;

/// The maximum number of digits in the number of a pull request.
const NUMBER_MAX_DIGITS: usize = 9;

/// The branch of a job `j` in lower case, as it is indexed.
const BRANCH: &str = "SUBSTR(LOWER(j.git_ref), 1, 200)";

/// The digits at the end of the link to the pull request of a job `j`, as they are indexed.
const PULL_REQUEST: &str =
    "SUBSTR(RTRIM(j.pr_link, '/'), LENGTH(RTRIM(RTRIM(j.pr_link, '/'), '0123456789')) + 1, 10)";

/// A word that may be the name of jobs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    text: String,
    /// Whether it also matches names that begin with it.
    is_beginning: bool,
}

impl Name {
    /// `None` for a text that cannot be a name.
    pub(crate) fn of(text: &str, is_beginning: bool) -> Option<Self> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_name = text.chars().any(char::is_alphanumeric) && text.chars().count() <= NAME_MAX_CHARS;
        is_name.then_some(Self { text, is_beginning })
    }

    /// The subquery for the numbers of the project's jobs with this name, in a column `number`.
    pub(crate) fn numbers(&self, select: &mut Select) -> String {
        let project = select.project().to_owned();
        let lower = self.text.to_ascii_lowercase();
        let id = Comparison::new(select, &self.text, self.begins(ID_BEGINNING_MIN_CHARS));
        let branch = Comparison::new(select, &lower, self.begins(ID_BEGINNING_MIN_CHARS));
        let author = Comparison::new(select, &lower, self.begins(BEGINNING_MIN_CHARS));
        let label = Comparison::new(select, &tag::fold(&self.text), self.begins(BEGINNING_MIN_CHARS));
        let of_job = |condition: String| {
            format!(
                "SELECT n.number FROM jobs j CROSS JOIN listed_jobs n
                 WHERE n.job_id = j.id AND j.project = {project} AND {condition}"
            )
        };
        let mut queries = vec![
            format!(
                "SELECT n.number FROM listed_labels n WHERE n.project = {project} AND {}",
                label.of("n.label")
            ),
            format!(
                "SELECT n.number FROM listed_jobs n WHERE n.project = {project}
                     AND n.author_id IN (SELECT u.id FROM users u WHERE {})",
                author.of("LOWER(u.name)")
            ),
            of_job(format!("j.remote_id IS NOT NULL AND {}", id.of("j.remote_id"))),
            of_job(format!("j.git_ref IS NOT NULL AND {}", branch.of(BRANCH))),
        ];
        if let Some(digits) = self.digits() {
            let digits = select.bind(digits);
            queries.push(of_job(format!("j.pr_link IS NOT NULL AND {PULL_REQUEST} = {digits}")));
        }
        queries.join(" UNION ALL ")
    }

    fn begins(&self, min_chars: usize) -> bool {
        self.is_beginning && self.text.chars().count() >= min_chars
    }

    /// `256` for `256` and `#256`.
    fn digits(&self) -> Option<&str> {
        let digits = self.text.strip_prefix('#').unwrap_or(&self.text);
        let is_number =
            (1..=NUMBER_MAX_DIGITS).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        is_number.then_some(digits)
    }
}

/// Compares a column with a bound text: equality or, with an end, a prefix.
struct Comparison {
    from: String,
    to: Option<String>,
}

impl Comparison {
    fn new(select: &mut Select, text: &str, is_beginning: bool) -> Self {
        let to = is_beginning.then(|| select.bind(format!("{text}{}", char::MAX)));
        Self { from: select.bind(text), to }
    }

    fn of(&self, column: &str) -> String {
        let Self { from, to } = self;
        match to {
            Some(to) => format!("{column} >= {from} AND {column} < {to}"),
            None => format!("{column} = {from}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pull_request_number_may_start_with_a_hash_sign() {
        let digits = |text: &str| Name::of(text, true).and_then(|name| name.digits().map(str::to_owned));
        assert_eq!([digits("256"), digits("#256")], [Some("256".to_owned()), Some("256".to_owned())]);
        for text in ["#", "##256", "256a", "1234567890", "٣"] {
            assert_eq!(digits(text), None, "{text}");
        }
    }

    #[test]
    fn symbols_and_long_texts_are_no_names() {
        assert_eq!(Name::of("#", true), None);
        assert_eq!(Name::of(&"x".repeat(201), true), None);
        assert_eq!(Name::of("  Release   1.2 ", false).map(|name| name.text), Some("Release 1.2".to_owned()));
    }
}
