//! How alike two prompts are: the share of their runs of three words that both have. Pure, and of bounded cost.
//!
//! Case, blanks and punctuation do not count. In scripts that put no blanks between words, each character is a word.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// From this share on, two prompts ask for nearly the same.
const NEARLY_THE_SAME: f64 = 0.6;

/// How much of a prompt is looked at, in characters.
pub const COMPARED_CHARS: usize = 8_192;

/// Words that are looked at together.
const RUN: usize = 3;

/// A prompt as far as likeness goes.
pub struct Gist {
    runs: BTreeSet<u64>,
}

impl Gist {
    pub fn of(prompt: &str) -> Self {
        let words = words(prompt);
        let mut runs: BTreeSet<u64> = words.windows(RUN).map(hash).collect();
        if runs.is_empty() && !words.is_empty() {
            runs.insert(hash(&words));
        }
        Self { runs }
    }

    /// Whether the two ask for nearly the same. Nothing is like an empty prompt.
    pub fn is_like(&self, other: &Self) -> bool {
        let (few, many) = if self.runs.len() < other.runs.len() { (self, other) } else { (other, self) };
        // The share cannot be more than this, and this costs nothing.
        if few.runs.is_empty() || (few.runs.len() as f64) < NEARLY_THE_SAME * many.runs.len() as f64 {
            return false;
        }
        let both = few.runs.intersection(&many.runs).count();
        let either = few.runs.len() + many.runs.len() - both;
        both as f64 >= NEARLY_THE_SAME * either as f64
    }
}

fn words(prompt: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in prompt.chars().take(COMPARED_CHARS) {
        if !c.is_alphanumeric() {
            words.push(String::new());
        } else if stands_alone(c) {
            words.extend([c.to_string(), String::new()]);
        } else if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Characters of Chinese, Japanese and Thai.
fn stands_alone(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0E7F | 0x2E80..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn hash(words: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(one: &str, other: &str) -> bool {
        let (one, other) = (Gist::of(one), Gist::of(other));
        assert_eq!(one.is_like(&other), other.is_like(&one));
        one.is_like(&other)
    }

    #[test]
    fn case_blanks_and_punctuation_do_not_count() {
        assert!(alike("Fix the typos, please!", "fix   THE\n“typos” please"));
        assert!(alike("Fix", "fix."));
    }

    #[test]
    fn a_few_other_words_are_nearly_the_same_and_another_task_is_not() {
        let text = "Rewrite the quickstart so that a newcomer sends a first request in under five minutes";
        assert!(alike(text, &format!("{text}, thanks")));
        assert!(alike(text, &text.replace("five", "ten")));
        assert!(!alike(text, "Rewrite the glossary so that every term has one sentence and an example"));
        assert!(!alike(text, "Fix typos"));
        assert!(!alike("", "") && !alike("…", "!") && !alike("a", ""));
    }

    #[test]
    fn scripts_without_blanks_are_compared_too() {
        assert!(alike("クイックスタートを書き直してください", "クイックスタートを書き直してください。"));
        assert!(!alike("クイックスタートを書き直してください", "用語集を整理してください"));
        assert!(alike("Проверь ссылки в руководстве", "проверь ссылки в руководстве!"));
    }

    #[test]
    fn the_longest_prompts_cost_no_more_than_their_beginning() {
        let long: String = (0..40_000).map(|n| format!("word{n} ")).collect();
        assert!(Gist::of(&long).runs.len() < COMPARED_CHARS);
        assert!(alike(&long, &format!("{long} and an end")));
    }
}
