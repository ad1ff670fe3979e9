//! Which options the palette has, and which of them the typed words match.

use model::job::JobBadge;
use model::links;
use model::palette::{Found, PaletteItem};

/// What decides which pages and actions there are.
#[derive(Clone)]
pub struct Reach {
    /// Empty if there is none.
    pub project: String,
    pub may_start: bool,
    pub is_admin: bool,
}

/// Options with a heading.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) entries: Vec<Entry>,
}

/// An option.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// Unique in the palette.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) detail: String,
    /// Of a job.
    pub(super) status: Option<JobBadge>,
    pub(super) action: Action,
    /// Its keyboard shortcut, with spaces between the keys.
    pub(super) keys: &'static str,
}

/// What an option does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Open(String),
    /// As an element with this `data-button`.
    Press(&'static str),
}

/// A link to another project: its name and URL.
pub(super) type OtherProject = (String, String);

impl Reach {
    /// The groups that do not depend on what is typed, in their order: the server's results are before the last one.
    pub(super) fn groups(&self, others: Vec<OtherProject>) -> [Group; 3] {
        let mut commands = named("action", self.actions());
        commands.push(pressed("palette-theme", "Switch between light and dark", "theme", "Period"));
        commands.push(pressed("palette-help", "Keyboard shortcuts", "help", "?"));
        let others = others.into_iter().enumerate().map(|(at, (name, href))| Entry {
            detail: "Project".to_owned(),
            ..linked("project", at, name, href)
        });
        [
            Group { name: "Commands", entries: commands },
            Group { name: "Places", entries: named("page", self.pages()) },
            Group { name: "Elsewhere", entries: others.collect() },
        ]
    }

    fn actions(&self) -> Vec<(&'static str, String, &'static str)> {
        let project = self.project.as_str();
        if project.is_empty() || !self.may_start {
            return Vec::new();
        }
        vec![
            ("New job", links::new_job(project, "", ""), "c"),
            ("New batch", links::new_batch(project, ""), ""),
            ("Import a job", links::import_job(project), ""),
            ("New template", links::edit_template(project, None), ""),
        ]
    }

    fn pages(&self) -> Vec<(&'static str, String, &'static str)> {
        let project = self.project.as_str();
        let mut pages = Vec::new();
        if !project.is_empty() {
            pages.extend([
                ("Overview", links::overview(project), "g o"),
                ("Jobs", links::jobs(project), "g j"),
                ("Analytics", links::analytics(project), "g a"),
                ("Templates", links::templates(project), "g t"),
                ("Batches", links::batches(project), ""),
                ("Queue", links::queue(project), ""),
                ("Notifications", links::notifications(project, false), ""),
            ]);
        }
        let mut others =
            vec![("Help", links::HELP), ("Account", links::ACCOUNT), ("API tokens", links::TOKENS)];
        if self.is_admin {
            others.extend([
                ("People", links::USERS),
                ("Platform", links::UPSTREAM),
                ("Webhooks", links::WEBHOOKS),
                ("All API tokens", links::ALL_TOKENS),
                ("Audit log", links::AUDIT),
            ]);
        }
        pages.extend(others.into_iter().map(|(name, href)| (name, href.to_owned(), "")));
        pages
    }
}

fn named(kind: &str, entries: Vec<(&'static str, String, &'static str)>) -> Vec<Entry> {
    let entries = entries.into_iter().enumerate();
    entries
        .map(|(at, (name, href, keys))| Entry { keys, ..linked(kind, at, name.to_owned(), href) })
        .collect()
}

fn linked(kind: &str, at: usize, name: String, href: String) -> Entry {
    let id = ["palette-", kind, "-", &at.to_string()].concat();
    Entry { id, name, detail: String::new(), status: None, action: Action::Open(href), keys: "" }
}

fn pressed(id: &str, name: &str, button: &'static str, keys: &'static str) -> Entry {
    let (id, name) = (id.to_owned(), name.to_owned());
    Entry { id, name, detail: String::new(), status: None, action: Action::Press(button), keys }
}

/// The server's results.
pub(super) fn found(found: Found) -> [Group; 2] {
    let entries = |kind: &str, items: Vec<PaletteItem>| {
        let items = items.into_iter().enumerate();
        let entries = items.map(|(at, PaletteItem { name, detail, href, status })| Entry {
            detail,
            status,
            ..linked(kind, at, name, href)
        });
        entries.collect()
    };
    [
        Group { name: "Templates", entries: entries("template", found.templates) },
        Group { name: "Jobs", entries: entries("job", found.jobs) },
    ]
}

impl Group {
    /// The options with all `words`, which are in lower case; `None` without one. `lowercase` is that of the browser.
    pub(super) fn matching(&self, words: &[&str], lowercase: impl Fn(&str) -> String) -> Option<Self> {
        let has_words = |entry: &&Entry| {
            let text = lowercase(&[entry.name.as_str(), " ", &entry.detail, " ", entry.keys].concat());
            words.iter().all(|word| text.contains(word))
        };
        let entries: Vec<_> = self.entries.iter().filter(has_words).cloned().collect();
        (!entries.is_empty()).then_some(Self { name: self.name, entries })
    }
}

/// The option after or before `chosen` among `ids`, from the last to the first and back; `None` for a key that chooses none.
pub(super) fn step(key: &str, ids: &[String], chosen: Option<&str>) -> Option<usize> {
    let last = ids.len().checked_sub(1)?;
    let chosen = ids.iter().position(|id| Some(id.as_str()) == chosen);
    match (key, chosen) {
        ("ArrowDown", Some(at)) if at < last => Some(at + 1),
        ("ArrowDown", _) => Some(0),
        ("ArrowUp", Some(at)) if at > 0 => Some(at - 1),
        ("ArrowUp", _) => Some(last),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(may_start: bool, is_admin: bool) -> Reach {
        Reach { project: "docs".to_owned(), may_start, is_admin }
    }

    fn names(groups: &[Group]) -> Vec<&str> {
        groups.iter().flat_map(|group| &group.entries).map(|entry| entry.name.as_str()).collect()
    }

    #[test]
    fn options_follow_the_role() {
        for (may_start, is_admin) in [(false, false), (true, false), (true, true)] {
            let groups = reach(may_start, is_admin).groups(Vec::new());
            let names = names(&groups);
            assert!(names.contains(&"Jobs") && names.contains(&"Keyboard shortcuts"));
            assert_eq!(names.contains(&"New job"), may_start);
            assert_eq!(names.contains(&"Audit log"), is_admin);
        }
        let outside = Reach { project: String::new(), ..reach(true, true) }.groups(Vec::new());
        assert!(!names(&outside).iter().any(|name| ["Jobs", "New job"].contains(name)));
    }

    #[test]
    fn every_option_has_an_id_of_its_own() {
        let item = PaletteItem { name: "a".into(), detail: "b".into(), href: "/".into(), status: None };
        let results = Found { templates: vec![item.clone(); 3], jobs: vec![item; 3] };
        let others = vec![("API".to_owned(), "/p/api".to_owned()), ("SDK".to_owned(), "/p/sdk".to_owned())];
        let fixed = reach(true, true).groups(others);
        let all = fixed.into_iter().chain(found(results)).flat_map(|group| group.entries);
        let ids: Vec<String> = all.map(|entry| entry.id).collect();
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    }

    #[test]
    fn option_matches_all_words_in_its_name_and_detail() {
        let others = vec![("Acme API".to_owned(), "/p/api".to_owned())];
        let [_, _, elsewhere] = reach(true, true).groups(others);
        for (words, is_match) in
            [(&["acme"][..], true), (&["project", "api"], true), (&["acme", "docs"], false), (&[], true)]
        {
            assert_eq!(elsewhere.matching(words, str::to_lowercase).is_some(), is_match, "{words:?}");
        }
    }

    #[test]
    fn arrows_go_round_and_other_keys_choose_nothing() {
        let ids: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        for (key, chosen, next) in [
            ("ArrowDown", Some("a"), Some(1)),
            ("ArrowDown", Some("c"), Some(0)),
            ("ArrowDown", None, Some(0)),
            ("ArrowUp", Some("a"), Some(2)),
            ("ArrowUp", Some("b"), Some(0)),
            ("ArrowUp", None, Some(2)),
            ("a", Some("a"), None),
        ] {
            assert_eq!(step(key, &ids, chosen), next, "{key} {chosen:?}");
            assert_eq!(step(key, &[], chosen), None);
        }
    }
}
