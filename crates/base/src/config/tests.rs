#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::*;

const FILE: &str = r#"
addr = "127.0.0.1:4000"
upstream_url = "https://api.example.com/admin"
api_key = "mint_file"
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
            ("DOCKET_API_KEY", "k"),
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

const CONFIGURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operate/configuration.md");

#[test]
fn documented_settings_are_current() {
    let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
    let row = |key: &Key| {
        let variable = format!("DOCKET_{}", key.name.to_uppercase());
        format!("| `{variable}` | {} | {} | {} |\n", key.meaning, code(key.default), code(key.example))
    };
    let rows: String = KEYS.iter().map(row).collect();
    let table =
        format!("-->\n\n| variable | meaning | default | example |\n|---|---|---|---|\n{rows}\n<!-- end");
    let page = std::fs::read_to_string(CONFIGURATION).unwrap();
    let begin = page.find("docket-base config -->").unwrap() + "docket-base config ".len();
    let end = page.find("<!-- end").unwrap() + "<!-- end".len();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(CONFIGURATION, [&page[..begin], &table, &page[end..]].concat()).unwrap();
    } else {
        assert_eq!(page[begin..end], table, "run: UPDATE_DOCS=1 cargo test -p docket-base config");
    }
}
