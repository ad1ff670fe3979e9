//! The front end's files, embedded into the binary, precompressed, with names that change with the content. No
//! compression or disk access at run time, except in debug builds, where `rust-embed` reads `target/site`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::sync::{LazyLock, OnceLock};

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use data_encoding::HEXLOWER;
use flate2::read::GzDecoder;
use rust_embed::{Embed, EmbeddedFile};
use sha2::{Digest, Sha256};

use web::http::layers::compression::Unchanged;
use web::request::codings::{Coding, accepted};

/// Each file in two compressed forms, which are half a megabyte less than the files. A client that accepts neither gets the file from
/// the second form. `make dev` compresses nothing: the files are read from the disk.
#[derive(Embed)]
#[folder = "target/site/"]
#[allow_missing = true]
#[cfg_attr(any(feature = "embed", not(debug_assertions)), include = "*.br", include = "*.gz")]
// Type declarations are for bundlers, and the list of parts is for Leptos's own scripts; browsers never request them.
#[exclude = "*.d.ts*"]
#[exclude = "*_manifest.json*"]
struct Site;

/// Files that exist without a front-end build. A build copies them into the site.
#[derive(Embed)]
#[folder = "public/"]
struct Public;

/// cargo-leptos's name for the folder of wasm, js and css.
const PACKAGE: &str = "pkg";

/// The part of the front end that every page loads. Others are loaded on demand.
const MODULE: &str = "docket.wasm";

/// A digest of all files, so that each release has its own URLs.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for name in Site::iter() {
        digest.update(name.as_bytes());
        digest.update(Site::get(&name).map(|file| file.metadata.sha256_hash()).unwrap_or_default());
    }
    HEXLOWER.encode(&digest.finalize()[..8])
});

/// The files that are embedded in their gzip form, by its name, unpacked for the first client that accepts no compressed form. All such clients share
/// this copy, however slowly they read it.
static UNPACKED: LazyLock<BTreeMap<Cow<'static, str>, Unpacked>> = LazyLock::new(|| {
    Site::iter().filter(|name| name.ends_with(".gz")).map(|name| (name, Unpacked::new())).collect()
});

/// The bytes of a file, once they were needed.
type Unpacked = OnceLock<io::Result<Bytes>>;

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
    let is_this_build = version == *VERSION;
    // A part of the module fits only the module of its build. A page that was open during an upgrade says that it could not load the part.
    if !is_this_build && name.ends_with(".wasm") && name != MODULE {
        return StatusCode::NOT_FOUND.into_response();
    }
    let caching = if is_this_build { FOR_EVER } else { REVALIDATE };
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
    let etag = format!("\"{}-{}\"", HEXLOWER.encode(&file.metadata.sha256_hash()[..16]), form.word());
    let validators = [
        (header::ETAG, etag.clone()),
        (header::CACHE_CONTROL, caching.to_owned()),
        (header::VARY, "accept-encoding".to_owned()),
    ];
    if is_known(request, &etag) {
        return (StatusCode::NOT_MODIFIED, validators).into_response();
    }
    let content_type = mime_guess::from_path(name).first_or_octet_stream();
    let content_type = [(header::CONTENT_TYPE, content_type.to_string())];
    let parts = (Extension(Unchanged), validators, content_type);
    match form {
        Form::Compressed(coding) => {
            (parts, [(header::CONTENT_ENCODING, coding.name())], file.data).into_response()
        }
        Form::Plain => (parts, file.data).into_response(),
        Form::Unpacked(unpacked) => match unpacked.get_or_init(|| unpack(&file.data)) {
            Ok(data) => (parts, data.clone()).into_response(),
            Err(error) => {
                tracing::error!(name, %error, "an embedded file is corrupt");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        },
    }
}

/// How a file is sent.
#[derive(Clone, Copy)]
enum Form {
    Compressed(Coding),
    /// As it is embedded.
    Plain,
    /// Its gzip form is decompressed.
    Unpacked(&'static Unpacked),
}

impl Form {
    /// What it is called in validators.
    const fn word(self) -> &'static str {
        match self {
            Self::Compressed(coding) => coding.ending(),
            Self::Plain | Self::Unpacked(_) => "plain",
        }
    }
}

/// The best form of a file that the client accepts, and what it is made from.
fn best_form(name: &str, request: &HeaderMap) -> Option<(EmbeddedFile, Form)> {
    if name.ends_with(".br") || name.ends_with(".gz") {
        return None;
    }
    accepted(request)
        .into_iter()
        .find_map(|coding| Some((Site::get(&compressed(name, coding))?, Form::Compressed(coding))))
        .or_else(|| unpacked(name))
        .or_else(|| Some((Site::get(name).or_else(|| Public::get(name))?, Form::Plain)))
}

/// The name of a form of a file. It exists only in a build that compresses.
fn compressed(name: &str, coding: Coding) -> String {
    format!("{name}.{}", coding.ending())
}

fn unpacked(name: &str) -> Option<(EmbeddedFile, Form)> {
    let packed = compressed(name, Coding::Gzip);
    Some((Site::get(&packed)?, Form::Unpacked(UNPACKED.get(packed.as_str())?)))
}

fn unpack(packed: &[u8]) -> io::Result<Bytes> {
    let mut data = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut data)?;
    Ok(data.into())
}

/// Whether the client has the form of a file with this validator.
fn is_known(request: &HeaderMap, etag: &str) -> bool {
    let lines = request.get_all(header::IF_NONE_MATCH).iter();
    lines.map(|line| String::from_utf8_lossy(line.as_bytes())).any(|line| {
        line.split(',').map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == etag)
    })
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use tower::ServiceExt;

    use super::*;

    async fn plain(path: &str) -> Bytes {
        let request = Request::get(path).body(Body::empty()).expect("a request");
        let response = routes::<()>().oneshot(request).await.unwrap_or_else(|never| match never {});
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        to_bytes(response.into_body(), usize::MAX).await.expect("a body in memory")
    }

    #[tokio::test]
    async fn all_clients_share_one_unpacked_copy() {
        for packed in Site::iter().filter(|name| name.ends_with(".gz")) {
            let name = packed.trim_end_matches(".gz");
            let path = match name.strip_prefix("pkg/") {
                Some(name) => format!("/{}/{name}", package_dir()),
                None => format!("/{name}"),
            };
            let (first, second) = (plain(&path).await, plain(&path).await);
            assert_eq!(first.as_ptr(), second.as_ptr(), "{path}");
        }
    }
}
