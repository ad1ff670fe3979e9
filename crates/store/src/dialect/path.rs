//! Converts between the path of a SQLite file and its URL. Nothing else does: [`sqlx::Any`] takes a URL, decodes it, and passes the result to SQLite.
//! SQLite does not treat names such as `file:x.db` and `:memory:` as paths.

use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sqlx::ConnectOptions;
use sqlx::any::AnyConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use url::Url;

use crate::StoreError;

const SCHEME: &str = "sqlite://";

/// The absolute path in the URL of a file. Percent-encoding is decoded, as in every URL. A query string is ignored.
pub(super) fn path_of(url: &str) -> PathBuf {
    let encoded = url.strip_prefix(SCHEME).unwrap_or(url);
    let encoded = encoded.split_once('?').map_or(encoded, |(path, _)| path);
    let bytes: Vec<u8> = percent_decode_str(encoded).collect();
    let path = Path::new(OsStr::from_bytes(&bytes));
    // An empty path stays empty, and is refused where it is used.
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The URL of a file. [`path_of`] and sqlx decode it to exactly the absolute form of `path`.
pub fn url_of(path: &Path) -> Result<String, StoreError> {
    let path = usable(path)?;
    // As one segment: a URL is normalized, and `..` would be resolved without following links.
    let segment = utf8_percent_encode(path.trim_start_matches('/'), NON_ALPHANUMERIC);
    Ok(format!("{SCHEME}/{segment}"))
}

/// The options for an existing file.
pub(super) fn options_of(path: &Path) -> Result<SqliteConnectOptions, StoreError> {
    Ok(SqliteConnectOptions::new().filename(usable(path)?))
}

/// As [`options_of`], for [`sqlx::Any`].
pub(super) fn any_options_of(path: &Path, is_read_only: bool) -> Result<AnyConnectOptions, StoreError> {
    let mode = if is_read_only { "ro" } else { "rw" };
    let url: Url =
        format!("{}?mode={mode}", url_of(path)?).parse().map_err(|_| refused(path, "it is no path"))?;
    let ours = options_of(path)?;
    // A different file name would open another file.
    match SqliteConnectOptions::from_url(&url)?.get_filename() == ours.get_filename() {
        true => Ok(AnyConnectOptions::from_url(&url)?),
        false => Err(refused(path, "it cannot be written as a URL")),
    }
}

/// The absolute path as SQLite accepts it.
fn usable(path: &Path) -> Result<String, StoreError> {
    let absolute =
        std::path::absolute(path).map_err(|error| StoreError::File { path: path.to_owned(), error })?;
    match absolute.to_str() {
        // In a URL, `/..` would become `/`.
        _ if absolute.file_name().is_none() => Err(refused(path, "it is no path of a file")),
        None => Err(refused(path, "its path is not valid UTF-8")),
        Some(text) if text.contains('\0') => Err(refused(path, "its path contains a NUL character")),
        // POSIX leaves the meaning of two leading slashes open; Linux treats them as one.
        Some(text) => Ok(format!("/{}", text.trim_start_matches('/'))),
    }
}

fn refused(path: &Path, reason: &str) -> StoreError {
    StoreError::File { path: path.to_owned(), error: Error::new(ErrorKind::InvalidInput, reason) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    fn filename(url: &str) -> PathBuf {
        let url: Url = url.parse().unwrap();
        SqliteConnectOptions::from_url(&url).unwrap().get_filename().to_owned()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn any_path_survives_its_url(path in "/[^/\0]{1,20}(/([^/\0]{1,20}|[%?#:. ~\\\\+&=a2]{1,8})){0,4}") {
            let expected = std::path::absolute(&path).unwrap();
            prop_assume!(expected.file_name().is_some());
            let url = url_of(Path::new(&path)).unwrap();
            prop_assert_eq!(&path_of(&url), &expected);
            prop_assert_eq!(&filename(&url), &expected);
            prop_assert_eq!(any_options_of(Path::new(&path), false).is_ok(), true);
        }

        #[test]
        fn relative_path_is_resolved_against_the_working_directory(path in "[%?#:. ~+&=a2]{1,12}") {
            let expected = std::env::current_dir().unwrap().join(&path);
            prop_assume!(expected.file_name().is_some());
            let url = url_of(Path::new(&path)).unwrap();
            prop_assert_eq!(path_of(&url), std::path::absolute(&expected).unwrap());
            prop_assert_eq!(filename(&url), std::path::absolute(&expected).unwrap());
        }
    }

    #[test]
    fn names_that_sqlite_would_interpret_are_paths() {
        let here = std::env::current_dir().unwrap();
        for name in [":memory:", "file:b2.db", "file::memory:?cache=shared", "%20", "100%", "a?b#c"] {
            assert_eq!(filename(&url_of(Path::new(name)).unwrap()), here.join(name), "{name}");
            assert_eq!(options_of(Path::new(name)).unwrap().get_filename(), here.join(name), "{name}");
        }
        for (url, name) in [
            ("sqlite://docket.db", "docket.db"),
            ("sqlite://a%20b%3F.db?mode=rwc", "a b?.db"),
            ("sqlite://100%.db", "100%.db"),
            ("sqlite://:memory:", ":memory:"),
        ] {
            assert_eq!(path_of(url), here.join(name), "{url}");
        }
        assert_eq!(path_of("sqlite:///var/lib/docket.db"), Path::new("/var/lib/docket.db"));
    }

    #[test]
    fn unusable_path_is_refused_with_the_reason() {
        for (path, reason) in [
            (path_of("sqlite:///tmp/%FF.db"), "not valid UTF-8"),
            (path_of("sqlite:///tmp/%00.db"), "NUL"),
            (path_of("sqlite://?mode=rwc"), "empty"),
            (path_of("sqlite:///.."), "no path of a file"),
            (path_of("sqlite:///tmp/.."), "no path of a file"),
        ] {
            let error = url_of(&path).unwrap_err().to_string();
            assert!(error.contains(reason), "{path:?}: {error}");
            assert!(options_of(&path).is_err() && any_options_of(&path, true).is_err());
        }
    }
}
