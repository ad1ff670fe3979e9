//! External authentication: an OpenID Connect provider, or an authenticating proxy.

use axum::http::HeaderName;
use secrecy::SecretString;

use super::source::{self, ConfigError, Source};
use super::upstream::safe_address;
use crate::model::user::Role;

/// Empty by default: people sign in with passwords only.
#[derive(Clone, Default)]
pub struct IdentityConfig {
    pub single_sign_on: Option<SingleSignOnConfig>,
    pub trusted_header: Option<TrustedHeaderConfig>,
}

/// An OpenID Connect provider, and the roles of its groups.
#[derive(Clone)]
pub struct SingleSignOnConfig {
    /// Exactly as the provider publishes it.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: SecretString,
    /// The claim that holds a person's groups.
    pub groups_claim: String,
    pub roles: GroupRoles,
    /// Scopes to request besides `openid`.
    pub scopes: Vec<String>,
    /// The provider's name on the sign-in page.
    pub name: String,
}

/// The headers in which a proxy names the signed-in user. They are accepted only from the configured proxies.
#[derive(Clone)]
pub struct TrustedHeaderConfig {
    pub user: HeaderName,
    /// `None`: everybody needs an account with a role first.
    pub groups: Option<(HeaderName, GroupRoles)>,
}

/// The role of each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRoles(Vec<(String, Role)>);

impl IdentityConfig {
    /// `has_proxies`: whether any proxy is trusted; without one, nobody could send the header.
    pub(super) fn from_source(source: &Source, has_proxies: bool) -> Result<Self, ConfigError> {
        let trusted_header = trusted_header(source)?;
        if trusted_header.is_some() && !has_proxies {
            return Err(source::missing("trusted_proxies"));
        }
        Ok(Self { single_sign_on: single_sign_on(source)?, trusted_header })
    }
}

impl GroupRoles {
    /// `group=role,group=role`; a group may have `=` in it, but no comma.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mapped = text.split(',').map(|part| {
            let (group, role) = part.rsplit_once('=').ok_or_else(|| format!("“{part}” is not group=role"))?;
            let role: Role = role
                .trim()
                .parse()
                .map_err(|_| format!("“{role}” is no role; there are viewer, operator and admin"))?;
            match group.trim() {
                "" => Err(format!("“{part}” names no group")),
                group => Ok((group.to_owned(), role)),
            }
        });
        mapped.collect::<Result<_, _>>().map(Self)
    }

    /// The highest role of `groups`; `None` if none of them has one.
    pub fn role_of<'a>(&self, groups: impl IntoIterator<Item = &'a str>) -> Option<Role> {
        let role = |group| self.0.iter().filter(move |(known, _)| known == group).map(|(_, role)| *role);
        groups.into_iter().flat_map(role).max()
    }
}

fn single_sign_on(source: &Source) -> Result<Option<SingleSignOnConfig>, ConfigError> {
    let issuer = source.optional("oidc_issuer", |text| safe_address(text).map(|_| text.to_owned()))?;
    let client_id = source.optional("oidc_client_id", text)?;
    let Some(issuer) = issuer else {
        // An incomplete configuration would disable single sign-on without an error.
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

    const WHOLE: [(&str, &str); 4] = [
        ("DOCKET_OIDC_ISSUER", "https://id.example.com"),
        ("DOCKET_OIDC_CLIENT_ID", "docket"),
        ("DOCKET_OIDC_CLIENT_SECRET", "s3cret"),
        ("DOCKET_OIDC_ROLES", "writers=operator"),
    ];

    fn read(environment: &[(&str, &str)], has_proxies: bool) -> Result<IdentityConfig, String> {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let source = Source::new("", "Leptos.toml", environment).map_err(|error| error.to_string())?;
        IdentityConfig::from_source(&source, has_proxies).map_err(|error| error.to_string())
    }

    #[test]
    fn a_provider_is_configured_whole_or_not_at_all() {
        let config = read(&WHOLE, false).ok().and_then(|config| config.single_sign_on).expect("a provider");
        assert_eq!((config.groups_claim.as_str(), config.name.as_str()), ("groups", "single sign-on"));
        assert_eq!(config.scopes, ["email", "profile"]);
        assert!(read(&[], false).is_ok_and(|config| config.single_sign_on.is_none()));
        for (missing, _) in WHOLE {
            let rest: Vec<_> = WHOLE.into_iter().filter(|(name, _)| *name != missing).collect();
            let error = read(&rest, false).err().expect("an error");
            assert!(error.contains(missing) && !error.contains("s3cret"), "{missing}: {error}");
        }
        for bad in ["http://id.example.com", "id.example.com", "https://user:pass@id.example.com"] {
            let error = read(&[("DOCKET_OIDC_ISSUER", bad)], false).err().expect("an error");
            assert!(error.contains("DOCKET_OIDC_ISSUER"), "{error}");
        }
    }

    #[test]
    fn a_secret_may_come_from_a_file() {
        use secrecy::ExposeSecret;
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "s3cret\n").expect("written");
        let path = file.path().display().to_string();
        let mut environment = WHOLE;
        environment[2] = ("DOCKET_OIDC_CLIENT_SECRET_FILE", &path);
        let config =
            read(&environment, false).ok().and_then(|config| config.single_sign_on).expect("a provider");
        assert_eq!(config.client_secret.expose_secret(), "s3cret");
        environment[2] = ("DOCKET_OIDC_CLIENT_SECRET_FILE", "/nowhere");
        assert!(read(&environment, false).is_err_and(|error| error.contains("/nowhere")));
    }

    #[test]
    fn a_header_needs_a_proxy_and_groups_need_roles() {
        let user = ("DOCKET_TRUSTED_HEADER", "X-Forwarded-User");
        let groups = ("DOCKET_TRUSTED_GROUPS_HEADER", "x-forwarded-groups");
        assert!(read(&[user], true).is_ok_and(|config| config.trusted_header.is_some()));
        for (environment, has_proxies, named) in [
            (&[user][..], false, "DOCKET_TRUSTED_PROXIES"),
            (&[user, groups], true, "DOCKET_TRUSTED_ROLES"),
            (&[groups], true, "DOCKET_TRUSTED_HEADER"),
            (&[("DOCKET_TRUSTED_HEADER", "no header")], true, "DOCKET_TRUSTED_HEADER"),
        ] {
            let error = read(environment, has_proxies).err().expect("an error");
            assert!(error.contains(named), "{named}: {error}");
        }
    }
}
