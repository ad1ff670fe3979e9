//! The findings of `docket check`: printed line by line during the checks, or as one JSON document at the end.

use anyhow::bail;
use client::output::{in_one_line, print_json, print_line};
use serde::Serialize;

/// The result of a check, as a sentence. For a problem, it includes what to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Good(String),
    /// Docket works, but an administrator should know.
    Warning(String),
    Bad(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Ok,
    Warning,
    Failed,
}

#[derive(Serialize)]
struct Check {
    name: String,
    outcome: Outcome,
    sentence: String,
}

pub(super) struct Report {
    is_json: bool,
    checks: Vec<Check>,
}

impl Report {
    pub(super) fn new(is_json: bool) -> Self {
        Self { is_json, checks: Vec::new() }
    }

    pub(super) fn add(&mut self, name: impl Into<String>, finding: Finding) {
        let (outcome, sentence) = match finding {
            Finding::Good(sentence) => (Outcome::Ok, sentence),
            Finding::Warning(sentence) => (Outcome::Warning, sentence),
            Finding::Bad(sentence) => (Outcome::Failed, sentence),
        };
        let check = Check { name: name.into(), outcome, sentence };
        if !self.is_json {
            let begin = match outcome {
                Outcome::Ok => "ok     ",
                Outcome::Warning => "NOTE   ",
                Outcome::Failed => "FAILED ",
            };
            print_line(&in_one_line(&format!("{begin} {}: {}", check.name, check.sentence)));
        }
        self.checks.push(check);
    }

    /// # Errors
    /// If a check failed.
    pub(super) fn end(self) -> anyhow::Result<()> {
        let is_well = self.checks.iter().all(|check| check.outcome != Outcome::Failed);
        if self.is_json {
            let document = serde_json::json!({ "ok": is_well, "checks": self.checks });
            print_json(&serde_json::to_string_pretty(&document)?);
        }
        if is_well { Ok(()) } else { bail!("a check failed") }
    }
}

impl From<Result<String, String>> for Finding {
    fn from(outcome: Result<String, String>) -> Self {
        match outcome {
            Ok(good) => Self::Good(good),
            Err(bad) => Self::Bad(bad),
        }
    }
}
