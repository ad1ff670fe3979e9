//! Who else vouches for people: an OpenID Connect provider, or a proxy that has signed them in.

use axum::http::HeaderName;
use secrecy::SecretString;

use super::source::{self, ConfigError, Source};
use super::upstream::safe_address;
use crate::model::user::Role;

/// Nothing in it: people have passwords, and nobody vouches for them.
#[derive(Clone, Default)]
pub struct IdentityConfig {
    pub single_sign_on: Option<SingleSignOnConfig>,
    pub trusted_header: Option<TrustedHeaderConfig>,
}

/// An OpenID Connect provider, and what its groups may do here.
#[derive(Clone)]
pub struct SingleSignOnConfig {
    /// Exactly as the provider writes it.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: SecretString,
    /// The claim with a person's groups.
    pub groups_claim: String,
    pub roles: GroupRoles,
    /// What is asked for besides `openid`.
    pub scopes: Vec<String>,
    /// What people call the provider.
    pub name: String,
}

/// The headers in which a proxy says whom it has signed in. They count only from the configured proxies.
#[derive(Clone)]
pub struct TrustedHeaderConfig {
    pub user: HeaderName,
    /// Nothing: people have accounts with roles here already.
    pub groups: Option<(HeaderName, GroupRoles)>,
}

/// Which groups have which role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRoles(Vec<(String, Role)>);

impl IdentityConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self { single_sign_on: single_sign_on(source)?, trusted_header: trusted_header(source)? })
    }
}

impl GroupRoles {
    /// `group=role,group=role`; a group may have `=` in it, but no comma.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mapped = text.split(',').map(|part| {
            let (group, role) = part.rsplit_once('=').ok_or_else(|| format!("“{part}” is not group=role"))?;
            let role: Role = role.trim().parse().map_err(str::to_owned)?;
            match group.trim() {
                "" => Err(format!("“{part}” names no group")),
                group => Ok((group.to_owned(), role)),
            }
        });
        mapped.collect::<Result<_, _>>().map(Self)
    }

    /// The highest role of somebody in `groups`; nothing where none of them has one.
    pub fn role_of<'a>(&self, groups: impl IntoIterator<Item = &'a str>) -> Option<Role> {
        let role = |group| self.0.iter().filter(move |(known, _)| known == group).map(|(_, role)| *role);
        groups.into_iter().flat_map(role).max()
    }
}

fn single_sign_on(source: &Source) -> Result<Option<SingleSignOnConfig>, ConfigError> {
    let issuer = source.optional("oidc_issuer", |text| safe_address(text).map(|_| text.to_owned()))?;
    let client_id = source.optional("oidc_client_id", text)?;
    let Some(issuer) = issuer else {
        // Half a configuration would leave people without a way in, and nobody would know why.
        return if client_id.is_some() { Err(source::missing("oidc_issuer")) } else { Ok(None) };
    };
    Ok(Some(SingleSignOnConfig {
        issuer,
        client_id: client_id.ok_or_else(|| source::missing("oidc_client_id"))?,
        client_secret: client_secret(source)?,
        groups_claim: source.or_default("oidc_groups_claim", text)?,
        roles: source.required("oidc_roles", GroupRoles::parse)?,
        scopes: source.or_default("oidc_scopes", scopes)?,
        name: source.or_default("oidc_name", text)?,
    }))
}

fn client_secret(source: &Source) -> Result<SecretString, ConfigError> {
    if let Some(secret) = source.optional("oidc_client_secret", source::secret)? {
        return Ok(secret);
    }
    source.required("oidc_client_secret_file", |path| {
        let text =
            std::fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"))?;
        source::secret(text.trim()).map_err(str::to_owned)
    })
}

fn trusted_header(source: &Source) -> Result<Option<TrustedHeaderConfig>, ConfigError> {
    let header = |text: &str| text.parse::<HeaderName>().map_err(|_| format!("“{text}” is no header's name"));
    let user = source.optional("trusted_header", header)?;
    let groups = source.optional("trusted_groups_header", header)?;
    let Some(user) = user else {
        return if groups.is_some() { Err(source::missing("trusted_header")) } else { Ok(None) };
    };
    let groups = match groups {
        Some(name) => Some((name, source.required("trusted_roles", GroupRoles::parse)?)),
        None => None,
    };
    Ok(Some(TrustedHeaderConfig { user, groups }))
}

fn text(text: &str) -> Result<String, &'static str> {
    if text.is_empty() { Err("it is empty") } else { Ok(text.to_owned()) }
}

fn scopes(text: &str) -> Result<Vec<String>, &'static str> {
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_role_of_all_groups_counts_and_unknown_groups_count_nothing() {
        let roles = GroupRoles::parse("writers=operator, cn=leads=admin,all=viewer").expect("roles");
        assert_eq!(roles.role_of(["all", "writers"]), Some(Role::Operator));
        assert_eq!(roles.role_of(["cn=leads", "all"]), Some(Role::Admin));
        assert_eq!(roles.role_of(["Writers", "writers "]), None);
        assert_eq!(roles.role_of([]), None);
        for bad in ["", "writers", "writers=king", "=admin", "a=viewer,,b=admin"] {
            assert!(GroupRoles::parse(bad).is_err(), "{bad:?}");
        }
    }
}
