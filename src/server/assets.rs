//! The front end's files, embedded into the binary, precompressed, with names that change with the content. No
//! compression or disk access at run time, except in debug builds, where `rust-embed` reads `target/site`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use data_encoding::HEXLOWER;
use rust_embed::{Embed, EmbeddedFile};
use sha2::{Digest, Sha256};

#[derive(Embed)]
#[folder = "target/site/"]
#[allow_missing = true]
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
    let plain = Site::iter().filter(|name| !name.contains('/') && !is_compressed(name));
    let plain: BTreeSet<_> = plain.chain(Public::iter()).collect();
    plain.into_iter().fold(
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
    let name = if Site::get(&packaged).is_some() { packaged } else { name };
    serve(&name, caching, &headers)
}

fn serve(name: &str, caching: &'static str, request: &HeaderMap) -> Response {
    let Some((file, encoding)) = best_encoding(name, request) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let etag = format!("\"{}\"", HEXLOWER.encode(&file.metadata.sha256_hash()[..16]));
    let validators = [
        (header::ETAG, etag.clone()),
        (header::CACHE_CONTROL, caching.to_owned()),
        (header::VARY, "accept-encoding".to_owned()),
    ];
    if matches(request, &etag) {
        return (StatusCode::NOT_MODIFIED, validators).into_response();
    }
    let content_type = mime_guess::from_path(name).first_or_octet_stream();
    let mut response =
        (validators, [(header::CONTENT_TYPE, content_type.to_string())], file.data).into_response();
    if let Some(encoding) = encoding {
        response.headers_mut().insert(header::CONTENT_ENCODING, header::HeaderValue::from_static(encoding));
    }
    response
}

/// The smallest encoding of a file that the browser accepts.
fn best_encoding(name: &str, request: &HeaderMap) -> Option<(EmbeddedFile, Option<&'static str>)> {
    if is_compressed(name) {
        return None;
    }
    let accepted =
        request.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    [("br", "br"), ("gzip", "gz")]
        .into_iter()
        .filter(|(encoding, _)| accepts(accepted, encoding))
        .find_map(|(encoding, suffix)| Some((Site::get(&format!("{name}.{suffix}"))?, Some(encoding))))
        .or_else(|| Some((Site::get(name).or_else(|| Public::get(name))?, None)))
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

fn is_compressed(name: &str) -> bool {
    name.ends_with(".br") || name.ends_with(".gz")
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
