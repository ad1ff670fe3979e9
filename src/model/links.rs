//! The addresses of our pages, written in one place. Must not read the current address.

pub use crate::model::address::with_query;

/// A person’s own account.
pub const ACCOUNT: &str = "/account";

/// Who may use Docket, for administrators.
pub const USERS: &str = "/admin/users";

/// Who did what, for administrators.
pub const AUDIT: &str = "/admin/audit";

/// How the upstream is doing, for administrators.
pub const UPSTREAM: &str = "/admin/upstream";

/// Outgoing webhooks, for administrators.
pub const WEBHOOKS: &str = "/admin/webhooks";

/// What became of the events of a webhook.
pub fn webhook_log(webhook: &str) -> String {
    with_query(WEBHOOKS, &[("webhook", webhook)])
}

/// The audit log, asked as `query` says.
pub fn audit(query: &str) -> String {
    if query.is_empty() { AUDIT.to_owned() } else { format!("{AUDIT}?{query}") }
}

/// The audit log as a file.
pub fn audit_export(query: &str, kind: &str) -> String {
    audit(query).replacen(AUDIT, &format!("{AUDIT}/export.{kind}"), 1)
}

pub fn overview(project: &str) -> String {
    format!("/p/{project}")
}

pub fn jobs(project: &str) -> String {
    format!("/p/{project}/jobs")
}

pub fn job(project: &str, job: &str) -> String {
    format!("/p/{project}/jobs/{job}")
}

/// What waits to be sent.
pub fn queue(project: &str) -> String {
    format!("/p/{project}/queue")
}

/// The queue, with the question whether `message` is to be cancelled.
pub fn queue_asking(project: &str, message: &str) -> String {
    with_query(&queue(project), &[("cancel", message)])
}

pub fn import_job(project: &str) -> String {
    format!("/p/{project}/jobs/adopt")
}

/// The form for many jobs, with the texts of the batch `from` if that is not empty.
pub fn new_batch(project: &str, from: &str) -> String {
    with_query(&format!("/p/{project}/jobs/batch"), &[("from", from)])
}

pub fn batch(project: &str, batch: &str) -> String {
    format!("/p/{project}/batches/{batch}")
}

pub fn analytics(project: &str) -> String {
    format!("/p/{project}/analytics")
}

pub fn templates(project: &str) -> String {
    format!("/p/{project}/templates")
}

/// The form for a template; without `template`, for a new one.
pub fn edit_template(project: &str, template: Option<&str>) -> String {
    with_query(&templates(project), &[("edit", template.unwrap_or("new"))])
}

/// The form for a new job with the text of a template.
pub fn new_job_by(project: &str, template: &str, path: &str) -> String {
    with_query(&format!("/p/{project}/jobs/new"), &[("template", template), ("path", path)])
}

/// The form for many jobs from one text with places, that of a template unless `template` is empty.
pub fn new_batch_of(project: &str, prompt: &str, template: &str) -> String {
    with_query(&format!("/p/{project}/jobs/batch"), &[("prompt", prompt), ("template", template)])
}

/// The form for a new job, prefilled with what is not empty.
pub fn new_job(project: &str, prompt: &str, path: &str) -> String {
    with_query(&format!("/p/{project}/jobs/new"), &[("prompt", prompt), ("path", path)])
}

/// The form for a new job with the text of `job`, read from there: for texts too long for an address.
pub fn new_job_from(project: &str, job: &str) -> String {
    with_query(&format!("/p/{project}/jobs/new"), &[("from", job)])
}

/// The first page of a project that `sentence` names by its path.
pub fn named_in(sentence: &str) -> Option<&str> {
    let mut words = sentence.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ':']));
    words.find(|word| word.starts_with("/p/"))
}

/// Sign-in, to come back to `next` afterwards.
pub fn login(next: &str) -> String {
    with_query("/login", &[("next", next)])
}

/// Sign-in elsewhere, to come back to `next` afterwards.
pub fn single_sign_on(next: &str) -> String {
    with_query("/login/sso", &[("next", next)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_in_the_sentence_that_names_it() {
        assert_eq!(named_in("It is here: /p/docs/jobs/1."), Some("/p/docs/jobs/1"));
        assert_eq!(named_in("See https://x.example/p/docs."), None);
    }

    #[test]
    fn a_prompt_survives_its_address() {
        assert_eq!(
            new_job("docs", "a&b=c\n+é", "/guides/x"),
            "/p/docs/jobs/new?prompt=a%26b%3Dc%0A%2B%C3%A9&path=/guides/x"
        );
    }
}
