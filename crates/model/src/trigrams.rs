//! The similarity of two prompts: the Jaccard index of their word trigrams. Pure, with bounded cost.
//!
//! Case, whitespace and punctuation are ignored. In scripts without spaces between words, each character counts as a word.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::script::is_unspaced;

/// From this Jaccard index on, two prompts are similar.
const SIMILAR_FROM: f64 = 0.6;

/// The part of a prompt that is compared, in characters.
pub const COMPARED_CHARS: usize = 8_192;

const TRIGRAM_WORDS: usize = 3;

/// The word trigrams of a prompt.
pub struct Trigrams {
    hashes: BTreeSet<u64>,
}

impl Trigrams {
    pub fn of(prompt: &str) -> Self {
        let words = words(prompt);
        let mut hashes: BTreeSet<u64> = words.windows(TRIGRAM_WORDS).map(hash).collect();
        if hashes.is_empty() && !words.is_empty() {
            hashes.insert(hash(&words));
        }
        Self { hashes }
    }

    /// Whether the two are similar. An empty prompt is similar to nothing.
    pub fn is_similar(&self, other: &Self) -> bool {
        let (few, many) = if self.hashes.len() < other.hashes.len() { (self, other) } else { (other, self) };
        // The index cannot exceed this ratio, which is cheap to compute.
        if few.hashes.is_empty() || (few.hashes.len() as f64) < SIMILAR_FROM * many.hashes.len() as f64 {
            return false;
        }
        let both = few.hashes.intersection(&many.hashes).count();
        let either = few.hashes.len() + many.hashes.len() - both;
        both as f64 >= SIMILAR_FROM * either as f64
    }
}

fn words(prompt: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in prompt.chars().take(COMPARED_CHARS) {
        if !c.is_alphanumeric() {
            words.push(String::new());
        } else if is_unspaced(c) {
            words.extend([c.to_string(), String::new()]);
        } else if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn hash(words: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_similar(one: &str, other: &str) -> bool {
        let (one, other) = (Trigrams::of(one), Trigrams::of(other));
        assert_eq!(one.is_similar(&other), other.is_similar(&one));
        one.is_similar(&other)
    }

    #[test]
    fn case_blanks_and_punctuation_do_not_count() {
        assert!(are_similar("Fix the typos, please!", "fix   THE\n“typos” please"));
        assert!(are_similar("Fix", "fix."));
    }

    #[test]
    fn few_changed_words_are_similar_but_another_task_is_not() {
        let text = "Rewrite the quickstart so that a newcomer sends a first request in under five minutes";
        assert!(are_similar(text, &format!("{text}, thanks")));
        assert!(are_similar(text, &text.replace("five", "ten")));
        assert!(!are_similar(
            text,
            "Rewrite the glossary so that every term has one sentence and an example"
        ));
        assert!(!are_similar(text, "Fix typos"));
        assert!(!are_similar("", "") && !are_similar("…", "!") && !are_similar("a", ""));
    }

    #[test]
    fn scripts_without_blanks_are_compared_too() {
        assert!(are_similar(
            "クイックスタートを書き直してください",
            "クイックスタートを書き直してください。"
        ));
        assert!(!are_similar("クイックスタートを書き直してください", "用語集を整理してください"));
        assert!(are_similar("Проверь ссылки в руководстве", "проверь ссылки в руководстве!"));
    }

    #[test]
    fn only_the_beginning_of_a_long_prompt_is_compared() {
        let long: String = (0..40_000).map(|n| format!("word{n} ")).collect();
        assert!(Trigrams::of(&long).hashes.len() < COMPARED_CHARS);
        assert!(are_similar(&long, &format!("{long} and an end")));
    }
}
