//! Recovery codes, for people who have lost their authenticator or passkey. Each is valid once.

use data_encoding::BASE32_NOPAD;

use super::token;

/// The number of codes per person.
const COUNT: usize = 10;
/// Characters of a code, of five bits each, and of a group of them.
const LENGTH: usize = 25;
const GROUP: usize = 5;

/// New codes in the form people see.
pub(crate) fn new_codes() -> Vec<String> {
    (0..COUNT).map(|_| new_code()).collect()
}

/// The stored hashes: 125 random bits need no salt.
pub(crate) fn hashes(codes: &[String]) -> Vec<String> {
    codes.iter().map(|code| token::hash(&super::written(code))).collect()
}

fn new_code() -> String {
    let random = BASE32_NOPAD.encode(&rand::random::<[u8; 16]>()).to_ascii_lowercase();
    let groups: Vec<&str> = (0..LENGTH / GROUP).map(|at| &random[at * GROUP..(at + 1) * GROUP]).collect();
    groups.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_codes_are_ten_and_distinct_in_any_spelling() {
        let codes = new_codes();
        let mut stored = hashes(&codes);
        stored.sort();
        stored.dedup();
        assert_eq!((codes.len(), stored.len(), codes[0].len()), (10, 10, 29));
        let typed = codes[0].to_uppercase().replace('-', " ");
        assert_eq!(token::hash(&super::super::written(&typed)), hashes(&codes)[0]);
    }
}
