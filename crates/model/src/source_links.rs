//! The URLs of a job's repository and branch. The platform provides only their names; the pull request's URL contains the rest.
//! Pure.

use crate::job::{RemoteJob, safe_link};

/// `None` where the URL is unknown.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SourceLinks {
    pub repository: Option<String>,
    pub branch: Option<String>,
}

impl SourceLinks {
    pub fn of(remote: &RemoteJob) -> Self {
        let Some(repository) = repository(remote) else { return Self::default() };
        let is_gitlab = remote.pr_link.as_deref().is_some_and(|link| link.contains("/-/"));
        let tree = if is_gitlab { "/-/tree/" } else { "/tree/" };
        let branch = remote.git_ref.as_deref().filter(|name| is_plain(name));
        let branch = branch.map(|name| [repository.as_str(), tree, name].concat());
        Self { repository: Some(repository), branch }
    }
}

/// The pull request's URL up to the repository's name, or the name if it is a URL itself.
fn repository(remote: &RemoteJob) -> Option<String> {
    let name = remote.repository.as_deref()?.trim_end_matches('/');
    if let Some(url) = safe_link(name) {
        return Some(url.to_owned());
    }
    let link = safe_link(remote.pr_link.as_deref()?)?;
    let named = format!("/{name}/");
    let at = link.find(&named).filter(|_| is_plain(name))?;
    Some(link[..at + named.len() - 1].to_owned())
}

/// Whether it can be part of a URL without encoding.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
        && !name.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(repository: &str, git_ref: &str, pr_link: Option<&str>) -> (Option<String>, Option<String>) {
        let links = SourceLinks::of(&RemoteJob {
            id: "job_1".to_owned(),
            status: "completed".to_owned(),
            model: None,
            repository: Some(repository.to_owned()),
            git_ref: Some(git_ref.to_owned()),
            pr_link: pr_link.map(str::to_owned),
            pr_link_is_earlier: false,
            created_at: None,
            archived_at: None,
            error: None,
        });
        (links.repository, links.branch)
    }

    #[test]
    fn repository_url_is_derived_from_the_pull_request() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            links("acme/docs", "fix/a", Some("https://git.example/acme/docs/pull/7")),
            (some("https://git.example/acme/docs"), some("https://git.example/acme/docs/tree/fix/a"))
        );
        assert_eq!(
            links("acme/docs", "main", Some("https://git.example/acme/docs/-/merge_requests/7")).1,
            some("https://git.example/acme/docs/-/tree/main")
        );
        assert_eq!(links("https://git.example/a/b", "main", None).0, some("https://git.example/a/b"));
    }

    #[test]
    fn uncertain_repository_has_no_link() {
        assert_eq!(links("acme/docs", "main", None), (None, None));
        assert_eq!(links("acme/docs", "main", Some("https://git.example/other/pull/7")), (None, None));
        assert_eq!(links("acme/docs", "main", Some("javascript:alert(1)//acme/docs/")), (None, None));
        let odd = links("acme/docs", "a b?c", Some("https://git.example/acme/docs/pull/7"));
        assert_eq!(odd.1, None);
    }
}
