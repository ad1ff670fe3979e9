//! Queries of the daily history, parsed once.

use std::str::FromStr;

use model::ParseError;
use model::analytics::choice::{Compare, Order, Readers, Tab};
use model::day::DayRange;
use model::error::AppError;
use model::id::ProjectId;
use model::paging::Paging;
use model::selection::Folder;

/// A query of the table of pages.
#[derive(Debug, Clone)]
pub struct TableQuery {
    pub project: ProjectId,
    pub range: DayRange,
    pub paging: Paging,
    pub search: Search,
    /// The folder whose entries are listed; `None` lists all pages.
    pub folder: Option<Folder>,
    /// `None`: the tab's own order.
    pub order: Option<Order>,
    pub compare: Compare,
    /// Which pages, by their change.
    pub tab: Tab,
    /// Whose views the changes are about.
    pub readers: Readers,
}

/// Part of a path, ignoring the case of ASCII letters; empty matches every path.
#[derive(Debug, Clone, Default)]
pub struct Search(Vec<u8>);

impl TableQuery {
    /// All pages, in their usual order.
    pub fn new(project: ProjectId, range: DayRange, paging: Paging) -> Self {
        let (search, compare, tab) = (Search::default(), Compare::default(), Tab::default());
        let readers = Readers::default();
        Self { project, range, paging, search, folder: None, order: None, compare, tab, readers }
    }

    /// Only pages that match a search and a folder. Empty texts match all.
    pub fn narrowed(self, q: Option<&str>, folder: Option<&str>) -> Result<Self, ParseError> {
        let folder = folder.filter(|folder| !folder.is_empty()).map(Folder::parse).transpose()?;
        Ok(Self { search: Search::of(q.unwrap_or_default()), folder, ..self })
    }

    /// `None`: in the tab's own order.
    pub fn sorted(self, order: Option<Order>) -> Self {
        Self { order, ..self }
    }

    /// Adds the compared period, the tab, and whose views the changes are about.
    pub fn compared(self, compare: Compare, tab: Tab, readers: Readers) -> Self {
        Self { compare, tab, readers, ..self }
    }

    /// Whether the table is about every page of the project.
    pub fn is_about_everything(&self) -> bool {
        self.search.is_everything() && self.folder.as_ref().is_none_or(Folder::is_root)
    }

    /// Whether the path matches the search and the folder.
    pub fn contains(&self, path: &str) -> bool {
        self.search.finds(path) && self.folder.as_ref().is_none_or(|folder| folder.contains(path))
    }
}

impl Search {
    pub fn of(text: &str) -> Self {
        Self(text.trim().as_bytes().to_owned())
    }

    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    pub fn finds(&self, path: &str) -> bool {
        self.is_everything()
            || path.as_bytes().windows(self.0.len()).any(|part| part.eq_ignore_ascii_case(&self.0))
    }
}

/// Parses a field of a query string. A missing or empty field has the `default`.
pub fn word<T: FromStr<Err = ParseError>>(text: Option<&str>, default: T) -> Result<T, AppError> {
    let word = text.filter(|text| !text.is_empty()).map(str::parse).transpose();
    Ok(word?.unwrap_or(default))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_ignores_case_of_ascii_letters_only() {
        for (text, path, found) in [
            ("API", "/api/keys", true),
            (" keys ", "/api/Keys", true),
            ("é", "/É", false),
            ("%", "/a", false),
            ("_", "/a_b", true),
            ("long", "/l", false),
            ("", "", true),
        ] {
            assert_eq!(Search::of(text).finds(path), found, "{text} in {path}");
        }
    }
}
