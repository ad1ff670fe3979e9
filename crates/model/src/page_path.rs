//! The paths of documentation pages that a job is about: typed into a form, or found in its prompt. Pure. The caller checks
//! whether a found path is a page of the project: `POST /v3/regions` contains a path too. Paths stay as they are written, with or
//! without a slash at the end: `store::page_views::known_pages` decides which page they mean.
//!
//! In a prompt, a path is a word that begins with a slash and a letter or digit: `/guides/quickstart`. It begins at the start
//! of the text, after whitespace, or after an opening quote, bracket or backtick. It ends before the next of those, and before
//! trailing punctuation. These words are not paths: with characters that page paths never have (`/users/{id}`, `/*`), without a
//! letter (`/2`), with `..` (`/a/../b`), or in a system directory (`/usr/bin/env`). A percent-encoded path counts as its decoded form.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use crate::error::BadInput;
use crate::url_encoding::decoded;

/// The longest path of a page, in characters.
pub const PATH_MAX_CHARS: usize = 500;
/// The most pages of a job.
pub const PATHS_MAX: usize = 50;

/// A change of the pages of jobs.
#[derive(Debug, Clone, Copy)]
pub enum PageChange {
    Add,
    Remove,
}

/// First path segments of operating systems.
const OF_A_MACHINE: [&str; 8] = ["bin", "etc", "opt", "proc", "sbin", "tmp", "usr", "var"];

/// Delimiters of a path, besides whitespace and [`INVISIBLE`] without the [`JOINERS`].
const QUOTES: &str = "`'\"“”‘’„«»()[]";

/// Characters without a width that text from other pages has around a path.
const INVISIBLE: [char; 7] =
    ['\u{200b}', '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{2060}', '\u{feff}'];

/// Those that words of some languages contain.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

/// A comma within a path, in a text of several paths.
const COMMA: &str = "%2C";

/// The pages of a job: paths without duplicates, at most [`PATHS_MAX`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages(Vec<String>);

impl Pages {
    /// Those of a stored job. They were parsed before they were stored.
    pub fn stored(paths: Vec<String>) -> Self {
        Self(paths)
    }

    /// Each of these paths, which may contain commas. Stops at the first page above the limit.
    pub fn of_each(typed: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, PathsError> {
        let mut paths = Vec::new();
        for typed in typed {
            if let Some(path) = typed_one(typed.as_ref())? {
                add(&mut paths, path);
            }
            if paths.len() > PATHS_MAX {
                return Err(PathsError::TooMany);
            }
        }
        Ok(Self(paths))
    }

    /// What `page` returns for each of them.
    pub fn map(&self, page: impl Fn(&str) -> Option<String>) -> Self {
        let mut paths = Vec::with_capacity(self.len());
        self.iter().filter_map(|path| page(path)).for_each(|path| add(&mut paths, path));
        Self(paths)
    }
}

impl Deref for Pages {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl From<Pages> for Vec<String> {
    fn from(pages: Pages) -> Self {
        pages.0
    }
}

/// Why the typed pages are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathsError {
    TooMany,
    /// One is too long or contains a control character.
    NotAPath,
}

impl BadInput for PathsError {}

impl std::error::Error for PathsError {}

impl fmt::Display for PathsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "A job can be about at most {PATHS_MAX} pages."),
            Self::NotAPath => {
                write!(f, "A page’s path has at most {PATH_MAX_CHARS} characters, and no control characters.")
            }
        }
    }
}

/// Parses the pages of a form field, separated by commas or line ends, as [`field`] writes them. Stops at the first page above
/// the limit.
pub fn typed(text: &str) -> Result<Pages, PathsError> {
    let mut paths = Vec::new();
    for typed in text.split([',', '\n']) {
        if let Some(path) = typed_one(&with_commas(typed))? {
            add(&mut paths, path);
        }
        if paths.len() > PATHS_MAX {
            return Err(PathsError::TooMany);
        }
    }
    Ok(Pages(paths))
}

/// The text of a form field with these pages.
pub fn field(paths: &[String]) -> String {
    paths.iter().map(|path| in_field(path)).collect::<Vec<_>>().join(", ")
}

/// A page in a text of several ones.
pub fn in_field(path: &str) -> String {
    path.replace(',', COMMA)
}

/// A text written with [`in_field`], with its commas.
pub fn with_commas(text: &str) -> String {
    text.replace(COMMA, ",").replace("%2c", ",")
}

/// Parses the text as one page, which may contain commas; none if it is empty.
pub fn single(text: &str) -> Result<Pages, PathsError> {
    Ok(Pages(typed_one(text)?.into_iter().collect()))
}

/// Parses one page of a form field; `None` if the text is empty. `/` is the front page.
pub fn typed_one(text: &str) -> Result<Option<String>, PathsError> {
    let typed = text.trim_matches(|c: char| c.is_whitespace() || INVISIBLE.contains(&c));
    if readable(typed).chars().count() > PATH_MAX_CHARS || typed.chars().any(char::is_control) {
        return Err(PathsError::NotAPath);
    }
    Ok(Some(written(typed)).filter(|path| path != "/" || typed.starts_with('/')))
}

/// The path without percent-encoding; as it is written if another page would have the decoded form.
pub fn readable(path: &str) -> Cow<'_, str> {
    let decoded = decoded(path);
    let slashes = |text: &str| text.matches('/').count();
    let is_another = decoded.contains(|c: char| c.is_control() || "%?#".contains(c));
    if is_another || slashes(&decoded) != slashes(path) { Cow::Borrowed(path) } else { decoded }
}

/// `text` with the path of each published page instead of its URL, as [`in_field`] writes it. `site`: the URL of the published pages.
pub fn paths_of_urls<'a>(text: &'a str, site: Option<&str>) -> Cow<'a, str> {
    let site = site.map(|site| without_scheme(site).to_ascii_lowercase());
    let Some(site) = site.filter(|site| !site.is_empty()) else { return Cow::Borrowed(text) };
    // Its ASCII letters do not change the positions.
    let lower = text.to_ascii_lowercase();
    let (mut paths, mut rest) = (String::new(), 0);
    for (at, _) in lower.match_indices(&site) {
        let (before, after) = (&lower[rest.min(at)..at], &lower[at + site.len()..]);
        let before = ["https://", "http://"].iter().find_map(|it| before.strip_suffix(it)).unwrap_or(before);
        let ends = |c: char| ends_url(c) || c == ',' || JOINERS.contains(&c);
        if at < rest
            || !(before.is_empty() && rest == 0 || before.ends_with(ends))
            || !(after.is_empty() || after.starts_with(|c| ends(c) || "/?#".contains(c)))
        {
            continue;
        }
        let from = at + site.len();
        let has_path = after.starts_with(['/', '?', '#']);
        let until = from + if has_path { path_of_url(after, &site) } else { 0 };
        // Markdown has a URL between these.
        let is_framed = before.ends_with('<') && lower[until..].starts_with('>');
        let kept = before.len() - usize::from(is_framed);
        let space = if is_framed { " " } else { "" };
        let slash = if after.starts_with('/') { "" } else { "/" };
        paths.extend([&text[rest..rest + kept], space, slash, &in_field(&text[from..until]), space]);
        rest = until + usize::from(is_framed);
    }
    if rest == 0 { Cow::Borrowed(text) } else { Cow::Owned(paths + &text[rest..]) }
}

/// The length of the path at the beginning of `text`, after a site. A comma is part of it, except at its end or before another path or URL.
fn path_of_url(text: &str, site: &str) -> usize {
    let end = text.find(ends_url).unwrap_or(text.len());
    let separates = |(at, _): &(usize, &str)| {
        let next = &text[at + 1..end];
        next.is_empty() || ["/", ",", "http", site].iter().any(|start| next.starts_with(start))
    };
    text[..end].match_indices(',').find(separates).map_or(end, |(at, _)| at)
}

fn ends_url(c: char) -> bool {
    splits(c) || c == '<' || c == '>'
}

/// Whether a path ends before this character.
fn splits(c: char) -> bool {
    c.is_whitespace() || QUOTES.contains(c) || (INVISIBLE.contains(&c) && !JOINERS.contains(&c))
}

/// A path as it is stored if no page of the project has it: without a slash at the end.
pub fn without_slash(path: &str) -> String {
    format!("/{}", path.trim_matches('/'))
}

/// The comma-separated `paths` with `new` instead of `old`. Appends `new` if `old` is missing; only removes `old` if `new` is
/// empty.
pub fn replaced(paths: &str, old: &str, new: &str) -> String {
    let (old, new) = (&*in_field(old), &*in_field(new));
    let mut paths: Vec<&str> = paths.split(',').map(str::trim).filter(|path| !path.is_empty()).collect();
    match paths.iter().position(|path| !old.is_empty() && *path == old) {
        Some(at) => paths[at] = new,
        None if paths.contains(&new) => (),
        None => paths.push(new),
    }
    paths.retain(|path| !path.is_empty());
    paths.join(", ")
}

/// The paths mentioned in `prompt`, the first [`PATHS_MAX`].
pub fn found_in(prompt: &str) -> Pages {
    let mut paths = Vec::new();
    for path in prompt.split(splits).filter_map(as_page) {
        add(&mut paths, path);
        if paths.len() == PATHS_MAX {
            break;
        }
    }
    Pages(paths)
}

/// The words of a prompt that may have a path. They are a shorter text, in which [`found_in`] finds the same paths.
pub fn words_with_a_path(prompt: &str) -> String {
    prompt.split_whitespace().filter(|word| word.contains('/')).collect::<Vec<_>>().join(" ")
}

/// The pages of a job: first those typed, then those found in its prompt.
pub fn of_job(typed: Pages, found: Pages) -> Pages {
    let Pages(mut paths) = typed;
    for path in found.0 {
        if paths.len() < PATHS_MAX {
            add(&mut paths, path);
        }
    }
    Pages(paths)
}

/// A path with one leading slash, without query and fragment.
fn written(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or(path).trim();
    let inside = path.trim_start_matches('/');
    let end = if inside.ends_with('/') { "/" } else { "" };
    format!("/{}{end}", inside.trim_end_matches('/'))
}

fn without_scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

fn as_page(word: &str) -> Option<String> {
    let inside =
        word.trim_start_matches(JOINERS).strip_prefix('/').filter(|inside| !inside.starts_with('/'))?;
    let path = written(inside.trim_end_matches(|c: char| ".,;:!?…*_".contains(c) || JOINERS.contains(&c)));
    let plain = !path.contains(|c: char| c.is_control() || "{}<>|\\*$^=@,;:…".contains(c));
    let read = readable(&path);
    let inside = &read[1..];
    let of_a_machine = inside
        .split_once('/')
        .is_some_and(|(first, _)| OF_A_MACHINE.contains(&first.to_ascii_lowercase().as_str()));
    let is_a_page = plain
        && inside.starts_with(|c: char| is_letter(c) || c.is_ascii_digit())
        && inside.contains(is_letter)
        && !inside.trim_end_matches('/').split('/').any(|part| part.is_empty() || part == "..")
        && !of_a_machine
        && read.chars().count() <= PATH_MAX_CHARS;
    is_a_page.then_some(path)
}

/// Every visible character that is not ASCII counts: the browser needs no table of Unicode's letters.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || !(c.is_ascii() || INVISIBLE.contains(&c))
}

fn add(paths: &mut Vec<String>, path: String) {
    if !paths.contains(&path) {
        paths.push(path);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn path_of_a_template_follows_its_field() {
        assert_eq!(replaced("", "", "/a"), "/a");
        assert_eq!(replaced("/x, /a", "/a", "/ab"), "/x, /ab");
        assert_eq!(replaced("/x,/y", "", "/a"), "/x, /y, /a");
        assert_eq!(replaced("/x, /a", "/a", ""), "/x");
        assert_eq!(replaced("/x, /a", "", "/a"), "/x, /a");
    }

    #[test]
    fn paths_are_found_in_a_prompt() {
        let prompt = "/start: see `/guides/quickstart`, (/api/auth/), “/über/uns”. Then /faq?tab=2#top and '/a-b_c.d'!";
        assert_eq!(
            *found_in(prompt),
            ["/start", "/guides/quickstart", "/api/auth/", "/über/uns", "/faq", "/a-b_c.d"]
        );
        assert_eq!(*found_in("Same /a twice: /a, and /a#x, and /a/"), ["/a", "/a/"], "they may be two pages");
        assert_eq!(*found_in("\u{200b}/a\u{200b} and \u{feff}/b"), ["/a", "/b"]);
        assert_eq!(*found_in("[/linked](/linked/to)"), ["/linked", "/linked/to"]);
    }

    #[test]
    fn text_that_is_not_a_path_is_ignored() {
        for prompt in [
            "https://example.com/guides/a and http://x/y",
            "and/or, w/o, 1/2, /2, /, //cdn/x, /-",
            "</textarea><script> <br />",
            "/users/{id} {{page}} /*.md /a/../b /usr/bin/env /etc/passwd C:\\x",
            "",
        ] {
            assert_eq!(*found_in(prompt), [""; 0], "{prompt}");
        }
        assert_eq!(*found_in(&format!("/{}", "x".repeat(PATH_MAX_CHARS))), [""; 0]);
    }

    #[test]
    fn pages_of_a_job_are_limited_to_50() {
        let many: String = (0..80).map(|n| format!("/page-{n} ")).collect();
        assert_eq!(found_in(&many).len(), PATHS_MAX);
        let of_job = of_job(Pages(vec!["/typed".to_owned()]), found_in(&many));
        assert_eq!((of_job.len(), of_job[0].as_str()), (PATHS_MAX, "/typed"));
    }

    #[test]
    fn path_with_a_comma_is_one_page() {
        let paths = ["/a,b".to_owned(), "/c".to_owned()];
        assert_eq!(field(&paths), "/a%2Cb, /c");
        assert_eq!(typed(&field(&paths)).as_deref(), Ok(&paths[..]));
        assert_eq!(Pages::of_each(&paths).as_deref(), Ok(&paths[..]));
        assert_eq!(replaced("/x, /a", "/a", "/a,b"), "/x, /a%2Cb");
        assert_eq!(replaced("/x, /a%2Cb", "/a,b", ""), "/x");
    }

    #[test]
    fn url_of_a_published_page_is_its_path() {
        let site = Some("https://docs.example.com/en");
        for (text, paths) in [
            ("https://docs.example.com/en/a/", "/a/"),
            ("See http://Docs.Example.com/en/a?x#y, (docs.example.com/en/b)", "See /a?x#y, (/b)"),
            ("https://docs.example.com/en", "/"),
            ("https://docs.example.com/en/a,https://docs.example.com/en/b", "/a,/b"),
            ("\u{200b}https://docs.example.com/en/ä\u{200b}", "\u{200b}/ä\u{200b}"),
        ] {
            assert_eq!(paths_of_urls(text, site), paths, "{text}");
        }
        for text in [
            "https://docs.example.com/de/a",
            "https://docs.example.com/english",
            "https://x.example/?u=https://docs.example.com/en/a",
            "https://notdocs.example.com/en/a",
            "/a",
        ] {
            assert_eq!(paths_of_urls(text, site), text);
            assert_eq!(paths_of_urls(text, None), text);
        }
    }

    #[test]
    fn encoded_path_of_a_published_page_is_found_in_a_prompt() {
        let site = Some("https://docs.example.com/en");
        let found = |prompt: &str| found_in(&paths_of_urls(prompt, site)).join(" ");
        assert_eq!(found("Fix https://docs.example.com/en/%C3%BCber/."), "/%C3%BCber/");
        // Nine encoded characters each.
        let long = "%E3%83%9A".repeat(PATH_MAX_CHARS - 1);
        assert_eq!(found(&format!("Fix https://docs.example.com/en/{long}, please")), format!("/{long}"));
        assert_eq!(typed_one(&long), Ok(Some(format!("/{long}"))));
        assert_eq!(found(&format!("Fix https://docs.example.com/en/{long}%E3%83%9A")), "");
        assert_eq!(typed_one(&format!("/{long}%E3%83%9A")), Err(PathsError::NotAPath));
        assert_eq!(found("See /usr%2Fbin, /%75sr/bin, /a/%2E%2E/b and /%32"), "/usr%2Fbin");
        for (path, read) in [
            ("/%C3%BCber", "/\u{fc}ber"),
            ("/a%2Cb", "/a,b"),
            ("/a%2Fb", "/a%2Fb"),
            ("/100%25", "/100%25"),
            ("/a%3Fb", "/a%3Fb"),
            ("/a%00", "/a%00"),
            ("/%FF", "/%FF"),
        ] {
            assert_eq!(readable(path), read);
        }
    }

    #[test]
    fn joiners_are_part_of_words() {
        let (persian, hindi) = ("/\u{645}\u{6cc}\u{200c}\u{62e}", "/\u{915}\u{94d}\u{200d}\u{937}");
        let prompt = format!("Fix \u{200d}{persian}\u{200c}, `{hindi}\u{200d}` and /a\u{2060}b");
        assert_eq!(*found_in(&prompt), [persian, hindi, "/a"]);
    }

    #[test]
    fn url_between_angle_brackets_is_a_page() {
        let site = Some("https://docs.example.com/en");
        let found = |prompt: &str| found_in(&paths_of_urls(prompt, site)).join(" ");
        assert_eq!(found("Fix <https://docs.example.com/en/a> and <docs.example.com/en/b>."), "/a /b");
        assert_eq!(
            typed(&paths_of_urls("<https://docs.example.com/en/a>", site)).as_deref(),
            Ok(&["/a".to_owned()][..])
        );
        for prompt in
            ["/users/<id>", "https://docs.example.com/en/users/<id>", "<https://docs.example.com/en/a b"]
        {
            assert_eq!(found(prompt), "", "{prompt}");
        }
    }

    #[test]
    fn comma_within_a_pasted_url_is_part_of_its_path() {
        let site = Some("https://docs.example.com/en");
        for (text, paths) in [
            ("https://docs.example.com/en/a,b", "/a,b"),
            ("https://docs.example.com/en/a,b,HTTPS://docs.example.com/en/c,d", "/a,b /c,d"),
            ("https://docs.example.com/en/a,b,docs.example.com/en/c,/d, e,f", "/a,b /c /d /e /f"),
            ("https://docs.example.com/en/a,", "/a"),
            ("https://docs.example.com/en/a?x=1,2", "/a"),
            ("https://docs.example.com/en,b", "/ /b"),
            ("/a,b", "/a /b"),
        ] {
            let typed = typed(&paths_of_urls(text, site)).map(|paths| paths.join(" "));
            assert_eq!(typed.as_deref(), Ok(paths), "{text}");
        }
        assert_eq!(*found_in(&paths_of_urls("Fix https://docs.example.com/en/a,b, now", site)), ["/a%2Cb"]);
    }

    proptest! {
        #[test]
        fn words_with_a_path_have_all_paths_of_a_prompt(
            pieces in proptest::collection::vec(
                prop_oneof![
                    Just("https://"), Just("docs.example.com"), Just("/en"), Just("/a"), Just("/%C3%BC"), Just("b"), Just("<"), Just(">"),
                    Just(","), Just("."), Just("?x"), Just("#y"), Just(" "), Just("\n"), Just("\u{a0}"), Just("\u{200b}"), Just("\u{200d}"),
                    Just("(`"), Just("\u{201d}")
                ],
                0..30,
            )
        ) {
            let prompt = pieces.concat();
            for site in [None, Some("https://docs.example.com"), Some("https://docs.example.com/en")] {
                let found = |prompt: &str| found_in(&paths_of_urls(prompt, site));
                prop_assert_eq!(found(&words_with_a_path(&prompt)), found(&prompt));
            }
        }
    }

    #[test]
    fn typed_pages_are_normalized() {
        let paths = typed(" /a, /b/\r\n\n/c?x=1#y ,guides/d, /a, /,?x").map(|paths| paths.join(" "));
        assert_eq!(paths.as_deref(), Ok("/a /b/ /c /guides/d /"));
        for (text, path) in [
            (" /#top", Some("/")),
            ("a, b//", Some("/a, b/")),
            ("\u{200b} /a/\u{feff}", Some("/a/")),
            ("//", Some("/")),
            ("", None),
            ("#top", None),
            ("\u{200b}", None),
        ] {
            assert_eq!(typed_one(text).as_ref().map(Option::as_deref), Ok(path), "{text}");
        }
        let many: String = (0..=PATHS_MAX).map(|n| format!("/{n},")).collect();
        assert_eq!(typed(&many), Err(PathsError::TooMany));
        // Text after the first page above the limit is not parsed.
        assert_eq!(typed(&format!("{many}/a\u{7}")), Err(PathsError::TooMany));
        assert_eq!(typed("/a\u{7}"), Err(PathsError::NotAPath));
        assert_eq!(typed(&"x".repeat(PATH_MAX_CHARS + 1)), Err(PathsError::NotAPath));
    }
}
