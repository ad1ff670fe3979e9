#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::Path;

use super::*;

const FILE: &str = r#"
addr = "127.0.0.1:4000"
upstream_url = "https://api.example.com/admin"
api_key = "mint_of_the_file"
projects = "docs=Docs, api"
agent_per_hour = 7
"#;

fn load(file: &str, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::from_source(&Source::new(file, "Leptos.toml", environment)?)
}

fn error(file: &str, environment: &[(&str, &str)]) -> String {
    load(file, environment).err().unwrap().to_string()
}

#[test]
fn environment_overrides_the_file() {
    let config = load(FILE, &[("DOCKET_AGENT_PER_HOUR", "9"), ("HOME", "/root")]).unwrap();
    assert_eq!(config.http.addr.port(), 4000);
    assert_eq!(config.budget.agent_per_hour, 9);
    assert_eq!(config.upstream.base_url.as_str(), "https://api.example.com/admin/");
    assert_eq!(config.projects[1].name, "api");
}

#[test]
fn missing_values_have_the_documented_defaults() {
    let config = load(
        "",
        &[
            ("DOCKET_UPSTREAM_URL", "http://127.0.0.1:9"),
            ("DOCKET_API_KEY", "mint_0123456789a"),
            ("DOCKET_PROJECTS", "docs=Docs"),
        ],
    )
    .unwrap();
    assert_eq!(config.http.addr.to_string(), "127.0.0.1:3000");
    assert_eq!(config.database.url, "sqlite://docket.db");
    assert_eq!(config.budget.analytics_reserve, 30);
    assert_eq!(config.upstream.timeout.as_secs(), 30);
    assert_eq!(config.upstream.poll_interval.as_secs(), 3);
    assert_eq!(config.upstream.prompt_max, 32_768);
    assert_eq!(config.audit.days, 400);
}

#[test]
fn project_may_have_a_url_of_its_published_pages() {
    let sites = |text| load(FILE, &[("DOCKET_PUBLISHED_URLS", text)]);
    let projects = sites("docs=https://docs.example.com/v2/").unwrap().projects;
    assert_eq!(projects[0].site.as_deref(), Some("https://docs.example.com/v2"));
    assert_eq!(projects[1].site, None);
    for bad in [
        "docs=javascript:alert(1)",
        "docs=https://a:b@example.com",
        "other=https://example.com",
        "docs",
        "docs=https://x/?q=1",
    ] {
        assert!(sites(bad).err().unwrap().to_string().contains("DOCKET_PUBLISHED_URLS"), "{bad}");
    }
}

#[test]
fn switch_is_true_or_false_in_file_and_environment() {
    assert!(!load(FILE, &[]).unwrap().webhooks.private);
    assert!(load(FILE, &[("DOCKET_WEBHOOK_PRIVATE", "true")]).unwrap().webhooks.private);
    let file = format!("{FILE}webhook_private = true\n");
    assert!(load(&file, &[]).unwrap().webhooks.private);
    assert!(!load(&file, &[("DOCKET_WEBHOOK_PRIVATE", "false")]).unwrap().webhooks.private);
}

/// A file, an environment, and words that the error must contain.
type InvalidConfig = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

#[test]
fn invalid_value_is_reported_with_key_and_example() {
    let cases: &[InvalidConfig] = &[
        ("adr = \"x\"", &[], &["adr", "addr", "127.0.0.1:3000"]),
        (FILE, &[("DOCKET_ADRR", "x")], &["DOCKET_ADRR", "DOCKET_ADDR"]),
        (FILE, &[("DOCKET_ADDR", "nowhere")], &["DOCKET_ADDR", "nowhere", "127.0.0.1:3000"]),
        (FILE, &[("DOCKET_POLL_SECONDS", "0")], &["DOCKET_POLL_SECONDS"]),
        (FILE, &[("DOCKET_AUDIT_DAYS", "-1")], &["DOCKET_AUDIT_DAYS", "400"]),
        (FILE, &[("DOCKET_PROMPT_MAX", "0")], &["DOCKET_PROMPT_MAX", "32768"]),
        (FILE, &[("DOCKET_PROMPT_MAX", "100001")], &["DOCKET_PROMPT_MAX", "100000"]),
        (FILE, &[("DOCKET_UPSTREAM_URL", "http://api.example.com")], &["DOCKET_UPSTREAM_URL", "https"]),
        (FILE, &[("DOCKET_PROJECTS", "a/b=x")], &["DOCKET_PROJECTS", "docs=Docs"]),
        (FILE, &[("DOCKET_ANALYTICS_RESERVE", "101")], &["DOCKET_ANALYTICS_RESERVE"]),
        (FILE, &[("DOCKET_DATABASE_URL", "mysql://x")], &["DOCKET_DATABASE_URL", "sqlite://"]),
        (FILE, &[("DOCKET_PUBLIC_URL", "https://x.example/docket")], &["DOCKET_PUBLIC_URL"]),
        ("", &[], &["DOCKET_UPSTREAM_URL", "https://api.example.com"]),
        ("addr = true", &[], &["addr"]),
        ("addr", &[], &["Leptos.toml"]),
    ];
    for (file, environment, words) in cases {
        let message = error(file, environment);
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn invalid_key_is_not_echoed() {
    let message = error(FILE, &[("DOCKET_API_KEY", "mint_se cret")]);
    assert!(message.contains("DOCKET_API_KEY") && !message.contains("cret"), "{message}");
}

#[test]
fn service_links_of_kubernetes_are_not_configuration() {
    let links = [
        ("DOCKET_PORT", "tcp://10.0.0.1:80"),
        ("DOCKET_SERVICE_HOST", "10.0.0.1"),
        ("DOCKET_PORT_80_TCP", "x"),
    ];
    assert!(load(FILE, &links).is_ok());
}

/// Each setting with its example; a file or folder that exists in place of those of the examples, and secrets that are long enough.
fn examples(folder: &Path) -> Vec<(&'static str, String)> {
    let secret = folder.join("secret");
    std::fs::write(&secret, "a-secret-of-sufficient-length").unwrap();
    let value = |key: &'static Key| {
        let value = match key.name {
            "backup_dir" => folder.display().to_string(),
            name if name.ends_with("_file") => secret.display().to_string(),
            "api_key" | "trusted_secret" => "a-secret-of-sufficient-length".to_owned(),
            _ => key.example.clone(),
        };
        (key.name, value)
    };
    KEYS.iter().map(value).collect()
}

/// Settings of which only one may be set, or only one counts. The files have other tests: with certificates and with the key of an App.
const ONLY_FILES: &[&str] =
    &["api_key", "oidc_client_secret", "trusted_secret", "backup_dir", "github_app_id", OF_AN_APP, "ca_file"];
const NO_FILES: &[&str] = &[
    "api_key_file",
    "oidc_client_secret_file",
    "trusted_secret_file",
    "database_url",
    "database_password_file",
    "github_app_id",
    OF_AN_APP,
    "ca_file",
];
const OF_AN_APP: &str = "github_app_key_file";

/// Loads `values` without the settings in `left_out`, with `changed` in place of its value.
fn load_values(
    values: &[(&'static str, String)],
    left_out: &[&str],
    changed: Option<(&str, &str)>,
) -> Result<(), ConfigError> {
    let rest = values.iter().filter(|(name, _)| !left_out.contains(name));
    let environment = rest.map(|(name, value)| {
        let value = changed.filter(|(other, _)| other == name).map_or(value.as_str(), |(_, value)| value);
        (format!("DOCKET_{}", name.to_uppercase()), value.to_owned())
    });
    let source = Source::new("", "Leptos.toml", environment)?;
    Config::from_source(&source).and_then(|_| Log::from_source(&source)).map(|_| ())
}

#[test]
fn every_example_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    for left_out in [ONLY_FILES, NO_FILES] {
        let loaded = load_values(&examples(folder.path()), left_out, None);
        assert!(loaded.is_ok(), "{}", loaded.unwrap_err());
    }
}

#[test]
fn every_empty_value_is_refused_with_its_key_and_example() {
    const MAY_BE_EMPTY: [&str; 5] =
        ["published_urls", "direct_projects", "trusted_proxies", "oidc_scopes", "log"];
    let folder = tempfile::tempdir().unwrap();
    let values = examples(folder.path());
    for key in KEYS.iter().filter(|key| !MAY_BE_EMPTY.contains(&key.name)) {
        let left_out = if ONLY_FILES.contains(&key.name) { NO_FILES } else { ONLY_FILES };
        let left_out: Vec<_> = left_out.iter().copied().filter(|name| *name != key.name).collect();
        let message = load_values(&values, &left_out, Some((key.name, ""))).err().unwrap().to_string();
        assert!(message.starts_with(&format!("{} is wrong: ", key.variable())), "{}: {message}", key.name);
        assert!(message.ends_with(&format!(". An example: {}", key.example)), "{message}");
    }
}

#[test]
fn every_misspelled_name_is_refused_with_the_right_one() {
    for key in KEYS.iter() {
        let wrong = &key.name[1..];
        let hint = format!("Did you mean {}? An example: {}", key.name, key.example);
        assert_eq!(
            error(&format!("{wrong} = 1"), &[]),
            format!("Unknown key `{wrong}` in Leptos.toml. {hint}")
        );
        let variable = format!("DOCKET_{}", wrong.to_uppercase());
        let hint = format!("Did you mean {}? An example: {}", key.variable(), key.example);
        assert_eq!(
            error("", &[(&variable, "x")]),
            format!("Unknown environment variable {variable}. {hint}")
        );
    }
}

#[test]
fn every_value_in_the_file_is_a_text_a_whole_number_or_a_switch() {
    for key in KEYS.iter() {
        for (written, text) in [("\"12\"", "12"), ("12", "12"), ("true", "true"), ("' a '", " a ")] {
            let source = Source::new(&format!("{} = {written}", key.name), "Leptos.toml", []).unwrap();
            assert_eq!(source.text(key), text, "{}", key.name);
        }
        for written in ["1.5", "[1]", "{a = 1}", "2026-11-28"] {
            let message = error(&format!("{} = {written}", key.name), &[]);
            let place =
                format!("`{}` in Leptos.toml must be a text, a whole number, true or false", key.name);
            assert!(message.starts_with(&place) && message.contains(&key.example), "{message}");
        }
    }
}

#[test]
fn defaults_of_sessions_and_limits_are_those_of_the_settings() {
    let source = Source::new("", "Leptos.toml", []).unwrap();
    let configured = AccessConfig::from_source(&source).unwrap();
    assert_eq!(format!("{configured:?}"), format!("{:?}", AccessConfig::default()));
}
