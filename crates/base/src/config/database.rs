//! The database: its URL, the password file, and the timeout for an unreachable server.

use std::path::Path;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::database_url::database_url;
use super::error::ConfigError;
use super::setting::{OptionalSetting, switch, whole_number};
use super::source::Source;

/// The location of the database. It has no `Debug`, because the URL may contain a password.
pub struct Database {
    /// `sqlite://PATH`, the path relative to the working directory unless it starts with `/`, or `postgres://…` with
    /// its password.
    pub url: String,
    /// How long the start waits for a server that does not respond.
    pub patience: Duration,
    /// Whether a file is copied before it is migrated.
    pub copy: UpgradeCopy,
}

/// Whether a file is copied before it is migrated, so that an earlier version can use the copy. A server has tools of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpgradeCopy {
    /// Without a copy, nothing is migrated.
    Required,
    IfPossible,
    /// For a file that is a copy itself.
    Never,
}

const EXAMPLES: [&str; 2] =
    ["sqlite://docket.db", "postgres://docket@db.example.com/docket?sslmode=verify-full"];

impl Database {
    pub fn from_source(source: &Source) -> Result<Self, ConfigError> {
        let url = source.raw.database_url.parse(database_url)?;
        let url = match password_from(source)? {
            Some(password) => with_password(&url, &password)?,
            None => url,
        };
        Ok(Self { url, patience: patience(source)?, copy: upgrade_copy(source)? })
    }

    /// As [`Self::from_source`], for a command that replaces the database: it must be named, because the default is relative to the
    /// working directory.
    pub fn named(source: &Source) -> Result<Self, ConfigError> {
        match source.raw.database_url.is_set() {
            true => Self::from_source(source),
            false => Err(ConfigError(
                "The database to replace is not named: set DOCKET_DATABASE_URL, or database_url in the configuration (--config)."
                    .to_owned(),
            )),
        }
    }

    /// The databases of the options `--from` and `--to`. The password from the file is for a server whose URL has none.
    pub fn source_and_target(source: &Source, from: &str, to: &str) -> Result<(Self, Self), ConfigError> {
        let (password, patience, copy) = (password_from(source)?, patience(source)?, upgrade_copy(source)?);
        let database = |option: &str, text: &str| {
            let url = database_url(text).map_err(|error| {
                ConfigError(format!("{option} is wrong: {error}. An example: {}", EXAMPLES.join(", or ")))
            })?;
            let url = match &password {
                Some(password) if accepts_password(&url) => with_password(&url, password)?,
                _ => url,
            };
            Ok(Self { url, patience, copy })
        };
        Ok((database("--from", from)?, database("--to", to)?))
    }

    /// The database's URL without its password.
    pub fn redacted_url(&self) -> String {
        redacted_url(&self.url)
    }
}

/// Whether it is the URL of a SQLite file, and not of a server.
pub fn is_file(url: &str) -> bool {
    url.starts_with("sqlite:")
}

/// The database as it is displayed: the path of a file, or a server's URL without user name, password and options.
pub fn redacted_url(url: &str) -> String {
    if is_file(url) {
        return url.to_owned();
    }
    let Ok(mut url) = Url::parse(url) else { return "the PostgreSQL database".to_owned() };
    let cleared = url.set_password(None).and_then(|()| url.set_username(""));
    url.set_query(None);
    if cleared.is_err() { "the PostgreSQL database".to_owned() } else { url.to_string() }
}

fn patience(source: &Source) -> Result<Duration, ConfigError> {
    let seconds = source.raw.database_wait_seconds.parse(whole_number(0))?;
    Ok(Duration::from_secs(u64::from(seconds)))
}

fn upgrade_copy(source: &Source) -> Result<UpgradeCopy, ConfigError> {
    Ok(match source.raw.upgrade_without_copy.parse(switch)? {
        true => UpgradeCopy::IfPossible,
        false => UpgradeCopy::Required,
    })
}

fn password_from(source: &Source) -> Result<Option<SecretString>, ConfigError> {
    source.raw.database_password_file.parse(|path| password(Path::new(path)))
}

/// Whether it is a server, and its URL has no password.
fn accepts_password(url: &str) -> bool {
    let has_none =
        |url: Url| url.password().is_none() && !url.query_pairs().any(|(key, _)| key == "password");
    Url::parse(url).ok().filter(|url| url.scheme() != "sqlite").is_some_and(has_none)
}

/// The content of the file, without trailing line ends.
fn password(file: &Path) -> Result<SecretString, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(format!("{} is empty", file.display())),
        password => Ok(SecretString::from(password)),
    }
}

fn with_password(url: &str, password: &SecretString) -> Result<String, ConfigError> {
    let wrong = |why: &str| ConfigError(format!("DOCKET_DATABASE_PASSWORD_FILE is set, but {why}"));
    let mut url = Url::parse(url)
        .ok()
        .filter(|url| url.scheme() != "sqlite")
        .ok_or_else(|| wrong("DOCKET_DATABASE_URL is a file, which has no password."))?;
    if url.password().is_some() {
        return Err(wrong("DOCKET_DATABASE_URL has a password too. Remove one of them."));
    }
    url.set_password(Some(password.expose_secret()))
        .map_err(|()| wrong("DOCKET_DATABASE_URL names no host and user that it could be for."))?;
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_database_url_omits_the_credentials() {
        assert_eq!(
            redacted_url(
                "postgres://docket:quiet-harbor@db.example:5433/ledger?sslmode=verify-full&password=x"
            ),
            "postgres://db.example:5433/ledger"
        );
        assert!(!redacted_url("postgres://docket:quiet harbor@[x").contains("harbor"));
    }

    #[test]
    fn invalid_database_url_is_refused_without_revealing_the_password() {
        for good in [
            "sqlite://docket.db",
            "postgres://docket@db.example/docket",
            "postgresql://docket:calm-river-9@db.example:5433/docket?sslmode=verify-full",
            "postgres://docket@%2Frun%2Fpostgresql/docket",
            "postgres:///docket?host=/run/postgresql",
        ] {
            assert_eq!(database_url(good).as_deref(), Ok(good));
        }
        for (wrong, why) in [
            ("postgres://docket:calm-river-9@/docket", "no URL"),
            ("postgres://docket:calm-river-9@db.example", "no database"),
            ("postgres://docket:calm-river-9@db.example/d?sslmode=full", "verify-full"),
            (
                "postgres://docket:calm-river-9@db.example/d?sslmode=verify-full&sslrootcert=/missing.pem",
                "/missing.pem",
            ),
            ("postgress://docket:calm-river-9@db.example/docket", "postgres://USER@HOST/DATABASE"),
            ("docket.db", "sqlite://PATH"),
        ] {
            let message = database_url(wrong).expect_err(wrong);
            assert!(message.contains(why) && !message.contains("calm"), "{wrong}: {message}");
        }
    }

    #[test]
    fn password_file_applies_to_the_server_without_a_password() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("password");
        std::fs::write(&file, "quiet harbor\n").expect("a file");
        let settings = [("DOCKET_DATABASE_PASSWORD_FILE".to_owned(), file.display().to_string())];
        let source = Source::new("", "Leptos.toml", settings).expect("a source");
        let both =
            |from, to| Database::source_and_target(&source, from, to).map(|(from, to)| (from.url, to.url));
        let urls = both("sqlite://docket.db", "postgres://docket@db.example/docket");
        assert_eq!(
            urls.map_err(|error| error.0),
            Ok((
                "sqlite://docket.db".to_owned(),
                "postgres://docket:quiet%20harbor@db.example/docket".to_owned()
            ))
        );
        let with_own = "postgres://docket:calm-river-9@db.example/docket";
        let urls = both(with_own, "postgres://docket@db.example/other").map_err(|error| error.0);
        assert_eq!(urls.map(|(from, _)| from).as_deref(), Ok(with_own));
        for (from, to, message) in [
            ("postgress://docket:calm-river-9@db.example/d", "sqlite://x", "--from"),
            ("sqlite://x", "postgres://docket:calm-river-9@db.example", "--to"),
        ] {
            let error = both(from, to).expect_err(from).0;
            assert!(error.contains(message) && !error.contains("calm"), "{error}");
        }
    }

    #[test]
    fn password_from_a_file_becomes_part_of_the_url() {
        let password = SecretString::from("quiet harbor/7@x");
        let url = with_password("postgres://docket@db.example/docket", &password);
        let url = url.map_err(|error| error.0).expect("a url");
        let parsed = Url::parse(&url).expect("a url");
        assert_eq!(parsed.password(), Some("quiet%20harbor%2F7%40x"));
        for wrong in ["sqlite://docket.db", "postgres://docket:a@db.example/docket"] {
            assert!(with_password(wrong, &password).is_err());
        }
    }
}
