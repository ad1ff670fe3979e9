//! The prompts and outcomes of the sample jobs. Data only.

/// The outcome of a sample job.
#[derive(Clone, Copy)]
pub(super) enum End {
    PullRequest(u32),
    NoChanges,
    Failed,
    /// Still running when the demonstration starts.
    Active,
    Rejected(&'static str),
    Unknown(&'static str),
}

pub(super) struct Sample {
    /// The index of the demonstration's project.
    pub(super) project: usize,
    pub(super) author: &'static str,
    pub(super) hours_ago: i64,
    pub(super) prompt: &'static str,
    pub(super) paths: &'static [&'static str],
    pub(super) end: End,
    pub(super) follow_up: Option<(&'static str, &'static str)>,
    /// The index of its template in [`TEMPLATES`].
    pub(super) template: Option<usize>,
}

/// A name and a text with placeholders, in the first project.
pub(super) const TEMPLATES: [(&str, &str); 3] = [
    (
        "Check a page",
        "Check {{page}} against the current product and fix what is out of date. Keep the page’s structure, and leave its examples runnable.",
    ),
    (
        "Changelog entry",
        "Write the changelog entry for version {{version}} from the merged pull requests of the last {{weeks}} weeks.",
    ),
    ("Troubleshooting section", "Add a troubleshooting section to {{page}}: {{problems}}."),
];

pub(super) const PEOPLE: &[&str] = &["maya", "jonas", "priya"];

/// Outcomes of deliveries, as stored.
const REFUSED: &str = "The platform refused it (status 400: “prompt mentions a repository this key cannot write to”), so nothing was started.";
const CUT_OFF: &str = "The platform did not answer in time. It may or may not have started the work.";

/// Oldest first, so that ids sort by age.
pub(super) const SAMPLES: &[Sample] = &[
    Sample {
        project: 0,
        author: "maya",
        // Merged 36 hours later: two weeks after that are final at any time of the day.
        hours_ago: 24 * 20,
        template: Some(0),
        end: End::PullRequest(231),
        follow_up: None,
        paths: &["/quickstart"],
        prompt: "Rewrite the quickstart so that a newcomer sends a first request in under five minutes.\n\nKeep the curl example first, then Python and TypeScript. Drop the section about legacy tokens.",
    },
    Sample {
        project: 0,
        author: "jonas",
        hours_ago: 24 * 16,
        template: Some(0),
        end: End::NoChanges,
        follow_up: None,
        paths: &["/guides/authentication"],
        prompt: "Check the authentication guide against the current OAuth scopes and fix what is out of date.",
    },
    Sample {
        project: 1,
        author: "priya",
        hours_ago: 24 * 13,
        template: None,
        end: End::PullRequest(88),
        follow_up: None,
        paths: &["/api-reference/errors"],
        prompt: "Add the new error codes 4091 and 4092 to the error reference, with a cause and a remedy for each.",
    },
    Sample {
        project: 0,
        author: "priya",
        hours_ago: 24 * 12,
        template: None,
        end: End::PullRequest(238),
        paths: &["/guides/webhooks"],
        prompt: "Explain how to verify webhook signatures. Show the constant-time comparison in Node, Python, Go and Ruby.",
        follow_up: Some((
            "maya",
            "Good. Please also say what happens with clock skew, and link the replay window setting.",
        )),
    },
    Sample {
        project: 0,
        author: "maya",
        hours_ago: 24 * 9,
        template: None,
        end: End::Failed,
        follow_up: None,
        paths: &[],
        prompt: "Convert all diagrams in /concepts from PNG to Mermaid.",
    },
    Sample {
        project: 0,
        author: "jonas",
        hours_ago: 24 * 8,
        template: Some(1),
        end: End::PullRequest(244),
        follow_up: None,
        paths: &["/changelog"],
        prompt: "Write the changelog entry for version 3.8 from the merged pull requests of the last two weeks.",
    },
    Sample {
        project: 1,
        author: "maya",
        hours_ago: 24 * 6,
        template: None,
        end: End::NoChanges,
        follow_up: None,
        paths: &["/api-reference/pagination"],
        prompt: "Make sure every list endpoint documents its cursor parameter the same way.",
    },
    Sample {
        project: 0,
        author: "priya",
        hours_ago: 24 * 5,
        template: Some(0),
        end: End::PullRequest(251),
        follow_up: None,
        paths: &["/guides/rate-limits"],
        prompt: "The rate limit page still says 60 requests a minute. It is 100 an hour for admin keys; update the text, the table and the examples.",
    },
    Sample {
        project: 0,
        author: "maya",
        hours_ago: 24 * 3,
        template: None,
        end: End::Rejected(REFUSED),
        follow_up: None,
        paths: &[],
        prompt: "Move the SDK pages from the old repository into /sdks and set up redirects.",
    },
    Sample {
        project: 0,
        author: "jonas",
        hours_ago: 24 * 2,
        template: None,
        end: End::PullRequest(256),
        paths: &["/guides/migration", "/quickstart"],
        prompt: "Write a migration guide from version 2 to version 3.\n\nOne section for each breaking change: what changed, why, and the code before and after.",
        follow_up: Some(("jonas", "The section on timeouts misses the new default of 30 seconds.")),
    },
    Sample {
        project: 0,
        author: "priya",
        hours_ago: 22,
        template: None,
        end: End::Unknown(CUT_OFF),
        follow_up: None,
        paths: &["/integrations/slack"],
        prompt: "Add screenshots of the new Slack app to the integration page and describe the two permissions it asks for.",
    },
    Sample {
        project: 1,
        author: "jonas",
        hours_ago: 7,
        template: None,
        end: End::PullRequest(93),
        follow_up: None,
        paths: &["/api-reference/webhooks"],
        prompt: "Document the retry schedule of webhooks: 1, 5, 30 and 120 minutes, then every 6 hours for 3 days.",
    },
    Sample {
        project: 0,
        author: "maya",
        hours_ago: 3,
        template: None,
        end: End::PullRequest(259),
        follow_up: None,
        paths: &["/guides/search"],
        prompt: "Answer the five questions that people ask our assistant most about search, each as a short section.",
    },
    Sample {
        project: 0,
        author: "jonas",
        hours_ago: 0,
        template: Some(2),
        end: End::Active,
        follow_up: None,
        paths: &["/guides/webhooks"],
        prompt: "Add a troubleshooting section to the webhooks guide: timeouts, signature mismatches, and duplicate deliveries.",
    },
];
