//! Parses the URL of a database. An option that would have no effect is refused: it may be one that protects the connection. Errors contain no
//! values of options, and never the whole text, because it may contain a password.

use url::Url;

/// The valid values of `sslmode`.
const TLS_MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/// The options of a PostgreSQL URL, and other spellings of them.
const OPTIONS: [(&str, &[&str]); 12] = [
    ("sslmode", &["ssl-mode"]),
    ("sslrootcert", &["ssl-root-cert", "ssl-ca"]),
    ("sslcert", &["ssl-cert"]),
    ("sslkey", &["ssl-key"]),
    ("host", &[]),
    ("hostaddr", &[]),
    ("port", &[]),
    ("dbname", &[]),
    ("user", &[]),
    ("password", &[]),
    ("application_name", &[]),
    ("statement-cache-capacity", &[]),
];

/// What to do instead of options of other programs.
const INSTEAD: [(&str, &str); 7] = [
    ("ssl", "Use sslmode=verify-full"),
    ("tls", "Use sslmode=verify-full"),
    ("channel_binding", "Docket cannot bind the channel: use sslmode=verify-full, and remove it"),
    ("connect_timeout", "Use DOCKET_DATABASE_WAIT_SECONDS, and remove it"),
    ("target_session_attrs", "Docket always uses a server that can be written: remove it"),
    ("pgbouncer", "Docket detects a connection pooler: remove it"),
    ("schema", "Use options=-csearch_path%3DSCHEMA"),
];

pub(super) fn database_url(text: &str) -> Result<String, String> {
    match text.split_once("://") {
        Some(("sqlite", path)) if !path.is_empty() => sqlite_options(path)?,
        Some(("postgres" | "postgresql", _)) => postgres_url(text)?,
        _ => return Err("it is neither sqlite://PATH nor postgres://USER@HOST/DATABASE".to_owned()),
    }
    Ok(text.to_owned())
}

/// Docket creates a file that does not exist, as `mode=rwc` says.
fn sqlite_options(path: &str) -> Result<(), String> {
    match path.split_once('?') {
        None | Some((_, "mode=rwc")) => Ok(()),
        Some(_) => {
            Err("a file has no options: remove the question mark and what follows, or write %3F if the \
            path contains a question mark"
                .to_owned())
        }
    }
}

fn postgres_url(text: &str) -> Result<(), String> {
    let url = Url::parse(text).map_err(|error| format!("it is no URL ({error})"))?;
    if url.fragment().is_some() {
        return Err("it contains #, after which all is ignored: write %23".to_owned());
    }
    let options = postgres_options(&url)?;
    let option = |name: &str| options.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str());
    if url.host_str().is_none_or(str::is_empty) && option("host").or(option("hostaddr")).is_none() {
        return Err("it names no host".to_owned());
    }
    if url.path().trim_start_matches('/').is_empty() && option("dbname").is_none() {
        return Err("it names no database".to_owned());
    }
    tls(option("sslmode"), option("sslrootcert"))?;
    for file in ["sslrootcert", "sslcert", "sslkey"] {
        if let Some(path) = option(file) {
            std::fs::File::open(path)
                .map_err(|error| format!("its {file} {path} cannot be read: {error}"))?;
        }
    }
    Ok(())
}

fn tls(mode: Option<&str>, authority: Option<&str>) -> Result<(), String> {
    if let Some(mode) = mode.filter(|mode| !TLS_MODES.contains(mode)) {
        return Err(format!("its sslmode “{mode}” is none of {}", TLS_MODES.join(", ")));
    }
    // Other programs verify the certificate in this case too.
    match authority.is_some() && !mode.is_some_and(|mode| mode.starts_with("verify-")) {
        true => {
            Err("its sslrootcert has no effect without sslmode=verify-full (or verify-ca): add it".to_owned())
        }
        false => Ok(()),
    }
}

/// The options by their names, each at most once.
fn postgres_options(url: &Url) -> Result<Vec<(&'static str, String)>, String> {
    let mut options: Vec<(&'static str, String)> = Vec::new();
    for (key, value) in url.query_pairs().filter(|(key, _)| !is_server_option(key)) {
        let name = option_named(&key).ok_or_else(|| unknown(&key, url))?;
        if options.iter().any(|(other, _)| *other == name) {
            return Err(format!("its option {name} is there twice: remove one"));
        }
        options.push((name, value.into_owned()));
    }
    Ok(options)
}

/// `options=-c NAME=VALUE`, or `options[NAME]=VALUE`, any number of times.
fn is_server_option(key: &str) -> bool {
    key == "options" || key.strip_prefix("options[").is_some_and(|name| name.ends_with(']'))
}

fn option_named(key: &str) -> Option<&'static str> {
    OPTIONS.iter().find(|(name, others)| *name == key || others.contains(&key)).map(|(name, _)| *name)
}

/// The key is not shown if it may be a part of a password that is not percent-encoded.
fn unknown(key: &str, url: &Url) -> String {
    let query = url.query().unwrap_or_default();
    let is_name = key.len() <= 40 && key.chars().all(|c| c.is_ascii_alphabetic() || "_.-[]".contains(c));
    if !is_name || query.contains('@') || query.contains("password") {
        return "an option of it is unknown, or a password has ?, & or # without percent-encoding".to_owned();
    }
    let shown = key;
    let instead = INSTEAD.iter().find(|(name, _)| *name == key).map(|(_, instead)| (*instead).to_owned());
    let nearest = || {
        let (distance, name) =
            OPTIONS.iter().map(|(name, _)| (strsim::levenshtein(name, key), name)).min()?;
        (distance <= 3).then(|| format!("Did you mean {name}?"))
    };
    let names = || {
        let names: Vec<&str> = OPTIONS.iter().map(|(name, _)| *name).chain(["options"]).collect();
        format!("Known are {}", names.join(", "))
    };
    format!("its option “{shown}” is unknown. {}", instead.or_else(nearest).unwrap_or_else(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "postgres://docket:calm-river-9@db.example/docket";

    #[test]
    fn option_without_an_effect_is_refused_by_name() {
        for (options, words) in [
            ("sslmod=verify-full", ["“sslmod”", "Did you mean sslmode?"]),
            ("SSLMODE=verify-full", ["“SSLMODE”", "sslmode"]),
            ("ssl=true", ["“ssl”", "sslmode=verify-full"]),
            ("sslmode=require&channel_binding=require", ["“channel_binding”", "sslmode=verify-full"]),
            ("sslmode=require&sslmode=disable", ["sslmode", "twice"]),
            ("sslmode=require&ssl-mode=disable", ["sslmode", "twice"]),
            ("ssl-mode=full", ["sslmode", "verify-full"]),
            ("sslrootcert=/etc/hostname", ["sslrootcert", "sslmode=verify-full"]),
            ("sslmode=require&ssl-ca=/etc/hostname", ["sslrootcert", "sslmode=verify-full"]),
            ("options[search_path=x", ["“options[search_path”", "Known are"]),
            ("connect_timeout=3", ["“connect_timeout”", "DOCKET_DATABASE_WAIT_SECONDS"]),
            ("pool_max_conns=3", ["“pool_max_conns”", "Known are sslmode"]),
        ] {
            let message = database_url(&format!("{SERVER}?{options}")).expect_err(options);
            assert!(words.iter().all(|word| message.contains(word)), "{options}: {message}");
            assert!(!message.contains("calm"), "{options}: {message}");
        }
        assert!(database_url(&format!("{SERVER}#?sslmode=verify-full")).is_err_and(|it| it.contains("%23")));
    }

    #[test]
    fn part_of_a_password_is_not_shown() {
        for url in [
            "postgres://docket:2024?Summer!@db.example/docket",
            "postgres://docket:2024?Summer@db.example/docket",
            "postgres://docket@db.example/docket?password=abc&Summer",
        ] {
            let message = database_url(url).expect_err(url);
            assert!(message.contains("percent-encoding") && !message.contains("Summer"), "{url}: {message}");
        }
    }

    #[test]
    fn every_option_with_an_effect_is_accepted() {
        for options in [
            "sslmode=verify-full&sslrootcert=/etc/hostname&sslcert=/etc/hostname&sslkey=/etc/hostname",
            "ssl-mode=verify-ca&ssl-ca=/etc/hostname&application_name=docket",
            "host=/run/postgresql&port=5433&dbname=x&user=docket&statement-cache-capacity=0",
            "options=-csearch_path%3Ddocket&options=-cjit%3Doff&options[work_mem]=8MB",
            "hostaddr=127.0.0.1&password=x",
        ] {
            assert_eq!(database_url(&format!("{SERVER}?{options}")).map(drop), Ok(()), "{options}");
        }
    }

    #[test]
    fn file_has_no_options_that_would_be_ignored() {
        assert!(database_url("sqlite://a%3Fb.db").is_ok() && database_url("sqlite://a.db?mode=rwc").is_ok());
        for url in ["sqlite://a.db?mode=ro", "sqlite://what?.db", "sqlite://a.db?mode=rwc&immutable=1"] {
            assert!(database_url(url).is_err_and(|message| message.contains("%3F")), "{url}");
        }
    }
}
