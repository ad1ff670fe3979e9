//! The rules for usernames. Pure.

use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup};
use icu_properties::{CodePointMapData, CodePointSetData};
use unicode_security::MixedScript;

use crate::nfc::nfc;
use model::ParseError;
use model::name::is_plain;

/// The actor names in the audit log of events that no person caused.
const RESERVED: [&str; 2] = ["Docket", "command line"];

/// The punctuation allowed in a typed username.
const SIGNS: &str = "._-@+";

/// The maximum length of a username: that of an e-mail address, from a provider or a proxy.
const MAX_CHARS: usize = 254;
/// The maximum length of a typed username.
const TYPED_MAX_CHARS: usize = 64;

/// Parses the username of a new account, in NFC: 1 to 254 visible characters of one script, without spaces at the ends.
/// Names that look like a reserved name are refused.
pub fn parse(name: &str) -> Result<String, ParseError> {
    let name = nfc(name).into_owned();
    check(&name)?;
    if name.chars().any(|c| CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)) {
        return Err("A username has no invisible characters. Type it anew.".into());
    }
    if !name.as_str().is_single_script() {
        return Err(
            "A username has letters of one script, such as Latin or Cyrillic. Choose another one.".into()
        );
    }
    Ok(name)
}

/// Parses a typed username of a new account: like [`parse`], with at most 64 characters, and only letters, digits and a few signs. Names from a
/// provider or a proxy may have other characters.
pub fn parse_typed(name: &str) -> Result<String, ParseError> {
    if name.chars().count() > TYPED_MAX_CHARS {
        return Err("A username has 1 to 64 visible characters.".into());
    }
    let name = parse(name)?;
    let groups = [GeneralCategoryGroup::Letter, GeneralCategoryGroup::Mark, GeneralCategoryGroup::Number];
    let categories = CodePointMapData::<GeneralCategory>::new();
    let is_fine = |c: char| SIGNS.contains(c) || groups.iter().any(|group| group.contains(categories.get(c)));
    let is_typed = name.chars().all(is_fine);
    is_typed.then_some(name).ok_or_else(|| {
        "A username has letters, digits and the signs . _ - @ + only, and no spaces. For example, jane.doe.".into()
    })
}

/// Checks the name of an account that may exist, also from a version with other rules.
pub fn check(name: &str) -> Result<(), ParseError> {
    let seems = letters(name);
    if RESERVED.iter().any(|reserved| letters(reserved) == seems) {
        return Err("This username is reserved. Choose another one.".into());
    }
    check_form(name)
}

/// The skeleton of a name (UTS 39): two names with the same skeleton look the same.
pub fn skeleton(name: &str) -> String {
    unicode_security::skeleton(&nfc(name).to_lowercase()).collect()
}

/// Checks a name of the audit log: a username, or a reserved name.
pub fn check_form(name: &str) -> Result<(), ParseError> {
    let good = (1..=MAX_CHARS).contains(&name.chars().count()) && is_plain(name) && name.trim() == name;
    if good { Ok(()) } else { Err("A username has 1 to 254 visible characters.".into()) }
}

/// The visible letters of a name: without case, spaces, punctuation and accents, and with the Latin letter in place of
/// characters that look like it. Only the letters of the reserved names matter.
fn letters(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).filter_map(latin).collect()
}

/// The Latin letter that a character looks like; `None` for characters that are not visible as a letter.
fn latin(c: char) -> Option<char> {
    let like = match c {
        '0' | 'о' | 'ο' | 'ө' | 'օ' | 'ø' | 'ò'..='ö' | 'ō' | 'ŏ' | 'ő' | 'ơ' => 'o',
        '1'
        | '|'
        | 'ı'
        | 'і'
        | 'ι'
        | 'ì'..='ï'
        | 'ĩ'
        | 'ī'
        | 'ĭ'
        | 'į'
        | 'ӏ'
        | 'ł'
        | 'ĺ'
        | 'ļ'
        | 'ľ'
        | 'ŀ'
        | 'l'
        | 'i' => 'l',
        'с' | 'ϲ' | 'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
        'к' | 'κ' | 'ķ' | 'ĸ' => 'k',
        'е' | 'ё' | 'є' | 'ε' | 'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | '3' => 'e',
        'т' | 'τ' | 'ţ' | 'ť' | 'ŧ' | 'ț' => 't',
        'ԁ' | 'ď' | 'đ' | 'ɗ' => 'd',
        'м' | 'μ' | 'ṃ' => 'm',
        'а' | 'α' | 'à'..='å' | 'ā' | 'ă' | 'ą' | '4' | '@' => 'a',
        'п' | 'η' | 'ո' | 'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
        // Full-width letters, and the mathematical styles, which repeat both cases of the alphabet.
        'ａ'..='ｚ' => return latin(offset('a', c as u32 - 'ａ' as u32)),
        '\u{1D400}'..='\u{1D6A3}' => return latin(offset('a', (c as u32 - 0x1D400) % 26)),
        'ⓐ'..='ⓩ' => return latin(offset('a', c as u32 - 'ⓐ' as u32)),
        c if c.is_alphanumeric() => c,
        _ => return None,
    };
    Some(if like == 'i' { 'l' } else { like })
}

fn offset(from: char, by: u32) -> char {
    char::from_u32(from as u32 + by).unwrap_or(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::audit::Actor;

    #[test]
    fn typed_username_has_letters_digits_and_few_signs() {
        for fine in ["jane.doe", "jane_doe-2", "ada+docs@example.com", "Dörte", "Олег", "山田", "निशा"]
        {
            assert_eq!(parse_typed(fine).as_deref(), Ok(fine));
        }
        for odd in ["Jane Doe!", "Jane Doe", "jane!", "<b>", "a/b", "a\u{2028}b", "jane\u{ff01}", "☃", ""] {
            assert!(parse_typed(odd).is_err(), "{odd:?}");
        }
        assert!(
            parse_typed("Jane Doe!")
                .is_err_and(|message| message.to_string().contains("For example, jane.doe"))
        );
    }

    #[test]
    fn names_like_the_audit_logs_own_actors_are_refused() {
        for fine in
            ["olga", "docket fan", "Dock", "commander", "Dörte", "ada@example.com", "line", "Олег", "山田"]
        {
            assert_eq!(parse(fine).as_deref(), Ok(fine));
        }
        for reserved in [
            "Docket",
            "docket",
            "DOCKET",
            "Command Line",
            "command line",
            "command  line",
            "command-line",
            "commandline",
            "Command\u{a0}Line",
            " docket ",
            "d ocket",
            "Docket.",
            "D0cket",
            "Dоcket",
            "Dοcket",
            "Dосkеt",
            "Docкet",
            "dockét",
            "doc\u{301}ket",
            "Ｄｏｃｋｅｔ",
            "\u{1d403}\u{1d428}\u{1d41c}\u{1d424}\u{1d41e}\u{1d42d}",
            "ⓓⓞⓒⓚⓔⓣ",
            "command 1ine",
            "command |ine",
            "соmmаnd linе",
        ] {
            assert!(parse(reserved).is_err(), "{reserved}");
        }
        for actor in [Actor::docket(), Actor::command_line()] {
            assert!(parse(&actor.name).is_err() && check_form(&actor.name).is_ok(), "{}", actor.name);
        }
    }

    #[test]
    fn look_alike_names_share_a_skeleton_or_are_refused() {
        for hidden in ["ad\u{ad}min", "admin\u{fe0f}", "admin\u{e0061}", "ad\u{200d}min", "admin\u{3164}"] {
            assert!(parse(hidden).is_err_and(|error| error.to_string().contains("invisible")), "{hidden:?}");
        }
        for mixed in ["\u{430}dmin", "adm\u{456}n", "\u{3b1}dmin"] {
            assert!(parse(mixed).is_err_and(|error| error.to_string().contains("script")), "{mixed:?}");
        }
        for (one, other) in [("admin", "Admin"), ("olga", "o1ga"), ("\u{441}\u{430}\u{440}\u{430}", "capa")] {
            assert_eq!(skeleton(one), skeleton(other), "{one} and {other}");
        }
        assert_ne!(skeleton("olga"), skeleton("otto"));
        assert_eq!(parse("Do\u{308}rte").as_deref(), Ok("D\u{f6}rte"));
    }
}
