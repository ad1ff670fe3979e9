//! GraphQL queries for several pull requests at once. The values are variables, never part of the text, so each number of pull requests has one text.
//! `end2end/tests/github_schema.spec.ts` validates both queries against GitHub's published schema.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::code_host::link::PullRequestLink;
use model::pull_request::{FILES_MAX, REVIEWERS_MAX};

/// The maximum number of pull requests in one query.
pub(crate) const BATCH: usize = 50;

/// What a query requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    State,
    /// On its own, because a token may lack the permission.
    Checks,
}

impl Part {
    fn fields(self) -> String {
        match self {
            Self::State => format!(
                "state isDraft createdAt mergedAt closedAt mergeable reviewDecision changedFiles \
                 files(first: {FILES_MAX}) {{ nodes {{ path }} }} \
                 reviewRequests(first: {REVIEWERS_MAX}) {{ nodes {{ requestedReviewer {{ \
                 ... on User {{ login }} ... on Bot {{ login }} ... on Mannequin {{ login }} ... on Team {{ name }} }} }} }} \
                 latestOpinionatedReviews(first: {REVIEWERS_MAX}) {{ nodes {{ state author {{ login }} }} }}"
            ),
            Self::Checks => {
                "commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }".to_owned()
            }
        }
    }
}

/// The name of the pull request at an index, in the query and in its response.
pub(super) fn alias(index: usize) -> String {
    format!("p{index}")
}

/// The body of the request.
pub(super) fn request(part: Part, links: &[&PullRequestLink]) -> Value {
    let (mut parameters, mut selections, mut variables) = (String::new(), String::new(), Map::new());
    for (index, link) in links.iter().enumerate() {
        let alias = alias(index);
        let (owner, name) = link.owner_and_name();
        // Writing to a string never fails.
        let _ = write!(parameters, "$o{index}: String!, $r{index}: String!, $n{index}: Int!, ");
        let _ = write!(
            selections,
            "{alias}: repository(owner: $o{index}, name: $r{index}) {{ pullRequest(number: $n{index}) {{ ...fields }} }} "
        );
        variables.insert(format!("o{index}"), owner.into());
        variables.insert(format!("r{index}"), name.into());
        variables.insert(format!("n{index}"), link.number.into());
    }
    let parameters = parameters.trim_end_matches(", ");
    let query = format!(
        "query({parameters}) {{ {selections}}} fragment fields on PullRequest {{ {} }}",
        part.fields()
    );
    json!({ "query": query, "variables": variables })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_variables() {
        let link = |number| PullRequestLink { repository: "acme/docs".to_owned(), number };
        let request = request(Part::Checks, &[&link(7), &link(8)]);
        assert_eq!(
            request["query"],
            "query($o0: String!, $r0: String!, $n0: Int!, $o1: String!, $r1: String!, $n1: Int!) { \
             p0: repository(owner: $o0, name: $r0) { pullRequest(number: $n0) { ...fields } } \
             p1: repository(owner: $o1, name: $r1) { pullRequest(number: $n1) { ...fields } } } \
             fragment fields on PullRequest { commits(last: 1) { nodes { commit { statusCheckRollup { state } } } } }"
        );
        assert_eq!(request["variables"]["o1"], "acme");
        assert_eq!(request["variables"]["n1"], 8);
    }
}
