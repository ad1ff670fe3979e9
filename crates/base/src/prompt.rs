//! [`Prompt`]: a text that may be sent to the agent.

use thiserror::Error;

use crate::nfc::stored_text;
use model::error::BadInput;

/// A text that may be sent to the agent: not empty, normalized, and not longer than the limit when it was parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt(String);

/// Why a text cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PromptError {
    #[error("Write what the agent should do: the prompt is empty.")]
    Empty,
    #[error("The prompt contains a NUL character, which cannot be sent. Remove it.")]
    Nul,
    #[error("The prompt has {length} characters; Docket sends at most {most}. Shorten it.")]
    TooLong { length: usize, most: u32 },
}

impl BadInput for PromptError {}

impl Prompt {
    /// Parses a text as typed, of at most `most` characters.
    pub fn parse(text: &str, most: u32) -> Result<Self, PromptError> {
        let text = stored_text(text);
        if text.trim().is_empty() {
            return Err(PromptError::Empty);
        }
        if text.contains('\0') {
            return Err(PromptError::Nul);
        }
        let length = text.chars().count();
        if length > most as usize {
            return Err(PromptError::TooLong { length, most });
        }
        Ok(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Prompt> for String {
    fn from(prompt: Prompt) -> Self {
        prompt.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_length_counts_characters_of_any_script() {
        let prompt = |text: &str| Prompt::parse(text, 9);
        assert_eq!(prompt(" \r\n\t"), Err(PromptError::Empty));
        assert_eq!((prompt(""), prompt("a\0b")), (Err(PromptError::Empty), Err(PromptError::Nul)));
        let normalized = prompt("修正\r\nしてください");
        assert_eq!(normalized.as_ref().map(Prompt::as_str), Ok("修正\nしてください"));
        assert!(prompt(&"é".repeat(9)).is_ok() && prompt(&"e\u{301}".repeat(9)).is_ok());
        assert_eq!(prompt(&"é".repeat(10)), Err(PromptError::TooLong { length: 10, most: 9 }));
    }
}
