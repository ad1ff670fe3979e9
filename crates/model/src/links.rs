//! The URLs of all pages. Must not depend on the current URL.

use crate::day::DayRange;
pub use crate::url_encoding::{text_file, with_query};

pub const SET_UP: &str = "/setup";
pub const SECOND_FACTOR: &str = "/account/second-factor";
pub const ACCOUNT: &str = "/account";
/// The id of the section on [`ACCOUNT`] in which people change their password.
pub const PASSWORD: &str = "password";

/// A person's own API tokens.
pub const TOKENS: &str = "/account/tokens";

/// Everyone's API tokens.
pub const ALL_TOKENS: &str = "/admin/tokens";

/// The reference of the JSON API, and its description.
pub const API_REFERENCE: &str = "/docs/api";
pub const OPENAPI: &str = "/api/v1/openapi.json";

pub const HELP: &str = "/help";

/// The help pages: the last part of the path, and the title.
pub const HELP_AREAS: [(&str, &str); 6] = [
    ("job-states", "Job states"),
    ("hourly-budget", "Hourly budget"),
    ("templates-and-batches", "Templates and batches"),
    ("pull-requests", "Pull requests"),
    ("analytics", "Analytics"),
    ("keyboard", "Keyboard"),
];

/// The help page of an area, such as `job-states`.
pub fn help(area: &str) -> String {
    format!("{HELP}/{area}")
}

pub const USERS: &str = "/admin/users";

/// The page that manages a person.
pub fn person(user: &str) -> String {
    format!("{USERS}/{user}")
}

pub const AUDIT: &str = "/admin/audit";

pub const UPSTREAM: &str = "/admin/upstream";
/// The id of the section on [`UPSTREAM`] with the budgets.
pub const LIMITS: &str = "limits";

pub const WEBHOOKS: &str = "/admin/webhooks";

/// The delivery log of a webhook.
pub fn webhook_log(webhook: &str) -> String {
    with_query(WEBHOOKS, &[("webhook", webhook)])
}

/// The audit log with the filters of the query string `query`.
pub fn audit(query: &str) -> String {
    if query.is_empty() { AUDIT.to_owned() } else { format!("{AUDIT}?{query}") }
}

/// The export of the audit log.
pub fn audit_export(query: &str, kind: &str) -> String {
    audit(query).replacen(AUDIT, &format!("{AUDIT}/export.{kind}"), 1)
}

pub fn overview(project: &str) -> String {
    format!("/p/{project}")
}

/// The page of `project` with the shortcut `g` and `key`.
pub fn by_key(project: &str, key: &str) -> Option<String> {
    let page = match key {
        "o" => "",
        "j" => "/jobs",
        "q" => "/queue",
        "r" => "/reviews",
        "a" => "/analytics",
        "t" => "/templates",
        _ => return None,
    };
    Some(overview(project) + page)
}

/// The section of `project` to which the path `here` of another project belongs; the overview if it belongs to none.
pub fn section(project: &str, here: &str) -> String {
    let within =
        here.strip_prefix("/p/").and_then(|rest| rest.split_once('/')).map_or("", |(_, within)| within);
    match within {
        "jobs/new" | "jobs/batch" | "jobs/import" | "queue" | "reviews" | "analytics" | "analytics/check"
        | "templates" | "batches" | "notifications" => {
            format!("/p/{project}/{within}")
        }
        _ if within.starts_with("batches/") => batches(project),
        _ if within.starts_with("jobs") => jobs(project),
        _ => overview(project),
    }
}

/// The notifications of the project. `all`: about everyone's jobs.
pub fn notifications(project: &str, all: bool) -> String {
    with_query(&format!("/p/{project}/notifications"), &[("who", if all { "all" } else { "" })])
}

/// The number of unread notifications of each project, with the navigation of `project`.
pub fn notifications_of_all_projects(project: &str) -> String {
    with_query(&notifications(project, false), &[("who", "projects")])
}

pub fn jobs(project: &str) -> String {
    format!("/p/{project}/jobs")
}

/// The jobs about a page, archived ones too.
pub fn jobs_about(project: &str, path: &str) -> String {
    with_query(&jobs(project), &[("tag", path)])
}

pub fn job(project: &str, job: &str) -> String {
    format!("/p/{project}/jobs/{job}")
}

pub fn queue(project: &str) -> String {
    format!("/p/{project}/queue")
}

pub fn reviews(project: &str) -> String {
    format!("/p/{project}/reviews")
}

/// The queue with the confirmation to cancel `message`.
pub fn queue_with_confirmation(project: &str, message: &str) -> String {
    with_query(&queue(project), &[("cancel", message)])
}

pub fn import_job(project: &str) -> String {
    format!("/p/{project}/jobs/import")
}

/// The batch form, with the values of the batch `from` unless that is empty.
pub fn new_batch(project: &str, from: &str) -> String {
    with_query(&format!("/p/{project}/jobs/batch"), &[("from", from)])
}

/// The list of batches.
pub fn batches(project: &str) -> String {
    format!("/p/{project}/batches")
}

/// A page of the list of batches, from 1.
pub fn batches_page(project: &str, page: u32) -> String {
    let page = if page > 1 { page.to_string() } else { String::new() };
    with_query(&batches(project), &[("page", &page)])
}

pub fn batch(project: &str, batch: &str) -> String {
    format!("{}/{batch}", batches(project))
}

pub fn analytics(project: &str) -> String {
    format!("/p/{project}/analytics")
}

/// The comparison of the daily history with the platform's own figures.
pub fn agreement(project: &str) -> String {
    format!("{}/check", analytics(project))
}

/// The same for a range.
pub fn agreement_over(project: &str, range: DayRange) -> String {
    let [from, to] = [range.from(), range.to()].map(|day| day.to_string());
    with_query(&agreement(project), &[("from", &from), ("to", &to)])
}

/// The report of one documentation page.
pub fn page_report(project: &str, path: &str) -> String {
    with_query(&analytics(project), &[("path", path)])
}

pub fn templates(project: &str) -> String {
    format!("/p/{project}/templates")
}

/// The form of a template, or of a new one.
pub fn edit_template(project: &str, template: Option<&str>) -> String {
    with_query(&templates(project), &[("edit", template.unwrap_or("new"))])
}

/// The form of a new template with the prompt of a job.
pub fn template_of_job(project: &str, job: &str) -> String {
    with_query(&templates(project), &[("edit", "new"), ("job", job)])
}

/// The form for a new job, prefilled from a template.
pub fn new_job_by(project: &str, template: &str, path: &str) -> String {
    with_query(&format!("/p/{project}/jobs/new"), &[("template", template), ("path", path)])
}

/// The form for a new job with the draft of the form `key`; the form that is not prefilled has no key.
pub fn new_job_draft(project: &str, key: &str) -> String {
    with_query(&format!("/p/{project}/jobs/new"), &[("draft", key)])
}

/// The batch form, prefilled from a template.
pub fn new_batch_of(project: &str, template: &str) -> String {
    with_query(&format!("/p/{project}/jobs/batch"), &[("template", template)])
}

/// The form for a new job, prefilled with the non-empty values.
pub fn new_job(project: &str, prompt: &str, path: &str) -> String {
    with_query(&format!("/p/{project}/jobs/new"), &[("prompt", prompt), ("path", path)])
}

/// The form for a new job with the prompt of `job`, for prompts that are too long for a URL.
pub fn new_job_from(project: &str, job: &str) -> String {
    with_query(&format!("/p/{project}/jobs/new"), &[("from", job)])
}

/// A sentence that ends with the path of a project's page after a colon: the text before, and the path.
pub fn named_in(sentence: &str) -> Option<(&str, &str)> {
    let (text, path) = sentence.split_at(sentence.find(": /p/")?);
    Some((text, path[2..].strip_suffix('.').unwrap_or(&path[2..])))
}

/// Sign-in that redirects to `next` afterwards.
pub fn login(next: &str) -> String {
    with_query("/login", &[("next", next)])
}

/// Single sign-on that redirects to `next` afterwards.
pub fn single_sign_on(next: &str) -> String {
    with_query("/login/sso", &[("next", next)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_of_a_page_is_found_in_a_sentence() {
        assert_eq!(named_in("It is here: /p/docs/jobs/1."), Some(("It is here", "/p/docs/jobs/1")));
        assert_eq!(named_in("See https://x.example/p/docs."), None);
    }

    #[test]
    fn keys_lead_to_the_pages_of_their_names() {
        let pages = [
            ("o", overview("docs")),
            ("j", jobs("docs")),
            ("q", queue("docs")),
            ("r", reviews("docs")),
            ("a", analytics("docs")),
            ("t", templates("docs")),
        ];
        for (key, page) in pages {
            assert_eq!(by_key("docs", key), Some(page), "{key}");
        }
        assert_eq!(by_key("docs", "x"), None);
    }

    #[test]
    fn prompt_survives_encoding_in_a_url() {
        assert_eq!(
            new_job("docs", "a&b=c\n+é", "/guides/x"),
            "/p/docs/jobs/new?prompt=a%26b%3Dc%0A%2B%C3%A9&path=/guides/x"
        );
    }
}
