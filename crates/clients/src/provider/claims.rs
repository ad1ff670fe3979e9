//! What the claims of an ID token or of the userinfo endpoint say about a person. Claims that Docket does not use may have any form.

use serde_json::{Map, Value};

/// `None`: not stated.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stated {
    pub(super) email: Option<String>,
    pub(super) email_verified: Option<bool>,
    pub(super) groups: Option<Vec<String>>,
    /// Whether the groups are too many for the token, so that only another service has them.
    pub(super) has_groups_elsewhere: bool,
}

impl Stated {
    /// `groups`: the claim with the groups, or the path to it, with dots.
    pub(super) fn by(claims: &Map<String, Value>, groups: &str) -> Self {
        let is_named_elsewhere = claims.get("_claim_names").is_some_and(|names| names.get(groups).is_some());
        // Entra states this about its claim of groups only.
        let has_more = groups == "groups" && truth(claims.get("hasgroups")) == Some(true);
        Self {
            email: text(claims.get("email")).filter(|email| !email.is_empty()).map(str::to_owned),
            email_verified: verified(claims.get("email_verified")),
            groups: found(claims, groups).and_then(names),
            has_groups_elsewhere: is_named_elsewhere || has_more,
        }
    }

    /// Whether the userinfo endpoint may know more. If an address is accepted without a statement, that is not missing.
    pub(super) fn is_incomplete(&self, trusts_email: bool) -> bool {
        self.email.is_none()
            || (self.email_verified.is_none() && !trusts_email)
            || self.groups.as_ref().is_none_or(Vec::is_empty)
    }

    /// With what the userinfo endpoint states. It overrules the token only in what it states, and adds to no list of groups.
    pub(super) fn and(mut self, other: Self) -> Self {
        let names_no_address = other.email.is_none();
        if !names_no_address && other.email != self.email {
            // The statement of the token is about another address.
            self.email_verified = None;
            self.email = other.email;
        }
        self.email_verified = match other.email_verified {
            // About an address that it does not name.
            Some(true) if names_no_address => self.email_verified,
            stated => stated.or(self.email_verified),
        };
        if self.groups.as_ref().is_none_or(Vec::is_empty) {
            self.groups = other.groups.or(self.groups);
        }
        self.has_groups_elsewhere |= other.has_groups_elsewhere;
        self
    }
}

fn text(claim: Option<&Value>) -> Option<&str> {
    claim.and_then(Value::as_str)
}

/// Some providers send a truth value as text.
fn truth(claim: Option<&Value>) -> Option<bool> {
    match claim? {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A statement of an unknown form is no confirmation.
fn verified(claim: Option<&Value>) -> Option<bool> {
    claim.filter(|claim| !claim.is_null()).map(|claim| truth(Some(claim)) == Some(true))
}

/// The claim of this name, or at this path: names may contain dots, too.
fn found<'a>(claims: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    claims.get(path).or_else(|| {
        path.match_indices('.').find_map(|(at, _)| {
            let within = claims.get(&path[..at])?.as_object()?;
            found(within, &path[at + 1..])
        })
    })
}

/// The groups of a list, of a text, or of an object whose keys they are, with `true` or with details as their values.
fn names(claim: &Value) -> Option<Vec<String>> {
    match claim {
        Value::Array(groups) => Some(groups.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        Value::String(group) => Some(vec![group.clone()]),
        Value::Object(groups) => {
            let is_member =
                |of: &Value| of == &Value::Bool(true) || of.as_object().is_some_and(|of| !of.is_empty());
            Some(groups.iter().filter(|(_, of)| is_member(of)).map(|(group, _)| group.clone()).collect())
        }
        Value::Null => Some(Vec::new()),
        Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn stated(claims: &Value, groups: &str) -> Stated {
        Stated::by(claims.as_object().unwrap_or_else(|| panic!("an object")), groups)
    }

    fn groups(claims: &Value, path: &str) -> Option<Vec<String>> {
        stated(claims, path).groups
    }

    #[test]
    fn groups_have_the_forms_of_common_providers() {
        let two = Some(vec!["leads".to_owned(), "writers".to_owned()]);
        let keycloak = json!({"realm_access": {"roles": ["leads", "writers"]}, "resource_access": {"my.app": {"roles": ["x"]}}});
        assert_eq!(groups(&keycloak, "realm_access.roles"), two);
        assert_eq!(groups(&keycloak, "resource_access.my.app.roles"), Some(vec!["x".to_owned()]));
        let zitadel = json!({"urn:zitadel:iam:org:project:roles": {"leads": {"1": "a.example"}, "writers": {"1": "a.example"}}});
        assert_eq!(groups(&zitadel, "urn:zitadel:iam:org:project:roles"), two);
        let auth0 = json!({"https://docs.example.com/groups": ["leads", 3, "writers"]});
        assert_eq!(groups(&auth0, "https://docs.example.com/groups"), two);
        assert_eq!(groups(&json!({"groups": "writers"}), "groups"), Some(vec!["writers".to_owned()]));
        let with_false = json!({"groups": {"leads": false, "all": {}, "others": null, "writers": true}});
        assert_eq!(groups(&with_false, "groups"), Some(vec!["writers".to_owned()]));
        assert_eq!(groups(&json!({"groups": null}), "groups"), Some(Vec::new()));
        assert_eq!(groups(&json!({"groups": 7, "a": {"b": 1}}), "groups"), None);
        assert_eq!(groups(&keycloak, "realm_access.groups"), None);
    }

    #[test]
    fn overage_of_groups_is_seen() {
        assert!(stated(&json!({"_claim_names": {"groups": "src1"}}), "groups").has_groups_elsewhere);
        assert!(stated(&json!({"hasgroups": "true"}), "groups").has_groups_elsewhere);
        assert!(!stated(&json!({"_claim_names": {"address": "src1"}}), "groups").has_groups_elsewhere);
        assert!(!stated(&json!({"hasgroups": true}), "roles").has_groups_elsewhere);
    }

    #[test]
    fn userinfo_overrules_only_what_it_states() {
        let token = || {
            stated(&json!({"email": "mia@example.com", "email_verified": true, "groups": ["a"]}), "groups")
        };
        let and = |claims: Value| token().and(stated(&claims, "groups"));
        assert_eq!(and(json!({"email": "mia@example.com"})), token());
        assert_eq!(
            and(json!({"email": "mia@example.com", "email_verified": false})).email_verified,
            Some(false)
        );
        let other = and(json!({"email": "other@example.com", "groups": ["b"]}));
        assert_eq!((other.email.as_deref(), other.email_verified), (Some("other@example.com"), None));
        assert_eq!(other.groups, Some(vec!["a".to_owned()]), "the token has a list");
        assert!(!token().is_incomplete(false) && other.is_incomplete(false) && !other.is_incomplete(true));
        let denied = stated(&json!({"email": "mia@example.com", "email_verified": false}), "groups");
        let added = denied.and(stated(&json!({"email_verified": true, "groups": ["b"]}), "groups"));
        assert_eq!((added.email_verified, added.groups), (Some(false), Some(vec!["b".to_owned()])));
        assert_eq!(and(json!({"email_verified": false})).email_verified, Some(false));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "true|false|TRUE|1|[a-z@.]{0,9}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-c.]{1,3}", inner, 0..3)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Whatever other claims contain, and whatever form these have, only a clear statement verifies an address.
        #[test]
        fn claims_of_any_form_are_read(
            fields in prop::collection::btree_map(
                "email|email_verified|groups|a|a.b|address|amr|updated_at|_claim_names|hasgroups", value(), 0..8,
            ),
            path in "groups|a|a.b|a.b.c|.|a..b|",
        ) {
            let claims: Map<String, Value> = fields.into_iter().collect();
            let stated = Stated::by(&claims, &path);
            let verified = claims.get("email_verified");
            let is_true = verified == Some(&Value::Bool(true)) || verified.and_then(Value::as_str) == Some("true");
            prop_assert_eq!(stated.email_verified == Some(true), is_true);
            prop_assert_eq!(stated.email_verified.is_none(), verified.is_none_or(Value::is_null));
            prop_assert_eq!(stated.email.as_deref(), claims.get("email").and_then(Value::as_str).filter(|email| !email.is_empty()));
        }
    }
}
