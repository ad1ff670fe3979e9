//! A batch: a prompt template and a list of values that become many prompts, all or none. Pure.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use serde::{Deserialize, Serialize};

use crate::model::id::{BatchId, IntentId, ProjectId};
use crate::model::job::Job;
use crate::model::template::Parsed;
use crate::model::time::Timestamp;
use crate::model::unfilled::{self, NAMED};

/// The largest number of jobs in a batch.
pub const BATCH_MAX_JOBS: usize = 200;

/// The length of each prompt in a preview, in characters.
pub const PREVIEW_CHARS: usize = 1_000;

/// A batch: a preview until it is started, then its jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub id: BatchId,
    pub project: ProjectId,
    pub author: String,
    /// The prompt template.
    pub text: String,
    pub created_at: Timestamp,
    /// When it was confirmed; nothing is queued before that.
    pub started_at: Option<Timestamp>,
    pub total: u32,
    /// Prompts that were sent, whatever the outcome.
    pub sent: u32,
    /// Prompts still in the queue.
    pub waiting: u32,
    /// When the last queued prompt is expected to be sent; before the start, when it would be.
    pub expected_end: Option<Timestamp>,
    /// The median time of a job, in milliseconds; omitted once the batch was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_millis: Option<i64>,
    /// Each prompt in the order of the lines, truncated; empty once the batch was started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preview: Vec<String>,
    /// What looks like a placeholder and is still in a prompt of the preview; at most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfilled: Vec<String>,
    /// Its jobs as in lists; empty before the batch was started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Job>,
}

/// The initial values of the batch form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchForm {
    pub intent: IntentId,
    pub text: String,
    pub values: String,
    /// Why the submitted text could not become a batch.
    pub problem: Option<String>,
}

/// One prompt of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The line number, from 1.
    pub line: usize,
    pub prompt: String,
    /// The pages it is about: its first value, if that is a page.
    pub paths: Vec<String>,
}

/// The prompts that `list` makes of `text`, or an error message with the line number. Nothing longer than `most`
/// characters is made.
pub fn entries(text: &str, list: &str, most: usize) -> Result<Vec<Entry>, String> {
    let template = Parsed::of(text);
    let (hasher, mut seen) = (RandomState::new(), HashMap::new());
    let mut entries: Vec<Entry> = Vec::new();
    for line in lines(&template, list)? {
        let Line { number, columns } = line?;
        let length = template.filled_chars(&columns);
        if length > most {
            return Err(format!(
                "Line {number}: The prompt has {length} characters; at most {most} can be sent. Shorten it."
            ));
        }
        let prompt = template.filled(&columns);
        let earlier = seen.insert(hasher.hash_one(&prompt), entries.len());
        if earlier.is_some_and(|earlier: usize| entries[earlier].prompt == prompt) {
            return Err(format!("Line {number} repeats an earlier line."));
        }
        let is_page = template.names[0] == "page" || columns[0].starts_with('/');
        let paths = is_page.then(|| columns[0].to_owned()).into_iter().collect();
        entries.push(Entry { line: number, prompt, paths });
    }
    if entries.is_empty() {
        return Err("The list of values is empty. Write one value per line.".to_owned());
    }
    Ok(entries)
}

/// The beginning of each prompt of a batch that [`entries`] accepted.
pub fn preview(text: &str, list: &str) -> Vec<String> {
    let template = Parsed::of(text);
    let lines = lines(&template, list).into_iter().flatten().filter_map(Result::ok);
    let prompts = lines.map(|line| match template.beginning(&line.columns, PREVIEW_CHARS) {
        (prompt, true) => prompt,
        (beginning, false) => beginning + "…",
    });
    prompts.collect()
}

/// What looks like a placeholder in the prompts of a batch that [`entries`] accepted, at most [`NAMED`]: the text has
/// none that the list does not fill, except other spellings, but the values may.
pub fn unfilled(text: &str, list: &str) -> Vec<String> {
    let template = Parsed::of(text);
    let first = lines(&template, list).into_iter().flatten().find_map(Result::ok);
    let first = first.map(|line| template.beginning(&line.columns, usize::MAX).0).unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for name in unfilled::unfilled(&first).into_iter().chain(unfilled::unfilled(list)) {
        if found.len() < NAMED && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

/// A line of the list, with one value for each placeholder.
struct Line<'a> {
    /// From 1.
    number: usize,
    columns: Vec<&'a str>,
}

/// The lines of the list that are not empty, each valid or an error message.
fn lines<'a>(
    template: &'a Parsed,
    list: &'a str,
) -> Result<impl Iterator<Item = Result<Line<'a>, String>>, String> {
    let names = &template.names;
    if names.is_empty() {
        return Err(
            "The text has no placeholder such as {{page}}, so every job would be the same.".to_owned()
        );
    }
    let lines = list.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    Ok(lines.enumerate().map(|(count, (at, line))| {
        let number = at + 1;
        if count >= BATCH_MAX_JOBS {
            return Err(format!("Line {number} is one too many: a batch has at most {BATCH_MAX_JOBS} jobs."));
        }
        let columns = columns(line, names.len());
        if columns.len() != names.len() || columns.contains(&"") {
            return Err(format!(
                "Line {number} needs {}, separated by tabs or commas: {}.",
                if names.len() == 1 { "one value".to_owned() } else { format!("{} values", names.len()) },
                names.join(", ")
            ));
        }
        Ok(Line { number, columns })
    }))
}

fn columns(line: &str, count: usize) -> Vec<&str> {
    let separator = if line.contains('\t') { '\t' } else { ',' };
    match count {
        1 => vec![line],
        _ => line.split(separator).map(str::trim).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_becomes_a_prompt() {
        let made = entries("Check {{page}}.", "/a\n\n  /b, c \n", 99).unwrap_or_else(|why| panic!("{why}"));
        let made: Vec<_> = made
            .iter()
            .map(|entry| (entry.line, entry.prompt.as_str(), entry.paths.first().map(String::as_str)))
            .collect();
        assert_eq!(made, [(1, "Check /a.", Some("/a")), (3, "Check /b, c.", Some("/b, c"))]);
    }

    #[test]
    fn several_placeholders_take_columns_in_the_order_they_stand() {
        let text = "{{tone}}: {{name}} and {{tone}}";
        let made =
            entries(text, "calm, Ada\nloud\tBob, the second", 99).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(made[0].prompt, "calm: Ada and calm");
        assert_eq!(made[1].prompt, "loud: Bob, the second and loud");
        assert!(made[0].paths.is_empty());
    }

    #[test]
    fn a_list_is_taken_as_a_whole_or_its_line_is_named() {
        let wrong = |text: &str, list: &str| entries(text, list, 40).err().unwrap_or_default();
        assert!(wrong("no place", "/a").contains("{{page}}"));
        assert!(wrong("{{a}} {{b}}", "x,y\nx").starts_with("Line 2 needs 2 values"));
        assert!(wrong("{{a}} {{b}}", "x,y\nx,").starts_with("Line 2 needs"));
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
