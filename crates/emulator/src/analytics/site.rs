//! The pages of an emulated documentation site: the same for every project, distinct at any site size.

/// The section of a page, which determines its traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Start,
    Guides,
    ApiReference,
    Integrations,
    Concepts,
    Sdks,
    Changelog,
}

#[derive(Debug)]
pub(super) struct Page {
    pub(super) path: String,
    pub(super) section: Section,
    /// Its index among the pages of its section.
    pub(super) nth: usize,
}

/// The pages of a site, roughly by popularity.
#[derive(Debug)]
pub(crate) struct Site {
    pages: Vec<Page>,
}

impl Section {
    pub(super) const ALL: [Self; 7] = [
        Self::Start,
        Self::Guides,
        Self::ApiReference,
        Self::Integrations,
        Self::Concepts,
        Self::Sdks,
        Self::Changelog,
    ];
}

impl Site {
    pub(crate) fn with_pages(count: u32) -> Self {
        Self { pages: (0..count as usize).map(page).collect() }
    }

    pub(crate) fn paths(&self) -> Vec<&str> {
        self.pages.iter().map(|page| page.path.as_str()).collect()
    }

    pub(super) fn pages(&self) -> &[Page] {
        &self.pages
    }
}

const START: [&str; 6] = ["/", "/quickstart", "/installation", "/authentication", "/pricing", "/faq"];

/// The sections after the start page, in rotation.
const ROTATION: [Section; 12] = [
    Section::Guides,
    Section::ApiReference,
    Section::Integrations,
    Section::ApiReference,
    Section::Concepts,
    Section::Guides,
    Section::ApiReference,
    Section::Sdks,
    Section::Guides,
    Section::ApiReference,
    Section::Integrations,
    Section::Changelog,
];

fn page(index: usize) -> Page {
    if let Some(path) = START.get(index) {
        return Page { path: (*path).to_owned(), section: Section::Start, nth: index };
    }
    let (round, slot) = ((index - START.len()) / ROTATION.len(), (index - START.len()) % ROTATION.len());
    let section = ROTATION[slot];
    let of_section = |slots: &[Section]| slots.iter().filter(|other| **other == section).count();
    let nth = round * of_section(&ROTATION) + of_section(&ROTATION[..slot]);
    Page { path: path(section, nth), section, nth }
}

fn path(section: Section, nth: usize) -> String {
    match section {
        Section::Start => format!("/start/{nth}"),
        Section::Guides => two_words("/guides", &VERBS, "-", &NOUNS, nth),
        Section::ApiReference => two_words("/api-reference", &RESOURCES, "/", &ACTIONS, nth),
        Section::Integrations => two_words("/integrations", &PRODUCTS, "/", &TOPICS, nth),
        Section::Concepts => two_words("/concepts", &NOUNS, "/", &ASPECTS, nth),
        Section::Sdks => two_words("/sdks", &LANGUAGES, "/", &TOPICS, nth),
        Section::Changelog => format!("/changelog/v{}-{}", nth / 12 + 1, nth % 12),
    }
}

/// The `nth` pair of words; once every pair is used, the same pairs below `v2`, `v3`, and so on.
fn two_words(folder: &str, firsts: &[&str], between: &str, seconds: &[&str], nth: usize) -> String {
    let first = firsts[nth % firsts.len()];
    // The second word changes with each pair, so that even a small site is varied.
    let (pairs, slot) = (firsts.len() * seconds.len(), nth / firsts.len() % seconds.len());
    let second = seconds[(slot + nth % firsts.len()) % seconds.len()];
    match nth / pairs {
        0 => format!("{folder}/{first}{between}{second}"),
        round => format!("{folder}/v{}/{first}{between}{second}", round + 1),
    }
}

const VERBS: [&str; 14] = [
    "configure",
    "manage",
    "secure",
    "deploy",
    "migrate",
    "monitor",
    "debug",
    "test",
    "automate",
    "import",
    "export",
    "scale",
    "customize",
    "troubleshoot",
];
const NOUNS: [&str; 22] = [
    "webhooks",
    "projects",
    "api-keys",
    "environments",
    "permissions",
    "teams",
    "billing",
    "events",
    "pipelines",
    "domains",
    "secrets",
    "rate-limits",
    "audit-logs",
    "workflows",
    "branches",
    "notifications",
    "backups",
    "schemas",
    "sessions",
    "tokens",
    "caching",
    "search",
];
const RESOURCES: [&str; 24] = [
    "projects",
    "users",
    "teams",
    "deployments",
    "invoices",
    "webhooks",
    "events",
    "keys",
    "domains",
    "environments",
    "members",
    "roles",
    "jobs",
    "files",
    "messages",
    "subscriptions",
    "customers",
    "payments",
    "sessions",
    "reports",
    "alerts",
    "schedules",
    "templates",
    "audits",
];
const ACTIONS: [&str; 10] =
    ["list", "create", "get", "update", "delete", "search", "archive", "restore", "export", "batch"];
const PRODUCTS: [&str; 20] = [
    "github",
    "gitlab",
    "slack",
    "jira",
    "linear",
    "vercel",
    "netlify",
    "datadog",
    "sentry",
    "segment",
    "zapier",
    "okta",
    "auth0",
    "stripe",
    "snowflake",
    "postgres",
    "kafka",
    "terraform",
    "kubernetes",
    "discord",
];
const TOPICS: [&str; 8] =
    ["overview", "setup", "authentication", "examples", "errors", "upgrade", "reference", "limits"];
const ASPECTS: [&str; 4] = ["overview", "how-it-works", "best-practices", "limits"];
const LANGUAGES: [&str; 10] =
    ["typescript", "python", "go", "rust", "java", "ruby", "php", "kotlin", "swift", "csharp"];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_site_of_any_size_has_as_many_distinct_paths() {
        for count in [0, 1, 7, 620, 20_000, 50_000] {
            let site = Site::with_pages(count);
            let paths: HashSet<&str> = site.pages().iter().map(|page| page.path.as_str()).collect();
            assert_eq!(paths.len(), count as usize);
        }
    }

    #[test]
    fn the_smallest_site_is_its_front_page() {
        assert_eq!(Site::with_pages(1).pages()[0].path, "/");
    }

    #[test]
    fn paths_look_like_those_of_a_documentation_site() {
        let site = Site::with_pages(620);
        for page in site.pages() {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/-".contains(c);
            assert!(page.path.starts_with('/') && page.path.chars().all(plain), "{}", page.path);
            let versioned = page.path.split('/').any(|part| part == "v1" || part == "v2");
            assert!(!versioned, "620 pages need no versions: {}", page.path);
        }
        for section in Section::ALL {
            let count = site.pages().iter().filter(|page| page.section == section).count();
            assert!(count >= START.len(), "{section:?} has {count}");
        }
    }
}
