//! A batch: a prompt template and a list of values that become many prompts, all or none. Pure.

mod items;
mod preview;
mod progress;
mod values;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{BuildHasher, RandomState};

use serde::{Deserialize, Serialize};

use crate::id::{BatchId, IntentId, JobId, ProjectId, TemplateId};
use crate::job::{Job, cut};
use crate::similar::ChangedPage;
use crate::template::{Parsed, in_words, placeholders};
use crate::time::Timestamp;
use crate::title;
use crate::unfilled::{self, NAMED};

pub use self::items::{Item, ItemError, Items};
pub use self::preview::{PreviewLine, preview_lines};
pub use self::progress::{Part, Progress};
use self::values::Record;
pub use self::values::quoted;

/// The largest number of jobs in a batch.
pub const BATCH_MAX_JOBS: usize = 200;

/// The length of each prompt in a preview, in characters.
pub const PREVIEW_CHARS: usize = 1_000;

/// The longest name that people give a batch, in characters.
pub const NAME_MAX_CHARS: usize = 80;

/// The placeholder for the page that a job is about.
pub const PAGE: &str = "page";

/// A batch: a preview until it is started, then its jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub id: BatchId,
    pub project: ProjectId,
    /// See [`name`].
    pub name: String,
    pub author: String,
    /// The prompt template.
    pub text: String,
    pub created_at: Timestamp,
    /// When it was confirmed; nothing is queued before that.
    pub started_at: Option<Timestamp>,
    /// The number of its jobs; a job and its retry count once.
    pub total: u32,
    /// Prompts that were sent, whatever the outcome. A retried job counts with its retry's prompt.
    pub sent: u32,
    /// Prompts still in the queue.
    pub waiting: u32,
    /// How far its jobs are; a job and its retry count once.
    #[serde(default)]
    pub progress: Progress,
    /// When the last queued prompt is expected to be sent. Before the start: when it would be sent.
    pub expected_end: Option<Timestamp>,
    /// The median time of a job, in milliseconds; omitted once the batch was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_millis: Option<i64>,
    /// Each prompt in the order of the lines, truncated; empty once the batch was started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preview: Vec<String>,
    /// The lines of `preview`, for the page.
    #[serde(skip)]
    pub lines: Vec<PreviewLine>,
    /// Possible unfilled placeholders in the prompts of the preview; at most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfilled: Vec<String>,
    /// Pages in its list that open pull requests change; empty once the batch was started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_pages: Vec<ChangedPage>,
    /// Its jobs as in lists; empty before the batch was started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Job>,
    /// The `jobs` that a retry in this batch replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retried: Vec<JobId>,
    /// The `jobs` that failed or were not accepted, and that were not retried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retryable: Vec<JobId>,
    /// The `cursor` of the rest of `preview` or `jobs`; `None` if this is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The name of a batch: the one that a person gave it, or one that is made of its prompt template and the number of its jobs, such as
/// `Refresh a page · 12 pages`.
pub fn name(given: Option<String>, template: &str, jobs: u64) -> String {
    given.unwrap_or_else(|| {
        let mut name = title::title(&in_words(template));
        cut(&mut name);
        match jobs {
            0 => name,
            _ => format!("{} · {jobs} {}", name.trim_end_matches('.'), subject(template, jobs)),
        }
    })
}

/// The word for the subjects of `number` jobs: pages, or jobs if the template does not name a page.
pub fn subject(template: &str, number: u64) -> &'static str {
    match (placeholders(template).contains(&PAGE), number) {
        (true, 1) => "page",
        (true, _) => "pages",
        (false, 1) => "job",
        (false, _) => "jobs",
    }
}

/// A prepared batch that nobody started, in the list of its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnstartedBatch {
    pub id: BatchId,
    /// As [`Batch::name`].
    pub name: String,
    /// The beginning of its list of values.
    pub values: String,
    pub prepared_at: Timestamp,
}

/// A started batch in the list of batches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedBatch {
    pub id: BatchId,
    /// As [`Batch::name`].
    pub name: String,
    pub author: String,
    pub started_at: Timestamp,
    pub progress: Progress,
}

/// One page of the list of batches, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchPage {
    pub batches: Vec<ListedBatch>,
    /// Whether there are older ones.
    pub has_more: bool,
}

/// The initial values of the batch form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchForm {
    pub intent: IntentId,
    pub text: String,
    pub values: String,
    /// The template of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<TemplateId>,
    /// Why the submitted text could not become a batch.
    pub problem: Option<String>,
}

/// The prompt template of the batch form, after the text of a saved template was put into it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchPrompt {
    pub text: String,
    /// The saved template.
    pub template: Option<TemplateId>,
}

/// One prompt of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The line on which its values begin, from 1.
    pub line: usize,
    pub prompt: String,
    /// The page it is about: the value of the placeholder `page`.
    pub page: Option<String>,
}

/// Why a text and a list do not become prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListError {
    NoPlaceholder,
    Empty,
    Line {
        /// From 1.
        number: usize,
        /// The message after the number of the line.
        rest: String,
    },
}

impl ListError {
    fn of_line(number: usize, rest: impl Into<String>) -> Self {
        Self::Line { number, rest: rest.into() }
    }
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlaceholder => {
                f.write_str("The text has no placeholder such as {{page}}, so every job would be the same.")
            }
            Self::Empty => f.write_str("The list of values is empty. Write one value per line."),
            Self::Line { number, rest } => write!(f, "Line {number}{rest}"),
        }
    }
}

/// Fills `text` with each record of `list`. Creates no prompt longer than `most` characters.
pub fn entries(text: &str, list: &str, most: usize) -> Result<Vec<Entry>, ListError> {
    let template = Parsed::of(text);
    let (hasher, mut seen) = (RandomState::new(), HashMap::new());
    let mut entries: Vec<Entry> = Vec::new();
    let page = template.names.iter().position(|name| *name == PAGE);
    for line in lines(&template, list)? {
        let line = line?;
        let (number, columns) = (line.number, line.columns());
        let length = template.filled_chars(&columns);
        if length > most {
            let rest =
                format!(": The prompt has {length} characters; Docket sends at most {most}. Shorten it.");
            return Err(ListError::of_line(number, rest));
        }
        let prompt = template.filled(&columns);
        let earlier = seen.insert(hasher.hash_one(&prompt), entries.len());
        if earlier.is_some_and(|earlier: usize| entries[earlier].prompt == prompt) {
            return Err(ListError::of_line(number, " repeats an earlier one."));
        }
        let page = page.map(|page| columns[page].to_owned());
        entries.push(Entry { line: number, prompt, page });
    }
    if entries.is_empty() {
        return Err(ListError::Empty);
    }
    Ok(entries)
}

/// The values of each line of a batch that [`entries`] accepted, by the names of the placeholders, with the number of the line.
pub fn values_of(text: &str, list: &str) -> Vec<(usize, BTreeMap<String, String>)> {
    let template = Parsed::of(text);
    let lines = lines(&template, list).into_iter().flatten().filter_map(Result::ok);
    let values = lines.map(|line| {
        let values = template.names.iter().zip(&line.values);
        (line.number, values.map(|(name, value)| ((*name).to_owned(), value.to_string())).collect())
    });
    values.collect()
}

/// The beginning of each prompt of a batch that [`entries`] accepted.
pub fn preview(text: &str, list: &str) -> Vec<String> {
    let template = Parsed::of(text);
    let lines = lines(&template, list).into_iter().flatten().filter_map(Result::ok);
    let prompts = lines.map(|line| match template.beginning(&line.columns(), PREVIEW_CHARS) {
        (prompt, true) => prompt,
        (beginning, false) => beginning + "…",
    });
    prompts.collect()
}

/// Possible unfilled placeholders in the prompts of a batch that [`entries`] accepted, at most [`NAMED`]. The list fills all
/// placeholders of the text, but other spellings and values may contain `{{…}}`.
pub fn unfilled(text: &str, list: &str) -> Vec<String> {
    let template = Parsed::of(text);
    let first = lines(&template, list).into_iter().flatten().find_map(Result::ok);
    let first = first.map(|line| template.beginning(&line.columns(), usize::MAX).0).unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for name in unfilled::unfilled(&first).into_iter().chain(unfilled::unfilled(list)) {
        if found.len() < NAMED && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

/// A record of the list, with one value for each placeholder: its own or the default.
struct Line<'a> {
    /// The line on which it begins, from 1.
    number: usize,
    values: Vec<Cow<'a, str>>,
}

impl Line<'_> {
    fn columns(&self) -> Vec<&str> {
        self.values.iter().map(AsRef::as_ref).collect()
    }
}

/// The records of the list, each valid or an error.
fn lines<'a>(
    template: &'a Parsed<'a>,
    list: &'a str,
) -> Result<impl Iterator<Item = Result<Line<'a>, ListError>>, ListError> {
    let names = &template.names;
    if names.is_empty() {
        return Err(ListError::NoPlaceholder);
    }
    let mut records = values::records(list, names.len()).peekable();
    records.next_if(|first| first.as_ref().is_ok_and(|first| is_header(template, &first.values)));
    Ok(records.enumerate().map(|(count, record)| {
        let Record { line: number, values } = record?;
        if count >= BATCH_MAX_JOBS {
            let rest = format!(" is one too many: a batch has at most {BATCH_MAX_JOBS} jobs.");
            return Err(ListError::of_line(number, rest));
        }
        let values = with_defaults(template, values)
            .map_err(|actual| ListError::of_line(number, wrong_count(actual, template)))?;
        match names.iter().zip(&values).find(|(_, value)| value.trim().is_empty()) {
            Some((name, _)) => {
                Err(ListError::of_line(number, format!(": The value of {{{{{name}}}}} is empty.")))
            }
            None => Ok(Line { number, values }),
        }
    }))
}

/// Whether the values are the names of the placeholders in their order, all of them or those without a default: a line of titles, not a job.
fn is_header(template: &Parsed, values: &[Cow<'_, str>]) -> bool {
    let same = |names: Vec<&str>| {
        names.len() == values.len()
            && names.iter().zip(values).all(|(name, value)| title(value).eq_ignore_ascii_case(name))
    };
    let required = template.names.iter().zip(&template.defaults).filter(|(_, default)| default.is_empty());
    same(template.names.clone()) || same(required.map(|(name, _)| *name).collect())
}

/// A title without the braces of a placeholder.
fn title(value: &str) -> &str {
    let value = value.trim();
    value.strip_prefix("{{").and_then(|value| value.strip_suffix("}}")).unwrap_or(value).trim()
}

/// One value for each placeholder. A line has a value for each, where an empty one means the default, or only for those without
/// a default. Otherwise fails with the number of values.
fn with_defaults<'a>(
    template: &'a Parsed<'a>,
    values: Vec<Cow<'a, str>>,
) -> Result<Vec<Cow<'a, str>>, usize> {
    let (actual, is_whole) = (values.len(), values.len() == template.names.len());
    let mut values = values.into_iter();
    let columns = template.defaults.iter().map(|default| match is_whole || default.is_empty() {
        true => values.next().map(|value| match value.trim().is_empty() && !default.is_empty() {
            true => Cow::Borrowed(*default),
            false => value,
        }),
        false => Some(Cow::Borrowed(*default)),
    });
    let columns: Option<Vec<_>> = columns.collect();
    columns.filter(|_| values.next().is_none()).ok_or(actual)
}

/// The message after the number of a line with `actual` values.
fn wrong_count(actual: usize, template: &Parsed) -> String {
    let has = if actual == 1 { "1 value".to_owned() } else { format!("{actual} values") };
    let (names, defaults) = (&template.names, &template.defaults);
    let expected: Vec<_> = names.iter().map(|name| format!("{{{{{name}}}}}")).collect();
    let advice = match actual < names.len() {
        true => "Separate values with commas, semicolons or tabs.",
        false => "Put a value that contains a comma in quotes.",
    };
    let least = match defaults.iter().filter(|default| default.is_empty()).count() {
        least if least == 0 || least == names.len() => String::new(),
        least => format!(", or {least} without those that have a default"),
    };
    format!(" has {has}; expected {}: {}{least}. {advice}", names.len(), expected.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str, list: &str, most: usize) -> String {
        entries(text, list, most).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn batch_without_a_given_name_is_called_after_its_template() {
        assert_eq!(name(Some("Spring".to_owned()), "Refresh {{page}}", 12), "Spring");
        assert_eq!(name(None, "Refresh **{{page}}**.\nAll of it", 12), "Refresh a page · 12 pages");
        assert_eq!(name(None, "Release {{version}}", 1), "Release a version · 1 job");
        assert_eq!(name(None, "Release {{version}}.", 0), "Release a version.");
    }

    #[test]
    fn values_of_a_line_have_the_names_of_their_placeholders() {
        let values = values_of("{{tone=calm}}: {{page}}", "page\n/a\n\nloud,\"/b, c\"");
        let of_line = |number, tone: &str, page: &str| {
            let values =
                [("tone", tone), ("page", page)].map(|(name, value)| (name.to_owned(), value.to_owned()));
            (number, BTreeMap::from(values))
        };
        assert_eq!(values, [of_line(2, "calm", "/a"), of_line(4, "loud", "/b, c")]);
    }

    #[test]
    fn each_line_becomes_a_prompt() {
        let made =
            entries("Check {{page}}.", "/a\n\n  \"/b, c\" \n", 99).unwrap_or_else(|why| panic!("{why}"));
        let made: Vec<_> =
            made.iter().map(|entry| (entry.line, entry.prompt.as_str(), entry.page.as_deref())).collect();
        assert_eq!(made, [(1, "Check /a.", Some("/a")), (3, "Check /b, c.", Some("/b, c"))]);
    }

    #[test]
    fn placeholders_take_columns_in_order_of_appearance() {
        let text = "{{tone}}: {{name}} and {{tone}}";
        let made =
            entries(text, "calm, Ada\nloud\tBob, the second", 99).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(made[0].prompt, "calm: Ada and calm");
        assert_eq!(made[1].prompt, "loud: Bob, the second and loud");
        assert_eq!(made[0].page, None);
        let made = entries("{{tone}}: {{page}}", "/calm, /a", 99).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(made[0].page.as_deref(), Some("/a"));
    }

    #[test]
    fn line_may_omit_values_with_a_default() {
        let prompts = |text: &str, list: &str| {
            let made = entries(text, list, 99).unwrap_or_else(|why| panic!("{why}"));
            made.into_iter().map(|entry| entry.prompt).collect::<Vec<_>>()
        };
        let text = "{{version=3.2}}: {{page}}";
        assert_eq!(prompts(text, "/a\n4,/b\n,/c"), ["3.2: /a", "4: /b", "3.2: /c"]);
        assert_eq!(prompts("{{page=/}}", "/a"), ["/a"]);
        assert_eq!(preview(text, "/a"), ["3.2: /a"]);
        let error = error_of(text, "4,/b,/c", 99);
        assert!(error.contains("expected 2: {{version}}, {{page}}, or 1 without those that"), "{error}");
        let error = error_of("{{a=1}}{{b=2}}", "x", 99);
        assert!(error.contains("expected 2: {{a}}, {{b}}. "), "{error}");
    }

    #[test]
    fn first_line_with_the_names_of_the_placeholders_is_no_job() {
        let lines = |text: &str, list: &str| {
            let made = entries(text, list, 99).unwrap_or_else(|why| panic!("{why}"));
            made.into_iter().map(|entry| (entry.line, entry.prompt)).collect::<Vec<_>>()
        };
        let text = "{{page}} {{tone=calm}}";
        for list in [
            "page,tone\n/a,loud",
            "\u{feff}\"Page\";\"Tone\"\n\"/a\";\"loud\"",
            "{{page}}\t{{tone}}\n/a\tloud",
        ] {
            assert_eq!(lines(text, list), [(2, "/a loud".to_owned())], "{list:?}");
        }
        assert_eq!(lines(text, "page\n/a"), [(2, "/a calm".to_owned())]);
        assert_eq!(lines("{{page}}", "/a\npage"), [(1, "/a".to_owned()), (2, "page".to_owned())]);
        assert_eq!(preview(text, "page,tone\n/a,loud"), ["/a loud"]);
        assert_eq!(entries(text, "page,tone", 99), Err(ListError::Empty));
        let full = format!("page\n{}", (0..BATCH_MAX_JOBS).map(|n| format!("/{n}\n")).collect::<String>());
        assert_eq!(lines("{{page}}", &full).len(), BATCH_MAX_JOBS);
    }

    #[test]
    fn invalid_list_is_refused_with_its_line() {
        let wrong = |text: &str, list: &str| error_of(text, list, 40);
        assert!(wrong("no place", "/a").contains("{{page}}"));
        assert_eq!(
            wrong("{{a}} {{b}}", "x,y\nx"),
            "Line 2 has 1 value; expected 2: {{a}}, {{b}}. Separate values with commas, semicolons or tabs."
        );
        assert_eq!(
            wrong("{{a}}", "\"x\ny\"\nx, y, z"),
            "Line 3 has 3 values; expected 1: {{a}}. Put a value that contains a comma in quotes."
        );
        assert_eq!(wrong("{{a}} {{b}}", "x,y\nx,"), "Line 2: The value of {{b}} is empty.");
        assert_eq!(wrong("{{a}}", "x\n\" \""), "Line 2: The value of {{a}} is empty.");
        assert!(wrong("{{a}}", "x\n\"y").starts_with("Line 2: A value begins with a quote"));
        assert!(wrong("{{a}}", "x\n\nx").starts_with("Line 3 repeats"));
        assert!(wrong("{{a}}", " \n").contains("empty"));
        assert!(
            wrong("{{a}}{{a}}", &format!("b\n{}", "é".repeat(21))).starts_with("Line 2: The prompt has 42")
        );
        let many: String = (0..=BATCH_MAX_JOBS).map(|n| format!("{n}\n")).collect();
        assert!(wrong("{{a}}", &many).starts_with("Line 201 is one too many"));
    }

    #[test]
    fn a_preview_has_the_beginning_of_each_prompt() {
        let long = "é".repeat(PREVIEW_CHARS);
        let made = preview("{{a}}", &format!("{long}\n\n{long}x\n/b"));
        assert_eq!(made, [long.clone(), format!("{long}…"), "/b".to_owned()]);
        assert!(preview("no place", "/a").is_empty());
    }
}
