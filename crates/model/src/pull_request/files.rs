//! Which pages of the documentation a pull request changes. A repository has files, the platform has pages: `docs/guides/auth.mdx` is the
//! page `/guides/auth`.

use std::collections::{HashMap, HashSet};

/// Known pages, to find those of files.
pub struct PagesOfFiles {
    /// Their paths, by the path that a file may have.
    pages: HashMap<String, String>,
    /// Folders of locales that pages begin with, such as `es` of `/es/guides`.
    locales: HashSet<String>,
}

/// The extensions of files that are pages.
const EXTENSIONS: [&str; 3] = [".mdx", ".md", ".markdown"];
/// The name of a file that is the page of its folder.
const INDEX: &str = "index";

/// The pages that a file may be, the longest path first: folders of the repository are left out from its beginning.
pub fn candidates(file: &str) -> Vec<String> {
    let parts = parts(file);
    (0..parts.len()).flat_map(|from| paths(&parts[from..])).collect()
}

/// The folders of a file that may be named after a locale.
pub fn locales(file: &str) -> Vec<String> {
    parts(file).into_iter().filter(|folder| is_locale(folder)).map(str::to_owned).collect()
}

impl PagesOfFiles {
    /// `pages`: the pages that exist, by the one of [`candidates`] that means it. `locales`: those of [`locales`] that a page begins with.
    pub const fn new(pages: HashMap<String, String>, locales: HashSet<String>) -> Self {
        Self { pages, locales }
    }

    /// The page of a file, if one is known. The longest match counts. A folder of a locale that no page has in its path is left out too.
    pub fn page(&self, file: &str) -> Option<&str> {
        let parts = parts(file);
        for from in 0..parts.len() {
            if let Some(page) = paths(&parts[from..]).iter().find_map(|path| self.pages.get(path)) {
                return Some(page);
            }
            // A translation is not the page that it translates.
            if self.locales.contains(parts[from]) {
                return None;
            }
        }
        None
    }
}

/// The folders and the name of a file without its extension; empty if it is no page.
fn parts(file: &str) -> Vec<&str> {
    let name = EXTENSIONS.iter().find_map(|extension| file.strip_suffix(extension));
    let name = name.map(|name| name.trim_start_matches('/')).filter(|name| !name.is_empty());
    name.map(|name| name.split('/').collect()).unwrap_or_default()
}

/// The path with exactly these parts, and that of its folder if the file is its index.
fn paths(parts: &[&str]) -> Vec<String> {
    let path = |parts: &[&str]| ["/", &parts.join("/")].concat();
    let of_folder = parts.split_last().filter(|(name, _)| **name == INDEX).map(|(_, folders)| path(folders));
    std::iter::once(path(parts)).chain(of_folder).collect()
}

/// Whether a folder may be named after a locale, such as `es`, `pt-BR` or `zh_Hans`.
fn is_locale(folder: &str) -> bool {
    let (language, region) = folder.split_once(['-', '_']).unwrap_or((folder, "xx"));
    let is_word = |word: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    is_word(language, 2..=3)
        && language.bytes().all(|byte| byte.is_ascii_lowercase())
        && is_word(region, 2..=4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_the_page_with_the_longest_common_path() {
        let known = [
            "/",
            "/quickstart",
            "/guides/auth",
            "/auth",
            "/guides",
            "/es/guides/auth",
            "/api-reference/jobs",
        ];
        let pages = PagesOfFiles::new(
            known.into_iter().map(|path| (path.to_owned(), path.to_owned())).collect(),
            std::iter::once("es".to_owned()).collect(),
        );
        for (file, page) in [
            ("quickstart.mdx", Some("/quickstart")),
            ("docs/guides/auth.mdx", Some("/guides/auth")),
            ("docs/guides/auth.md", Some("/guides/auth")),
            ("apps/web/docs/guides/index.mdx", Some("/guides")),
            ("guides/index.mdx", Some("/guides")),
            ("index.mdx", Some("/")),
            ("es/guides/auth.mdx", Some("/es/guides/auth")),
            // The default locale has a folder, but its pages have no prefix.
            ("en/guides/auth.mdx", Some("/guides/auth")),
            // The translation of a page that has no page of its own yet.
            ("es/quickstart.mdx", None),
            ("docs/es/quickstart.mdx", None),
            ("/quickstart.mdx", Some("/quickstart")),
            ("docs.json", None),
            ("images/quickstart.png", None),
            ("new-page.mdx", None),
            ("api-reference/jobs.mdx", Some("/api-reference/jobs")),
            ("", None),
            (".md", None),
        ] {
            assert_eq!(pages.page(file), page, "{file}");
            assert!(page.is_none_or(|page| candidates(file).contains(&page.to_owned())), "{file}");
        }
    }

    #[test]
    fn locales_of_a_file_are_its_folders() {
        assert_eq!(locales("docs/es/guides/auth.mdx"), ["es"]);
        assert_eq!(locales("docs/es.png"), Vec::<String>::new());
        assert_eq!(
            candidates("docs/guides/index.md"),
            ["/docs/guides/index", "/docs/guides", "/guides/index", "/guides", "/index", "/"]
        );
    }

    #[test]
    fn locale_is_recognized_by_its_form() {
        for folder in ["es", "pt-BR", "zh_Hans", "fil", "zh-CN"] {
            assert!(is_locale(folder), "{folder}");
        }
        for folder in ["guides", "Es", "a", "", "pt-", "api"] {
            assert_eq!(is_locale(folder), folder == "api", "{folder}");
        }
    }
}
