//! Which pull request of a code host a job's link leads to. Links come from the platform: any text is possible.

use std::fmt;

use url::Url;

/// A pull request of a code host.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PullRequestLink {
    /// The repository: `owner/name`, or the path of a GitLab project, which may have several groups.
    pub repository: String,
    pub number: u64,
}

/// How a code host writes the links of its pull requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkForm {
    GitHub,
    GitLab,
}

/// No code host has longer paths.
const REPOSITORY_MAX_BYTES: usize = 500;

impl fmt::Display for PullRequestLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.repository, self.number)
    }
}

impl PullRequestLink {
    /// `base`: the web address of the code host. `None` if the link leads elsewhere.
    pub fn parse(link: &str, base: &Url, form: LinkForm) -> Option<Self> {
        let link = Url::parse(link).ok()?;
        let is_same_host = link.scheme() == base.scheme()
            && host(&link)?.eq_ignore_ascii_case(host(base)?)
            && link.port_or_known_default() == base.port_or_known_default();
        let path = link.path().strip_prefix(base.path().trim_end_matches('/')).filter(|_| is_same_host)?;
        let path = path.strip_prefix('/')?;
        let (repository, number) = match form {
            LinkForm::GitHub => path.split_once("/pull/")?,
            // GitLab redirects the form without `/-/`, which it wrote itself before version 12.
            LinkForm::GitLab => {
                path.split_once("/-/merge_requests/").or_else(|| path.rsplit_once("/merge_requests/"))?
            }
        };
        let parts: Vec<&str> = repository.split('/').collect();
        let has_parts = match form {
            LinkForm::GitHub => parts.len() == 2,
            LinkForm::GitLab => parts.len() >= 2,
        };
        let are_plain = parts.iter().all(|part| is_plain(part)) && repository.len() <= REPOSITORY_MAX_BYTES;
        let number = number
            .split('/')
            .next()?
            .parse()
            .ok()
            .filter(|number| (1..=u64::from(u32::MAX >> 1)).contains(number))?;
        (has_parts && are_plain).then(|| Self { repository: repository.to_owned(), number })
    }

    /// The owner and the name of a repository of GitHub.
    pub fn owner_and_name(&self) -> (&str, &str) {
        self.repository.split_once('/').unwrap_or((&self.repository, ""))
    }
}

/// The name of the host, without the dot at the end that an absolute name may have.
fn host(url: &Url) -> Option<&str> {
    url.host_str().map(|host| host.strip_suffix('.').unwrap_or(host))
}

/// Whether a code host allows this name. It becomes part of URLs. `-` alone separates a project from what belongs to it.
fn is_plain(part: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    part != "-" && !part.is_empty() && part.chars().all(is_allowed) && !part.chars().all(|c| c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(link: &str, base: &str, form: LinkForm) -> Option<(String, u64)> {
        let link = PullRequestLink::parse(link, &Url::parse(base).expect("an address"), form)?;
        Some((link.repository, link.number))
    }

    #[test]
    fn link_of_the_code_host_names_a_pull_request() {
        let github = |link: &str| parsed(link, "https://github.com", LinkForm::GitHub);
        let expected = Some(("acme/docs".to_owned(), 259));
        for link in [
            "https://github.com/acme/docs/pull/259",
            "https://GitHub.com/acme/docs/pull/259/files?diff=split#top",
            "https://github.com:443/acme/docs/pull/259/",
            "https://github.com./acme/docs/pull/259",
        ] {
            assert_eq!(github(link), expected, "{link}");
        }
        let gitlab = |link: &str| parsed(link, "https://git.example/lab/", LinkForm::GitLab);
        assert_eq!(
            gitlab("https://git.example/lab/acme/team/docs/-/merge_requests/7/diffs"),
            Some(("acme/team/docs".to_owned(), 7))
        );
        for link in [
            "https://git.example/lab/acme/team/docs/merge_requests/7",
            "https://git.example./lab/acme/team/docs/merge_requests/7/diffs?view=inline#top",
        ] {
            assert_eq!(gitlab(link), Some(("acme/team/docs".to_owned(), 7)), "{link}");
        }
        let absolute = |link: &str| parsed(link, "https://git.example./", LinkForm::GitLab);
        assert_eq!(absolute("https://git.example/a/b/-/merge_requests/1"), Some(("a/b".to_owned(), 1)));
        let enterprise =
            parsed("https://git.example:8443/a/b.c/pull/1", "https://git.example:8443/", LinkForm::GitHub);
        assert_eq!(enterprise, Some(("a/b.c".to_owned(), 1)));
    }

    #[test]
    fn other_links_are_not_tracked() {
        for link in [
            "https://git.example/docs/merge_requests/7",
            "https://git.example/merge_requests/7",
            "https://git.example/acme/docs/merge_requests/new",
            "https://git.example/acme/docs/-/issues/merge_requests/7",
            "https://git.example../acme/docs/merge_requests/7",
            "https://git.example.evil./acme/docs/merge_requests/7",
        ] {
            assert_eq!(parsed(link, "https://git.example", LinkForm::GitLab), None, "{link}");
        }
        for link in [
            "",
            "acme/docs#259",
            "https://github.example/acme/docs/pull/259",
            "https://github.com.example/acme/docs/pull/259",
            "http://github.com/acme/docs/pull/259",
            "https://github.com:8443/acme/docs/pull/259",
            "https://github.com/acme/docs/issues/259",
            "https://github.com/acme/docs/pull/0",
            "https://github.com/acme/docs/pull/x",
            "https://github.com/acme/docs/pull/99999999999999",
            "https://github.com/acme/docs/more/pull/259",
            "https://github.com/docs/pull/259",
            "https://github.com/acme/%2e%2e/pull/259",
            "https://github.com/acme/do cs/pull/259",
            "https://github.com/acme/…/pull/259",
            "javascript:alert(1)//github.com/acme/docs/pull/259",
        ] {
            assert_eq!(parsed(link, "https://github.com", LinkForm::GitHub), None, "{link}");
        }
    }
}
