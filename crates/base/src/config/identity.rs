//! External authentication: an OpenID Connect provider, or an authenticating proxy.

use http::HeaderName;
use ipnet::IpNet;
use secrecy::{ExposeSecret, SecretString};

use super::error::ConfigError;
use super::key::missing;
use super::setting::{OptionalSetting, Setting, secret, secret_in_file, switch};
use super::source::Source;
use super::upstream::safe_address;
use model::user::{GivenProjects, Project, Role};

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
    /// The claim with a person's groups.
    pub groups_claim: String,
    pub roles: GroupRoles,
    pub projects: GroupProjects,
    /// Whether an address is accepted without a statement that it is verified.
    pub trusts_email: bool,
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
    pub groups: Option<TrustedGroups>,
    /// The secret that the proxy sends in the header [`SECRET_HEADER`]. Its IP proves too little: other programs may connect from there, and
    /// a proxy may forward what its clients send.
    pub secret: SecretString,
}

/// The header with the groups, and the roles and projects of the groups.
#[derive(Clone)]
pub struct TrustedGroups {
    pub header: HeaderName,
    pub roles: GroupRoles,
    pub projects: GroupProjects,
}

/// The header with which the proxy authenticates itself.
pub const SECRET_HEADER: HeaderName = HeaderName::from_static("docket-proxy-secret");

/// The minimum length of the secret, in characters.
const SECRET_MIN: usize = 24;

/// The role of each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRoles(Vec<(String, Role)>);

/// The projects of each group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupProjects(Vec<(String, GivenProjects)>);

impl IdentityConfig {
    /// `proxies`: the trusted ones; the header is accepted only from them. `all`: the configured projects.
    pub(super) fn from_source(
        source: &Source,
        proxies: &[IpNet],
        all: &[Project],
    ) -> Result<Self, ConfigError> {
        let trusted_header = trusted_header(source, all)?;
        if trusted_header.is_some() && proxies.is_empty() {
            return Err(missing("trusted_proxies"));
        }
        let single_sign_on = single_sign_on(source, all)?;
        if trusted_header.is_some() && single_sign_on.as_ref().is_some_and(|provider| provider.trusts_email) {
            return Err(ConfigError(
                "DOCKET_OIDC_TRUST_EMAIL cannot be used with DOCKET_TRUSTED_HEADER: a person who signs in first with an address that nobody verified \
                 would own the account of the person whom the proxy calls by it. An example: DOCKET_OIDC_TRUST_EMAIL=false"
                    .to_owned(),
            ));
        }
        Ok(Self { single_sign_on, trusted_header })
    }
}

impl GroupRoles {
    /// `group=role,group=role`. A group may contain `=`, and commas if it is in double quotes.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mapped = pairs(text, "role")?.into_iter().map(|(group, role)| {
            let known = role
                .parse()
                .map_err(|_| format!("“{role}” is no role; there are viewer, operator and admin"))?;
            Ok((group, known))
        });
        mapped.collect::<Result<_, String>>().map(Self)
    }

    /// The highest role of `groups`; `None` if none of them has one.
    pub fn role_of<'a>(&self, groups: impl IntoIterator<Item = &'a str>) -> Option<Role> {
        let role = |group| self.0.iter().filter(move |(known, _)| known == group).map(|(_, role)| *role);
        groups.into_iter().flat_map(role).max()
    }
}

impl GroupProjects {
    /// `group=project,group=project`; `*` means every project. A group may occur again with another project.
    pub fn parse(text: &str, all: &[Project]) -> Result<Self, String> {
        let mapped = pairs(text, "project")?.into_iter().map(|(group, project)| {
            let given = match project {
                "*" => GivenProjects::All,
                id => {
                    let known = all.iter().map(|project| &project.id).find(|known| known.as_str() == id);
                    let known = known.ok_or_else(|| format!("{id} is not among the projects"))?;
                    GivenProjects::These(vec![known.clone()])
                }
            };
            Ok((group, given))
        });
        mapped.collect::<Result<_, String>>().map(Self)
    }

    /// All projects of `groups`, in the configured order.
    pub fn given_to<'a>(&self, groups: impl IntoIterator<Item = &'a str>) -> GivenProjects {
        let groups: Vec<&str> = groups.into_iter().collect();
        let given = self.0.iter().filter(|(group, _)| groups.contains(&group.as_str()));
        given.fold(GivenProjects::default(), |all, (_, given)| all.and(given))
    }
}

/// Splits `group=value,group=value`. A group is in double quotes if it contains commas.
fn pairs<'a>(text: &'a str, value: &str) -> Result<Vec<(String, &'a str)>, String> {
    let (mut pairs, mut rest) = (Vec::new(), Some(text));
    while let Some(text) = rest {
        let (group, given, after) = match text.trim_start().strip_prefix('"') {
            Some(quoted) => quoted_pair(quoted, value)?,
            None => {
                let (part, after) = first_part(text);
                let (group, given) =
                    part.rsplit_once('=').ok_or_else(|| format!("“{part}” is not group={value}"))?;
                (group.trim(), given, after)
            }
        };
        if group.is_empty() {
            return Err(format!("“{text}” names no group"));
        }
        pairs.push((group.to_owned(), given.trim()));
        rest = after;
    }
    Ok(pairs)
}

/// The pair after an opening quotation mark, and what follows it.
fn quoted_pair<'a>(text: &'a str, value: &str) -> Result<(&'a str, &'a str, Option<&'a str>), String> {
    let (group, rest) =
        text.split_once('"').ok_or_else(|| format!("“{text}” has no closing quotation mark"))?;
    let (given, after) = first_part(rest);
    let given = given.trim_start().strip_prefix('=');
    let given = given.ok_or_else(|| format!("“\"{group}\"{rest}” is not \"group\"={value}"))?;
    Ok((group, given, after))
}

/// Up to the first comma, and what follows it.
fn first_part(text: &str) -> (&str, Option<&str>) {
    text.split_once(',').map_or((text, None), |(part, rest)| (part, Some(rest)))
}

fn single_sign_on(source: &Source, all: &[Project]) -> Result<Option<SingleSignOnConfig>, ConfigError> {
    let raw = &source.raw;
    let issuer = raw.oidc_issuer.parse(|text| safe_address(text).map(|_| text.to_owned()))?;
    let client_id = raw.oidc_client_id.parse(text)?;
    let Some(issuer) = issuer else {
        // An incomplete configuration would disable single sign-on without an error.
        return if client_id.is_some() { Err(missing("oidc_issuer")) } else { Ok(None) };
    };
    Ok(Some(SingleSignOnConfig {
        issuer,
        client_id: client_id.ok_or_else(|| missing("oidc_client_id"))?,
        client_secret: client_secret(source)?,
        groups_claim: raw.oidc_groups_claim.parse(text)?,
        roles: raw.oidc_roles.parse(GroupRoles::parse)?.ok_or_else(|| missing("oidc_roles"))?,
        projects: group_projects(&raw.oidc_projects, all)?,
        trusts_email: raw.oidc_trust_email.parse(switch)?,
        scopes: raw.oidc_scopes.parse(scopes)?,
        name: raw.oidc_name.parse(text)?,
    }))
}

fn client_secret(source: &Source) -> Result<SecretString, ConfigError> {
    if let Some(secret) = source.raw.oidc_client_secret.parse(secret)? {
        return Ok(secret);
    }
    let from_file = source.raw.oidc_client_secret_file.parse(secret_in_file)?;
    from_file.ok_or_else(|| missing("oidc_client_secret_file"))
}

fn group_projects(setting: &Option<Setting>, all: &[Project]) -> Result<GroupProjects, ConfigError> {
    Ok(setting.parse(|text| GroupProjects::parse(text, all))?.unwrap_or_default())
}

fn trusted_header(source: &Source, all: &[Project]) -> Result<Option<TrustedHeaderConfig>, ConfigError> {
    let raw = &source.raw;
    let header = |text: &str| text.parse::<HeaderName>().map_err(|_| format!("“{text}” is no header's name"));
    let user = raw.trusted_header.parse(header)?;
    let groups = raw.trusted_groups_header.parse(header)?;
    let Some(user) = user else {
        return if groups.is_some() { Err(missing("trusted_header")) } else { Ok(None) };
    };
    let groups = match groups {
        Some(header) => Some(TrustedGroups {
            header,
            roles: raw.trusted_roles.parse(roles_of_a_header)?.ok_or_else(|| missing("trusted_roles"))?,
            projects: group_projects(&raw.trusted_projects, all)?,
        }),
        None => None,
    };
    Ok(Some(TrustedHeaderConfig { user, groups, secret: trusted_secret(source)? }))
}

/// The header separates groups by commas.
fn roles_of_a_header(text: &str) -> Result<GroupRoles, String> {
    let roles = GroupRoles::parse(text)?;
    match roles.0.iter().find(|(group, _)| group.contains(',')) {
        Some((group, _)) => {
            Err(format!("a proxy cannot send the group “{group}”: its header separates groups by commas"))
        }
        None => Ok(roles),
    }
}

fn trusted_secret(source: &Source) -> Result<SecretString, ConfigError> {
    let raw = &source.raw;
    let secret = match raw.trusted_secret.parse(secret)? {
        Some(secret) => Some(secret),
        None => raw.trusted_secret_file.parse(secret_in_file)?,
    };
    let secret = secret.ok_or_else(|| {
        ConfigError(
            "DOCKET_TRUSTED_SECRET or DOCKET_TRUSTED_SECRET_FILE is required with DOCKET_TRUSTED_HEADER: without it, anyone who can connect \
             from an address in DOCKET_TRUSTED_PROXIES, or whose headers the proxy forwards, could use any account. Have the proxy send a \
             random secret in the header docket-proxy-secret, and set the same here. \
             An example: DOCKET_TRUSTED_SECRET_FILE=/run/secrets/docket-proxy"
                .to_owned(),
        )
    })?;
    if secret.expose_secret().chars().count() < SECRET_MIN {
        return Err(ConfigError(format!(
            "DOCKET_TRUSTED_SECRET must have at least {SECRET_MIN} characters. An example of how to make one: openssl rand -hex 32"
        )));
    }
    Ok(secret)
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
    fn highest_role_of_known_groups_counts() {
        let roles = GroupRoles::parse("writers=operator, cn=leads=admin,all=viewer").expect("roles");
        assert_eq!(roles.role_of(["all", "writers"]), Some(Role::Operator));
        assert_eq!(roles.role_of(["cn=leads", "all"]), Some(Role::Admin));
        assert_eq!(roles.role_of(["Writers", "writers "]), None);
        assert_eq!(roles.role_of([]), None);
        for bad in ["", "writers", "writers=king", "=admin", "a=viewer,,b=admin"] {
            assert!(GroupRoles::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn quoted_groups_contain_commas() {
        let roles =
            GroupRoles::parse(r#""cn=a,ou=b"=operator, "say, x=y" = admin ,c"d=viewer"#).expect("roles");
        assert_eq!(roles.role_of(["cn=a,ou=b"]), Some(Role::Operator));
        assert_eq!(roles.role_of(["say, x=y"]), Some(Role::Admin));
        assert_eq!(roles.role_of(["c\"d"]), Some(Role::Viewer));
        assert_eq!(roles.role_of(["cn=a", "ou=b", "\"cn=a,ou=b\""]), None);
        let given = GroupProjects::parse(r#""cn=a,ou=b"=docs,all=*"#, &projects()).expect("projects");
        assert_eq!(given.given_to(["cn=a,ou=b"]).to_string(), "docs");
        for bad in [
            r#""a=viewer"#,
            r#""a"viewer"#,
            r#""a" x=viewer"#,
            r#"""=viewer"#,
            r#""a"=viewer,"#,
            r#""a","b"=viewer"#,
        ] {
            assert!(GroupRoles::parse(bad).is_err(), "{bad:?}");
        }
    }

    proptest::proptest! {
        /// Any group without a quotation mark can be configured, and no other group gets its role.
        #[test]
        fn every_group_can_be_configured(groups in proptest::collection::btree_set("[a-c,= .]{1,6}", 1..4), other in "[a-c,= .]{1,6}") {
            let setting: Vec<_> = groups.iter().map(|group| format!("\"{group}\"=operator")).collect();
            let roles = GroupRoles::parse(&setting.join(",")).expect("roles");
            for group in &groups {
                proptest::prop_assert_eq!(roles.role_of([group.as_str()]), Some(Role::Operator));
            }
            proptest::prop_assert_eq!(roles.role_of([other.as_str()]).is_some(), groups.contains(&other));
        }
    }

    const WHOLE: [(&str, &str); 4] = [
        ("DOCKET_OIDC_ISSUER", "https://id.example.com"),
        ("DOCKET_OIDC_CLIENT_ID", "docket"),
        ("DOCKET_OIDC_CLIENT_SECRET", "s3cret"),
        ("DOCKET_OIDC_ROLES", "writers=operator"),
    ];

    const SECRET: (&str, &str) = ("DOCKET_TRUSTED_SECRET", "a few unrelated words of a proxy");

    fn read(environment: &[(&str, &str)], has_proxies: bool) -> Result<IdentityConfig, String> {
        read_behind(environment, if has_proxies { &["10.0.0.0/8"] } else { &[] })
    }

    fn read_behind(environment: &[(&str, &str)], proxies: &[&str]) -> Result<IdentityConfig, String> {
        let proxies: Vec<IpNet> = proxies.iter().map(|network| network.parse().expect("a network")).collect();
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let source = Source::new("", "Leptos.toml", environment).map_err(|error| error.to_string())?;
        IdentityConfig::from_source(&source, &proxies, &projects()).map_err(|error| error.to_string())
    }

    fn projects() -> Vec<Project> {
        crate::config::parse_projects("docs=Docs,api=API").expect("projects")
    }

    #[test]
    fn projects_come_only_from_groups() {
        let given = GroupProjects::parse("writers=docs, cn=leads=*,writers=api,all=docs", &projects())
            .expect("projects");
        let to = |groups: &[&str]| given.given_to(groups.iter().copied()).to_string();
        assert_eq!(to(&["all"]), "docs");
        assert_eq!(to(&["all", "writers"]), "docs,api");
        assert_eq!(to(&["writers", "cn=leads"]), "*");
        assert_eq!((to(&[]), to(&["Writers"])), (String::new(), String::new()));
        for bad in ["", "writers", "writers=nowhere", "=docs", "a=docs,,b=docs", "a=docs+api"] {
            assert!(GroupProjects::parse(bad, &projects()).is_err(), "{bad:?}");
        }
        let mut environment = WHOLE.to_vec();
        environment.push(("DOCKET_OIDC_PROJECTS", "writers=nowhere"));
        let error = read(&environment, false).err().expect("an error");
        assert!(error.contains("DOCKET_OIDC_PROJECTS") && error.contains("nowhere"), "{error}");
    }

    #[test]
    fn trusted_header_needs_a_secret_behind_any_proxy() {
        let header = ("DOCKET_TRUSTED_HEADER", "X-Forwarded-User");
        for proxy in ["127.0.0.1/32", "0.0.0.0/0", "::1/128", "10.0.0.1/32", "fd00::/8", "192.0.2.0/24"] {
            let error = read_behind(&[header], &[proxy]).err().expect("an error");
            for part in ["docket-proxy-secret", "DOCKET_TRUSTED_SECRET_FILE=/run/secrets/docket-proxy"] {
                assert!(error.contains(part), "{proxy}: {error}");
            }
            assert!(read_behind(&[header, SECRET], &[proxy]).is_ok(), "{proxy}");
        }
        let short = ("DOCKET_TRUSTED_SECRET", "too short");
        let error = read_behind(&[header, short], &["127.0.0.1/32"]).err().expect("an error");
        assert!(error.contains("at least 24") && !error.contains("too short"), "{error}");
    }

    #[test]
    fn incomplete_provider_configuration_is_refused() {
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
    fn secret_is_read_from_a_file() {
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
    fn provider_with_trusted_addresses_and_a_proxy_exclude_each_other() {
        let trust = ("DOCKET_OIDC_TRUST_EMAIL", "true");
        let header = ("DOCKET_TRUSTED_HEADER", "X-Forwarded-User");
        let with = |more: &[(&str, &str)]| read(&[&WHOLE[..], more].concat(), true);
        assert!(with(&[trust]).is_ok() && with(&[header, SECRET]).is_ok());
        let error = with(&[trust, header, SECRET]).err().expect("an error");
        assert!(error.contains("DOCKET_OIDC_TRUST_EMAIL cannot be used"), "{error}");
    }

    #[test]
    fn group_with_a_comma_is_refused_for_a_proxy() {
        let roles = ("DOCKET_TRUSTED_ROLES", r#""cn=a,ou=b"=viewer"#);
        let header =
            [("DOCKET_TRUSTED_HEADER", "X-User"), ("DOCKET_TRUSTED_GROUPS_HEADER", "x-groups"), SECRET];
        let error = read(&[&header[..], &[roles]].concat(), true).err().expect("an error");
        assert!(error.contains("cn=a,ou=b") && error.contains("DOCKET_TRUSTED_ROLES"), "{error}");
    }

    #[test]
    fn trusted_header_needs_proxies_and_groups_need_roles() {
        let user = ("DOCKET_TRUSTED_HEADER", "X-Forwarded-User");
        let groups = ("DOCKET_TRUSTED_GROUPS_HEADER", "x-forwarded-groups");
        assert!(read(&[user, SECRET], true).is_ok_and(|config| config.trusted_header.is_some()));
        for (environment, has_proxies, named) in [
            (&[user, SECRET][..], false, "DOCKET_TRUSTED_PROXIES"),
            (&[user, groups, SECRET], true, "DOCKET_TRUSTED_ROLES"),
            (&[groups], true, "DOCKET_TRUSTED_HEADER"),
            (&[("DOCKET_TRUSTED_HEADER", "no header")], true, "DOCKET_TRUSTED_HEADER"),
        ] {
            let error = read(environment, has_proxies).err().expect("an error");
            assert!(error.contains(named), "{named}: {error}");
        }
    }
}
