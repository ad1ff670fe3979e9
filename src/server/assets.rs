//! The front end's files, embedded into the binary, precompressed, with names that change with the content. No
//! compression or disk access at run time, except in debug builds, where `rust-embed` reads `target/site`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use data_encoding::HEXLOWER;
use flate2::read::GzDecoder;
use rust_embed::{Embed, EmbeddedFile};
use sha2::{Digest, Sha256};

/// Each file in two compressed forms, which are half a megabyte less than the files. A client that accepts neither gets the file from
/// the second form. `make dev` compresses nothing: the files are read from the disk.
#[derive(Embed)]
#[folder = "target/site/"]
#[allow_missing = true]
#[cfg_attr(any(feature = "embed", not(debug_assertions)), include = "*.br", include = "*.gz")]
// Type declarations are for bundlers; browsers never request them.
#[exclude = "*.d.ts*"]
struct Site;

/// Files that exist without a front-end build. A build copies them into the site.
#[derive(Embed)]
#[folder = "public/"]
struct Public;

/// cargo-leptos's name for the folder of wasm, js and css.
const PACKAGE: &str = "pkg";

/// A digest of all files, so that each release has its own URLs.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for name in Site::iter() {
        digest.update(name.as_bytes());
        digest.update(Site::get(&name).map(|file| file.metadata.sha256_hash()).unwrap_or_default());
    }
    HEXLOWER.encode(&digest.finalize()[..8])
});

const FOR_EVER: &str = "public, max-age=31536000, immutable";
const REVALIDATE: &str = "public, no-cache";

/// The folder, without slashes around it, that pages load wasm, js and css from.
pub fn package_dir() -> String {
    format!("{PACKAGE}/{}", *VERSION)
}

/// The routes of all files. They need no session: they are the same for everyone.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let site = Site::iter().filter(|name| !name.contains('/') && !name.ends_with(".br"));
    let site =
        site.map(|name| name.strip_suffix(".gz").map_or(name.clone(), |name| Cow::Owned(name.to_owned())));
    let names: BTreeSet<_> = site.chain(Public::iter()).collect();
    names.into_iter().fold(
        Router::new().route(&format!("/{PACKAGE}/{{version}}/{{*name}}"), get(packaged)),
        |router, name| {
            router.route(
                &format!("/{name}"),
                get(move |headers: HeaderMap| async move { serve(&name, REVALIDATE, &headers) }),
            )
        },
    )
}

/// Also serves the files outside of the package, for relative URLs in the stylesheet: the icons are loaded once for each release.
async fn packaged(Path((version, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let caching = if version == *VERSION { FOR_EVER } else { REVALIDATE };
    let packaged = format!("{PACKAGE}/{name}");
    match best_form(&packaged, &headers) {
        Some(found) => send(&packaged, found, caching, &headers),
        None => serve(&name, caching, &headers),
    }
}

fn serve(name: &str, caching: &'static str, request: &HeaderMap) -> Response {
    match best_form(name, request) {
        Some(found) => send(name, found, caching, request),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn send(
    name: &str,
    (file, form): (EmbeddedFile, Form),
    caching: &'static str,
    request: &HeaderMap,
) -> Response {
    // Two forms of a file have different validators.
    let etag = format!("\"{}{form:?}\"", HEXLOWER.encode(&file.metadata.sha256_hash()[..16]));
    let validators = [
        (header::ETAG, etag.clone()),
        (header::CACHE_CONTROL, caching.to_owned()),
        (header::VARY, "accept-encoding".to_owned()),
    ];
    if matches(request, &etag) {
        return (StatusCode::NOT_MODIFIED, validators).into_response();
    }
    let content_type = mime_guess::from_path(name).first_or_octet_stream();
    let content_type = [(header::CONTENT_TYPE, content_type.to_string())];
    let encoded = |encoding: &'static str| [(header::CONTENT_ENCODING, encoding)];
    match form {
        Form::Brotli => (validators, content_type, encoded("br"), file.data).into_response(),
        Form::Gzip => (validators, content_type, encoded("gzip"), file.data).into_response(),
        Form::Plain => (validators, content_type, file.data).into_response(),
        Form::Unpacked => match unpacked(&file.data) {
            Ok(data) => (validators, content_type, data).into_response(),
            Err(error) => {
                tracing::error!(name, %error, "an embedded file is corrupt");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        },
    }
}

/// How a file is sent.
#[derive(Clone, Copy, Debug)]
enum Form {
    Brotli,
    Gzip,
    /// As it is embedded.
    Plain,
    /// Its gzip form is decompressed.
    Unpacked,
}

/// The smallest form of a file that the client accepts, and what it is made from.
fn best_form(name: &str, request: &HeaderMap) -> Option<(EmbeddedFile, Form)> {
    if name.ends_with(".br") || name.ends_with(".gz") {
        return None;
    }
    let accepted =
        request.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    [("br", "br", Form::Brotli), ("gzip", "gz", Form::Gzip)]
        .into_iter()
        .filter(|(encoding, ..)| accepts(accepted, encoding))
        .find_map(|(_, suffix, form)| Some((compressed(name, suffix)?, form)))
        .or_else(|| Some((compressed(name, "gz")?, Form::Unpacked)))
        .or_else(|| Some((Site::get(name).or_else(|| Public::get(name))?, Form::Plain)))
}

/// A form of a file; `None` without a build that compresses.
fn compressed(name: &str, suffix: &str) -> Option<EmbeddedFile> {
    Site::get(&format!("{name}.{suffix}"))
}

fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut data = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut data)?;
    Ok(data)
}

/// Whether an `Accept-Encoding` contains `encoding` with a weight above 0.
fn accepts(header: &str, encoding: &str) -> bool {
    header.split(',').any(|part| {
        let mut pieces = part.split(';').map(str::trim);
        let named = pieces.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        let refused = pieces.any(|piece| {
            piece
                .strip_prefix("q=")
                .is_some_and(|weight| weight.parse::<f32>().is_ok_and(|weight| weight <= 0.0))
        });
        named && !refused
    })
}

fn matches(request: &HeaderMap, etag: &str) -> bool {
    let known = request.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    known.split(',').map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_with_zero_weight_is_not_accepted() {
        assert!(accepts("gzip, deflate, br", "br"));
        assert!(accepts("BR;q=0.5", "br"));
        assert!(!accepts("gzip, br;q=0", "br"));
        assert!(!accepts("brotli", "br"));
        assert!(!accepts("", "br"));
    }
}
