//! The command line and the configuration of the binary: errors are reported in one line with exit code 2, before any
//! port is opened or file created.

use std::net::TcpListener;

use crate::helpers::{Finished, Installation, KEY};

const NOWHERE: &str = "http://127.0.0.1:9";

/// Checks that a command failed because of its configuration, and left nothing behind.
#[track_caller]
fn refused(installation: &Installation, finished: &Finished, words: &[&str]) {
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert_eq!(finished.stderr.trim_end().lines().count(), 1, "{finished:?}");
    assert_eq!(finished.stdout, "");
    for word in words {
        assert!(finished.stderr.contains(word), "no {word} in {}", finished.stderr);
    }
    assert!(
        !installation.files().iter().any(|name| name.contains("docket.db")),
        "{:?}",
        installation.files()
    );
}

#[test]
fn missing_required_value_is_named_with_an_example() {
    for (missing, example) in
        [("DOCKET_UPSTREAM_URL", "https://"), ("DOCKET_API_KEY", "mint_"), ("DOCKET_PROJECTS", "docs=Docs")]
    {
        let given =
            [("DOCKET_UPSTREAM_URL", NOWHERE), ("DOCKET_API_KEY", KEY), ("DOCKET_PROJECTS", "docs=Docs")];
        let given = given.into_iter().filter(|(name, _)| *name != missing);
        let installation =
            given.fold(Installation::new(), |installation, (name, value)| installation.set(name, value));
        for command in [&[][..], &["serve"], &["check"]] {
            refused(&installation, &installation.run(command), &[missing, example]);
        }
    }
}

#[test]
fn invalid_value_is_reported_before_any_port_opens() {
    // The port is in use: a command that listens before it validates fails with another code.
    let in_use = TcpListener::bind("127.0.0.1:0").unwrap();
    let in_use = in_use.local_addr().unwrap().to_string();
    for (variable, bad) in [
        ("DOCKET_ADDR", "nowhere"),
        ("DOCKET_ADDR", "127.0.0.1"),
        ("DOCKET_ADDR", "127.0.0.1:70000"),
        ("DOCKET_PUBLIC_URL", "docket.example"),
        ("DOCKET_PUBLIC_URL", "ftp://docket.example"),
        ("DOCKET_PUBLIC_URL", "https://docket.example/below"),
        ("DOCKET_UPSTREAM_URL", "api.example.com"),
        ("DOCKET_UPSTREAM_URL", "http://api.example.com"),
        ("DOCKET_UPSTREAM_URL", "https://user:secret@api.example.com"),
        ("DOCKET_UPSTREAM_URL", "file:///etc/passwd"),
        ("DOCKET_UPSTREAM_URL", ""),
        ("DOCKET_CA_FILE", "missing.pem"),
        ("DOCKET_API_KEY", ""),
        ("DOCKET_API_KEY", "two words"),
        ("DOCKET_API_KEY", "mint_é"),
        ("DOCKET_API_KEY", "mint_0123456789"),
        ("DOCKET_PROJECTS", ""),
        ("DOCKET_PROJECTS", "a/b=Docs"),
        ("DOCKET_PROJECTS", "docs=A,docs=B"),
        ("DOCKET_DATABASE_URL", "mysql://x"),
        ("DOCKET_DATABASE_URL", "docket.db"),
        ("DOCKET_ADMIN_PASSWORD", ""),
        ("DOCKET_ADMIN_PASSWORD", "password1234"),
        ("DOCKET_ADMIN_PASSWORD", "two words"),
        ("DOCKET_AGENT_PER_HOUR", "0"),
        ("DOCKET_AGENT_PER_HOUR", "many"),
        ("DOCKET_AGENT_PER_HOUR", "-1"),
        ("DOCKET_AGENT_PER_HOUR", "99999999999"),
        ("DOCKET_ANALYTICS_PER_HOUR", "1.5"),
        ("DOCKET_ANALYTICS_RESERVE", "101"),
        ("DOCKET_HISTORY_DAYS", "0"),
        ("DOCKET_POLL_SECONDS", "0"),
        ("DOCKET_PROMPT_MAX", "0"),
        ("DOCKET_PROMPT_MAX", "100001"),
        ("DOCKET_PROMPT_MAX", "long"),
        ("DOCKET_UPSTREAM_TIMEOUT_SECONDS", "0"),
        ("DOCKET_UPSTREAM_TIMEOUT_SECONDS", "101"),
        ("DOCKET_CONNECTIONS", "0"),
        ("DOCKET_ANALYTICS_PER_PERSON", "0"),
        ("DOCKET_QUEUED_PER_PERSON", "0"),
        ("DOCKET_CONNECTIONS_PER_ADDRESS", "0"),
        ("DOCKET_WEBHOOK_PRIVATE", "perhaps"),
        ("DOCKET_OIDC_ISSUER", "http://id.example.com"),
        ("DOCKET_TRUSTED_HEADER", "x user"),
        ("DOCKET_REQUIRE_SECOND_FACTOR", "perhaps"),
        ("DOCKET_HSTS_SUBDOMAINS", "1"),
        ("DOCKET_LOG", "docket=loud"),
        ("DOCKET_LOG_FORMAT", "xml"),
    ] {
        let installation = Installation::configured(NOWHERE).set("DOCKET_ADDR", &in_use).set(variable, bad);
        let finished = installation.run(&["serve"]);
        refused(&installation, &finished, &[variable, "example"]);
        assert!(
            !finished.stderr.contains("two words") && !finished.stderr.contains("secret"),
            "{finished:?}"
        );
    }
}

#[test]
fn unknown_key_error_suggests_the_intended_key() {
    let installation = Installation::configured(NOWHERE).set("DOCKET_POLL_SECOND", "3");
    refused(&installation, &installation.run(&[]), &["DOCKET_POLL_SECOND", "DOCKET_POLL_SECONDS"]);

    let installation = Installation::configured(NOWHERE);
    std::fs::write(installation.path("Leptos.toml"), "upstream = \"x\"\n").unwrap();
    refused(&installation, &installation.run(&[]), &["`upstream`", "Leptos.toml"]);
    std::fs::write(installation.path("Leptos.toml"), "addr = \n").unwrap();
    refused(&installation, &installation.run(&[]), &["Leptos.toml"]);
    std::fs::write(installation.path("Leptos.toml"), "poll_seconds = true\n").unwrap();
    refused(&installation, &installation.run(&[]), &["poll_seconds", "Leptos.toml"]);
}

#[test]
fn explicit_configuration_file_must_exist() {
    let installation = Installation::configured(NOWHERE);
    refused(&installation, &installation.run(&["serve", "--config", "missing.toml"]), &["missing.toml"]);
    let installation = Installation::configured(NOWHERE).set("DOCKET_API_KEY_FILE", "missing.key");
    let without_key = installation.set("DOCKET_API_KEY", KEY);
    // A key in the environment takes precedence over a missing file.
    assert_eq!(without_key.run(&["user", "list"]).code, Some(0));
}

/// What is masked may not be a text that occurs by chance.
#[test]
fn short_admin_key_is_refused() {
    let words = ["DOCKET_API_KEY", "fewer than 16 characters"];
    for command in ["serve", "check"] {
        for key in ["a", "active", "mint_0123456789"] {
            let installation = Installation::configured(NOWHERE).set("DOCKET_API_KEY", key);
            refused(&installation, &installation.run(&[command]), &words);
            let installation =
                Installation::configured(NOWHERE).unset("DOCKET_API_KEY").set("DOCKET_API_KEY_FILE", "key");
            std::fs::write(installation.path("key"), format!("{key}\n")).unwrap();
            refused(&installation, &installation.run(&[command]), &words);
        }
    }
}

#[test]
fn invalid_certificate_file_is_named_in_the_error() {
    let block = |inside: &str| format!("-----BEGIN CERTIFICATE-----\n{inside}\n-----END CERTIFICATE-----\n");
    let key = "-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n";
    for text in ["", "a certificate", key, &block("aGVsbG8="), &block("…"), &block("aGVsbG8=")[..40]] {
        let installation = Installation::configured(NOWHERE).set("DOCKET_CA_FILE", "ca.pem");
        std::fs::write(installation.path("ca.pem"), text).unwrap();
        for command in ["serve", "check"] {
            refused(&installation, &installation.run(&[command]), &["DOCKET_CA_FILE", "ca.pem", "example"]);
        }
    }
}

#[tokio::test]
async fn environment_overrides_the_configuration_file() {
    let installation = Installation::new()
        .set("DOCKET_ADDR", "127.0.0.1:0")
        .set("DOCKET_DATABASE_URL", "sqlite://from-variable.db");
    std::fs::write(installation.path("key"), format!("{KEY}\n")).unwrap();
    let file = "addr = \"nowhere:1\"\nupstream_url = \"http://127.0.0.1:9/base\"\napi_key_file = \"key\"\n\
                projects = \"docs=Docs\"\ndatabase_url = \"sqlite://from-file.db\"\nagent_per_hour = 5\n";
    std::fs::write(installation.path("other.toml"), file).unwrap();
    let server = installation.serve(&["--config", "other.toml"]);
    server.address().await;
    assert!(installation.path("from-variable.db").exists() && !installation.path("from-file.db").exists());
    drop(server);

    std::fs::rename(installation.path("other.toml"), installation.path("Leptos.toml")).unwrap();
    installation.serve(&["serve"]).address().await;
}

#[test]
fn help_lists_every_variable() {
    let finished = Installation::new().run(&["--help"]);
    assert_eq!(finished.code, Some(0));
    for name in [
        "ADDR",
        "PUBLIC_URL",
        "UPSTREAM_URL",
        "API_KEY",
        "API_KEY_FILE",
        "CA_FILE",
        "PROJECTS",
        "DATABASE_URL",
        "ADMIN_PASSWORD",
        "AGENT_PER_HOUR",
        "ANALYTICS_PER_HOUR",
        "ANALYTICS_RESERVE",
        "HISTORY_DAYS",
        "POLL_SECONDS",
        "PROMPT_MAX",
        "UPSTREAM_TIMEOUT_SECONDS",
        "LOG",
        "LOG_FORMAT",
    ] {
        let variable = format!("DOCKET_{name} ");
        assert!(finished.stdout.contains(&variable), "{variable} is not in the help");
    }
    for command in [
        "serve",
        "demo",
        "emulator",
        "check",
        "user",
        "backup",
        "restore",
        "upgrade-check",
        "copy",
        "--config",
        "--version",
    ] {
        assert!(finished.stdout.contains(command), "{command} is not in the help");
    }
    for (command, options) in [
        ("demo", &["--addr", "--data", "DOCKET_ADDR"][..]),
        ("emulator", &["--addr", "--key", "--projects", "--pages", "--seed"]),
        ("user", &["add", "passwd", "disable", "enable", "list"]),
    ] {
        let help = Installation::new().run(&[command, "--help"]);
        assert!(
            help.code == Some(0) && options.iter().all(|option| help.stdout.contains(option)),
            "{help:?}"
        );
    }
}

#[test]
fn version_is_that_of_the_package() {
    let finished = Installation::new().run(&["--version"]);
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (Some(0), concat!("docket ", env!("CARGO_PKG_VERSION"), "\n"))
    );
}

#[test]
fn wrong_usage_exits_with_2() {
    let installation = Installation::configured(NOWHERE);
    for wrong in [
        &["frobnicate"][..],
        &["serve", "--port", "1"],
        &["user"],
        &["user", "add", "olga"],
        &["user", "add", "olga", "--role", "king"],
        &["user", "add", "olga", "--role", "viewer", "--password", "x"],
        &["backup"],
        &["demo", "--addr", "nowhere"],
        &["emulator", "--pages", "many"],
    ] {
        let finished = installation.run(wrong);
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""), "{wrong:?}: {finished:?}");
        assert!(!finished.stderr.is_empty(), "{wrong:?}");
    }
    assert_eq!(installation.files(), Vec::<String>::new());
}

#[test]
fn port_in_use_is_reported_with_advice() {
    let in_use = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = in_use.local_addr().unwrap().to_string();
    let installation = Installation::configured(NOWHERE).set("DOCKET_ADDR", &address);
    for command in [&["serve"][..], &["demo"], &["emulator", "--addr", &address]] {
        let finished = installation.run(command);
        assert_eq!(finished.code, Some(1), "{finished:?}");
        assert!(
            finished.stderr.contains(&address) && finished.stderr.contains("DOCKET_ADDR"),
            "{finished:?}"
        );
    }
}

#[test]
fn authenticating_proxy_requires_a_secret_at_start() {
    for proxies in ["127.0.0.1", "10.0.0.10", "192.0.2.0/24,fd00::/8"] {
        let installation = Installation::configured(NOWHERE)
            .set("DOCKET_TRUSTED_HEADER", "x-forwarded-user")
            .set("DOCKET_TRUSTED_PROXIES", proxies);
        for command in [&["serve"][..], &["check"]] {
            let line = "DOCKET_TRUSTED_SECRET_FILE=/run/secrets/docket-proxy";
            refused(&installation, &installation.run(command), &[line, "docket-proxy-secret"]);
        }
    }
}
