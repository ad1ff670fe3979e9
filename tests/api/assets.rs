//! The front end's files. A debug build serves those in `target/site`, which is empty before the first `make build`;
//! tests of existing files check whatever is there, and `end2end` checks the release binary.

use std::path::{Path, PathBuf};

use docket::server::assets::package_dir;
use futures::future::join_all;
use reqwest::Method;
use reqwest::header::ACCEPT_ENCODING;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use crate::helpers::{Browser, Installation, Served, TestApp, TestResponse, within_deadline};

/// Every file that pages may request, as its path in the site.
fn site() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/site");
    let mut files = Vec::new();
    walk(&root, &mut files);
    let names = files.iter().map(|file| file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
    // Type declarations are not for browsers.
    let left_out = [".br", ".gz", ".d.ts", "_manifest.json"];
    names.filter(|name| !left_out.iter().any(|ending| name.ends_with(ending))).collect()
}

/// The URL path at which pages request a file.
fn url_path(name: &str) -> String {
    match name.strip_prefix("pkg/") {
        Some(rest) => format!("/{}/{rest}", package_dir()),
        None => format!("/{name}"),
    }
}

async fn get(anonymous: &Browser, path: &str, headers: &[(&str, &str)]) -> TestResponse {
    let request = anonymous.request(Method::GET, path);
    anonymous.send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

#[tokio::test]
async fn files_are_public_compressed_and_cached() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/site");
    for name in site() {
        let path = url_path(&name);
        let plain = get(&anonymous, &path, &[]).await;
        assert_eq!(plain.status, 200, "{path}");
        assert_eq!(plain.bytes, std::fs::read(root.join(&name)).unwrap(), "{path}");
        assert_eq!(plain.header("content-encoding"), "", "{path}");
        let caching = plain.header("cache-control");
        assert_eq!(caching.contains("immutable"), name.starts_with("pkg/"), "{path}: {caching}");
        let etag = plain.header("etag");
        assert!(etag.starts_with('"') && etag.len() > 16, "{path}: {etag}");
        for (known, status) in
            [(etag, 304), ("*", 304), ("\"other\", W/\"x\"", 200), (&format!("\"x\", W/{etag}"), 304)]
        {
            let again = get(&anonymous, &path, &[("if-none-match", known)]).await;
            assert_eq!((again.status, again.bytes.is_empty()), (status, status == 304), "{path} for {known}");
        }
        for (encoding, suffix) in [("br", "br"), ("gzip", "gz")] {
            let Ok(packed) = std::fs::read(root.join(format!("{name}.{suffix}"))) else { continue };
            let response =
                anonymous.send(anonymous.request(Method::GET, &path).header(ACCEPT_ENCODING, encoding)).await;
            assert_eq!((response.header("content-encoding"), &response.bytes), (encoding, &packed), "{path}");
            assert!(response.header("vary").contains("accept-encoding"), "{path}");
            assert_ne!(response.header("etag"), etag, "{path}: two forms share a validator");
        }
    }
}

/// Each form has the headers that belong to it, and its length also without its bytes.
#[tokio::test]
async fn form_of_a_file_is_the_one_that_the_client_prefers() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/site");
    for name in site() {
        if !root.join(format!("{name}.gz")).exists() {
            continue;
        }
        let path = url_path(&name);
        for (accepted, form) in [
            (&[&b"gzip;q=1.0, br;q=0.1"[..]][..], "gz"),
            (&[b"x-gzip"], "gz"),
            (&[b"deflate", b"br"], "br"),
            (&[b"*"], "br"),
            (&[b"br ; Q = 0, gzip"], "gz"),
            (&[b"br\xfc, gzip"], "gz"),
            (&[b"identity"], "plain"),
            (&[b"br;q=nan, gzip;q=-1"], "plain"),
            // For the layer that compresses pages, the first weight is malformed, and the client would accept gzip alone.
            (&[b"identity;q=0.1001, gzip;q=0.1"], "plain"),
        ] {
            let request = |method| {
                let request = anonymous.request(method, &path);
                accepted.iter().fold(request, |request, line| request.header(ACCEPT_ENCODING, *line))
            };
            let (got, head) =
                (anonymous.send(request(Method::GET)).await, anonymous.send(request(Method::HEAD)).await);
            let (file, encoding) = match form {
                "br" => (format!("{name}.br"), "br"),
                "gz" => (format!("{name}.gz"), "gzip"),
                _ => (name.clone(), ""),
            };
            let expected = std::fs::read(root.join(file)).unwrap();
            assert_eq!(got.bytes, expected, "{path} for {accepted:?}");
            assert!(head.bytes.is_empty(), "{path}");
            for response in [&got, &head] {
                assert_eq!(response.status, 200, "{path}");
                assert_eq!(response.header("content-encoding"), encoding, "{path} for {accepted:?}");
                assert_eq!(response.header("content-length"), expected.len().to_string(), "{path}");
                assert!(response.header("etag").ends_with(&format!("-{form}\"")), "{path} for {accepted:?}");
                assert_eq!(response.header("vary"), "accept-encoding", "{path}");
            }
        }
    }
}

#[tokio::test]
async fn every_line_of_known_validators_counts() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let known = |etag: &str| {
        let request = anonymous
            .request(Method::GET, "/robots.txt")
            .header("if-none-match", b"\"x\", \"\xfc\"".as_slice());
        request.header("if-none-match", etag)
    };
    let etag = get(&anonymous, "/robots.txt", &[]).await.header("etag").to_owned();
    let unchanged = anonymous.send(known(&etag)).await;
    assert_eq!((unchanged.status, unchanged.header("etag")), (304, &*etag));
    assert_eq!(unchanged.header("content-length"), "", "the length would be that of the file");
    assert_eq!(anonymous.send(known("\"y\"")).await.status, 200);
}

/// An attack that used a copy for each client, or the state of a compression.
#[tokio::test]
async fn many_slow_readers_of_public_files_use_little_memory() {
    const READERS: usize = 400;
    const MOST: u64 = 32 * 1024 * 1024;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/site");
    let size = |name: &String| std::fs::metadata(root.join(name)).unwrap().len();
    let installation = Installation::with_administrator("http://127.0.0.1:9");
    let server = installation.serve(&["serve"]);
    let address = server.address().await;
    let page = Browser::at(&address).get("/login").await.text;
    let version = page.split("/pkg/").nth(1).unwrap().split('/').next().unwrap();
    let largest = site().into_iter().max_by_key(size);
    let largest = largest.and_then(|name| Some(format!("/pkg/{version}/{}", name.strip_prefix("pkg/")?)));
    let read_begin = async |path: &str, accepted: &str| {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let address = address.trim_start_matches("http://");
        let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: {address}\r\naccept-encoding: {accepted}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut begin = [0; 12];
        within_deadline("the response begins", stream.read_exact(&mut begin)).await.unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200", "{path}");
        stream
    };
    for path in largest.into_iter().chain(["/api/v1/openapi.json".to_owned()]) {
        for accepted in ["identity", "x-gzip", "gzip;q=0.1, identity;q=0.1001"] {
            let first = read_begin(&path, accepted).await;
            let before = resident(&server);
            let readers = join_all((1..READERS).map(|_| read_begin(&path, accepted))).await;
            let grown = resident(&server).saturating_sub(before);
            assert!(grown < MOST, "{path} for {accepted}: {grown} bytes more");
            drop((first, readers));
        }
    }
}

/// The memory of a process, in bytes.
fn resident(server: &Served) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap().to_owned();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// URL paths of files contain the version, and pages use these paths.
#[tokio::test]
async fn pages_request_files_at_the_versioned_path() {
    let app = TestApp::start().await;
    let page = app.anonymous().get("/login").await.text;
    let package = package_dir();
    assert!(package.starts_with("pkg/") && package.len() > "pkg/".len() + 8, "{package}");
    assert!(page.contains(&format!("href=\"/{package}/docket.css\"")), "no stylesheet in {page}");
    for file in ["docket.js", "docket.wasm", "__wasm_split.______________________.js"] {
        assert!(page.contains(&format!("/{package}/{file}")), "no {file} in {page}");
    }
}

/// A page that was open during an upgrade must not load a WebAssembly chunk of another build.
#[tokio::test]
async fn wasm_chunk_is_found_only_at_its_own_version() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let mut pieces = 0;
    for name in site() {
        let Some(file) = name.strip_prefix("pkg/") else { continue };
        let piece = file.ends_with(".wasm") && file != "docket.wasm";
        pieces += usize::from(piece);
        let response = get(&anonymous, &format!("/pkg/old/{file}"), &[]).await;
        assert_eq!(response.status, if piece { 404 } else { 200 }, "{file}");
    }
    assert_eq!(pieces, 1, "the part that is loaded on demand");
}

#[tokio::test]
async fn missing_file_is_404_instead_of_a_redirect_to_login() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let package = package_dir();
    for path in [
        format!("/{package}/nothing.js"),
        format!("/{package}/..%2f..%2fCargo.toml"),
        format!("/{package}/..%2f..%2f..%2fetc%2fpasswd"),
        format!("/{package}/docket.css.br"),
        format!("/{package}/%2fetc%2fpasswd"),
        "/pkg/old/nothing.css".to_owned(),
    ] {
        let response = get(&anonymous, &path, &[]).await;
        assert_eq!((response.status, response.text.as_str()), (404, ""), "{path}");
    }
}

#[tokio::test]
async fn pages_are_compressed() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let plain = anonymous.get("/login").await;
    assert_eq!(plain.header("content-encoding"), "");
    for accepted in ["gzip", "gzip, deflate, br, zstd"] {
        let packed =
            anonymous.send(anonymous.request(Method::GET, "/login").header(ACCEPT_ENCODING, accepted)).await;
        assert_eq!(packed.header("content-encoding"), "gzip", "{accepted}");
        assert!(packed.bytes.len() < plain.bytes.len(), "{accepted}");
        assert_eq!(packed.header("content-length"), "", "it is compressed while it is sent");
    }
}

/// A length lets clients notice a cut response. Pages are streamed.
#[tokio::test]
async fn length_of_a_whole_response_is_in_its_headers() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    for path in ["/healthz", "/p/docs/jobs", "/api/v1/projects", "/api/v1/openapi.json"] {
        let [got, head] = [Method::GET, Method::HEAD].map(|method| anonymous.request(method, path));
        let (got, head) = (anonymous.send(got).await, anonymous.send(head).await);
        let (length, status) = (got.bytes.len().to_string(), got.status);
        assert_eq!(got.header("content-length"), length, "{path}");
        assert_eq!((head.header("content-length"), head.status), (&*length, status), "{path}");
        assert!(head.bytes.is_empty(), "{path}");
    }
}
