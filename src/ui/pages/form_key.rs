//! The key of a prefilled form: the same for the same values, so that each has its own draft.

use sha2::{Digest, Sha256};

/// The number of characters of the digest in the key.
const CHARS: usize = 32;

/// The key of a form with these values; empty without any.
pub(super) fn form_key(values: &[(&str, &str)]) -> String {
    if values.is_empty() {
        return String::new();
    }
    let mut values = values.to_vec();
    values.sort_unstable();
    values.dedup();
    let mut digest = Sha256::new();
    for text in values.into_iter().flat_map(|(name, value)| [name, value]) {
        digest.update((text.len() as u64).to_be_bytes());
        digest.update(text);
    }
    let hex = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    hex[..CHARS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::id::FormKey;

    #[test]
    fn form_key_depends_on_each_value_but_not_on_their_order() {
        let key = form_key(&[("path", "/a"), ("template", "1")]);
        assert!(key.parse::<FormKey>().is_ok());
        assert_eq!(key, form_key(&[("template", "1"), ("path", "/a")]));
        for other in [vec![("path", "/a")], vec![("path", "/atemplate"), ("", "1")], vec![("path", "/b")]] {
            assert_ne!(key, form_key(&other));
        }
        assert_eq!(form_key(&[]), "");
    }
}
