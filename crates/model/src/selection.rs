//! The pages that a query covers: the whole project, one page, or everything below a folder. Pure.

use crate::ParseError;

/// A folder. The root contains every path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Without the trailing slash, so that the root is empty.
    name: String,
}

/// The pages whose views are summed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    Project,
    Page(String),
    Folder(Folder),
}

/// The direct entry of a folder for a path.
#[derive(Debug, PartialEq, Eq)]
pub enum FolderEntry<'a> {
    /// The page itself.
    Page,
    /// The path of a subfolder, without a trailing slash.
    Folder(&'a str),
}

impl Folder {
    /// Parses `/`, `/guides`, or `/guides/*` as in the rows of the table.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let name = text.strip_suffix("/*").unwrap_or(text);
        let name = name.strip_suffix('/').unwrap_or(name);
        if !text.starts_with('/') {
            return Err("A folder starts with a slash, such as /guides.".into());
        }
        Ok(Self { name: name.to_owned() })
    }

    /// Whether it contains every path.
    pub fn is_root(&self) -> bool {
        self.name.is_empty()
    }

    /// `path` relative to this folder; `None` if it is outside.
    fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        let below = path.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('/'));
        // A path without a leading slash belongs to the root, so that the root contains every view.
        below.or_else(|| (self.name.is_empty()).then_some(path))
    }

    pub fn contains(&self, path: &str) -> bool {
        self.below(path).is_some()
    }

    /// The direct entry of this folder for `path`; `None` if it is outside.
    pub fn entry_of<'a>(&self, path: &'a str) -> Option<FolderEntry<'a>> {
        let below = self.below(path)?;
        let nested = path.starts_with('/').then(|| below.find('/')).flatten();
        // A folder without a name could not be queried.
        let nested = nested.filter(|at| *at > 0);
        Some(
            nested
                .map_or(FolderEntry::Page, |at| FolderEntry::Folder(&path[..path.len() - below.len() + at])),
        )
    }

    /// The prefix of every path in it, except paths of the root without a slash.
    pub fn prefix(&self) -> String {
        format!("{}/", self.name)
    }
}

impl Selection {
    /// Parses an optional `path`: a page, or a folder as `/guides/*`; empty is the whole project.
    pub fn parse(path: Option<&str>) -> Result<Self, ParseError> {
        match path.unwrap_or_default() {
            "" => Ok(Self::Project),
            path if path.starts_with('/') && path.ends_with("/*") => Folder::parse(path).map(Self::Folder),
            path => Ok(Self::Page(path.to_owned())),
        }
    }

    pub fn contains(&self, path: &str) -> bool {
        match self {
            Self::Project => true,
            Self::Page(page) => page == path,
            Self::Folder(folder) => folder.contains(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(text: &str) -> Folder {
        Folder::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn all_spellings_of_a_folder_are_equal() {
        assert_eq!(folder("/guides"), folder("/guides/"));
        assert_eq!(folder("/guides"), folder("/guides/*"));
        assert_eq!(folder("/"), folder("/*"));
        assert!(Folder::parse("guides").is_err() && Folder::parse("*").is_err());
    }

    #[test]
    fn every_path_has_one_entry_in_the_root() {
        let root = folder("/");
        for (path, entry) in [
            ("/", FolderEntry::Page),
            ("/faq", FolderEntry::Page),
            ("/guides/", FolderEntry::Folder("/guides")),
            ("/guides/a", FolderEntry::Folder("/guides")),
            ("/guides/a/b", FolderEntry::Folder("/guides")),
            ("//x", FolderEntry::Page),
            ("///", FolderEntry::Page),
            ("guides/a", FolderEntry::Page),
            ("/é/ü", FolderEntry::Folder("/é")),
            ("", FolderEntry::Page),
        ] {
            assert_eq!(root.entry_of(path), Some(entry), "{path}");
        }
    }

    #[test]
    fn folder_contains_paths_with_its_name_and_a_slash() {
        let guides = folder("/guides");
        assert_eq!(guides.entry_of("/guides/a"), Some(FolderEntry::Page));
        assert_eq!(guides.entry_of("/guides/a/b"), Some(FolderEntry::Folder("/guides/a")));
        assert_eq!(guides.entry_of("/guides//b"), Some(FolderEntry::Page));
        for elsewhere in ["/guides", "/guides-old/a", "/Guides/a", "guides/a", "/"] {
            assert_eq!(guides.entry_of(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn path_that_ends_with_slash_and_star_is_a_folder() {
        assert_eq!(Selection::parse(None).ok(), Some(Selection::Project));
        assert_eq!(Selection::parse(Some("/guides/*")).ok(), Some(Selection::Folder(folder("/guides"))));
        assert_eq!(Selection::parse(Some("/a*")).ok(), Some(Selection::Page("/a*".to_owned())));
    }
}
