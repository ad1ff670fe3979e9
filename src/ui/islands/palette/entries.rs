//! Which options the palette has, and which of them the typed words match.

use crate::ui::marks::SIGN_OUT;
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
    /// Submits the form with this id.
    Submit(&'static str),
    /// As the control of the open job with this label.
    Control(String),
}

/// A link to another project: its name and URL.
pub(super) type OtherProject = (String, String);

impl Reach {
    /// The groups that do not depend on what is typed, in their order: the server's results are before the last one.
    pub(super) fn groups(&self, others: Vec<OtherProject>) -> [Group; 3] {
        let mut commands = named("action", self.actions());
        commands.push(pressed(
            "palette-theme",
            "Switch between light and dark",
            Action::Press("theme"),
            "Period",
        ));
        commands.push(pressed("palette-help", "Keyboard shortcuts", Action::Press("help"), "?"));
        commands.push(pressed("palette-sign-out", "Sign out", Action::Submit(SIGN_OUT.name()), ""));
        let others = others.into_iter().enumerate().map(|(at, (name, href))| Entry {
            detail: "Project".to_owned(),
            ..linked("project", at, name, href)
        });
        let mut places = named("page", self.pages());
        places.extend(help());
        [
            Group { name: "Commands", entries: commands },
            Group { name: "Places", entries: places },
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
                ("Queue", links::queue(project), "g q"),
                ("Reviews", links::reviews(project), "g r"),
                ("Analytics", links::analytics(project), "g a"),
                ("Templates", links::templates(project), "g t"),
                ("Batches", links::batches(project), ""),
                ("Notifications", links::notifications(project, false), ""),
            ]);
        }
        let password = [links::ACCOUNT, "#", links::PASSWORD].concat();
        pages.extend([("Password", password, ""), ("Budgets", self.budgets(), "")]);
        let mut others = vec![
            ("Help", links::HELP),
            ("API reference", links::API_REFERENCE),
            ("Account", links::ACCOUNT),
            ("API tokens", links::TOKENS),
        ];
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

    /// The page about the budgets. The figures of all are for administrators; others see those of the open project in the navigation.
    fn budgets(&self) -> String {
        match self.is_admin {
            true => [links::UPSTREAM, "#", links::LIMITS].concat(),
            false => links::help("hourly-budget"),
        }
    }
}

/// The controls of the open job with these labels; the first of several with the same one.
pub(super) fn of_job(labels: Vec<String>) -> Group {
    let mut entries: Vec<Entry> = Vec::new();
    for label in labels {
        if !label.is_empty() && entries.iter().all(|entry| entry.name != label) {
            let entry = linked("control", entries.len(), label.clone(), String::new());
            entries.push(Entry { action: Action::Control(label), ..entry });
        }
    }
    Group { name: "This job", entries }
}

fn help() -> Vec<Entry> {
    let areas = links::HELP_AREAS.iter().enumerate();
    let entry = |(at, (slug, title)): (usize, &(&str, &str))| Entry {
        detail: "Help".to_owned(),
        ..linked("help", at, (*title).to_owned(), links::help(slug))
    };
    areas.map(entry).collect()
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

fn pressed(id: &str, name: &str, action: Action, keys: &'static str) -> Entry {
    let (id, name) = (id.to_owned(), name.to_owned());
    Entry { id, name, detail: String::new(), status: None, action, keys }
}

/// The server's results.
pub(super) fn found(found: Found) -> [Group; 4] {
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
        Group { name: "Saved views", entries: entries("view", found.views) },
        Group { name: "Documentation pages", entries: entries("path", found.pages) },
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
        let items = || vec![item.clone(); 3];
        let results = Found { templates: items(), jobs: items(), views: items(), pages: items() };
        let others = vec![("API".to_owned(), "/p/api".to_owned()), ("SDK".to_owned(), "/p/sdk".to_owned())];
        let fixed = reach(true, true).groups(others);
        let controls = of_job(vec!["Archive".to_owned(), "Copy link".to_owned()]);
        let all = fixed.into_iter().chain(found(results)).chain([controls]).flat_map(|group| group.entries);
        let ids: Vec<String> = all.map(|entry| entry.id).collect();
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    }

    #[test]
    fn pages_without_a_place_in_the_navigation_are_found() {
        for (is_admin, typed, href) in [
            (false, "reviews", "/p/docs/reviews"),
            (false, "password", "/account#password"),
            (false, "budgets", "/help/hourly-budget"),
            (true, "budgets", "/admin/upstream#limits"),
            (false, "job states", "/help/job-states"),
            (false, "api reference", "/docs/api"),
        ] {
            let [_, places, _] = reach(true, is_admin).groups(Vec::new());
            let words: Vec<&str> = typed.split(' ').collect();
            let found = places.matching(&words, str::to_lowercase).unwrap_or_else(|| panic!("{typed}"));
            assert_eq!(found.entries[0].action, Action::Open(href.to_owned()), "{typed}");
        }
    }

    #[test]
    fn controls_with_the_same_label_are_one_option() {
        let labels = ["Archive", "Copy link", "", "Archive"].map(str::to_owned).to_vec();
        assert_eq!(names(&[of_job(labels)]), ["Archive", "Copy link"]);
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
