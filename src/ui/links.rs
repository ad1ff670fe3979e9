//! The addresses of our pages, written in one place. Must not read the current address.

pub use crate::model::address::with_query;

/// How the upstream is doing, for administrators.
pub const UPSTREAM: &str = "/admin/upstream";

pub fn overview(project: &str) -> String {
    format!("/p/{project}")
}

pub fn jobs(project: &str) -> String {
    format!("/p/{project}/jobs")
}

pub fn job(project: &str, job: &str) -> String {
    format!("/p/{project}/jobs/{job}")
}

pub fn analytics(project: &str) -> String {
    format!("/p/{project}/analytics")
}

/// The form for a new job, prefilled with what is not empty.
pub fn new_job(project: &str, prompt: &str, path: &str) -> String {
    with_query(&format!("/p/{project}/jobs/new"), &[("prompt", prompt), ("path", path)])
}

/// The form for a new job with the text of `job`, read from there: for texts too long for an address.
pub fn new_job_from(project: &str, job: &str) -> String {
    with_query(&format!("/p/{project}/jobs/new"), &[("from", job)])
}

/// Sign-in, to come back to `next` afterwards.
pub fn login(next: &str) -> String {
    with_query("/login", &[("next", next)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_survives_its_address() {
        assert_eq!(
            new_job("docs", "a&b=c\n+é", "/guides/x"),
            "/p/docs/jobs/new?prompt=a%26b%3Dc%0A%2B%C3%A9&path=/guides/x"
        );
    }
}
