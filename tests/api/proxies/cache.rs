//! A proxy that caches whatever it may: it stores no response for a person or a script.

use std::fs;
use std::path::Path;

use super::{Proxy, Visitor, docket, free_port, nginx_with};
use crate::helpers::{PASSWORD, PausedUpstream, certificate, until};
use crate::traces::Collector;

/// The cache, and a server whose responses may be stored by any.
const CACHE: &str = "proxy_cache_path FOLDER/cache keys_zone=docket:1m inactive=1h;\n\
    server { listen 127.0.0.1:PORT; add_header Cache-Control \"public, max-age=60\"; return 200 control; }\n";
const LOCATION: &str = "proxy_cache docket; proxy_cache_valid any 1h; add_header x-cache $upstream_cache_status always;\n\
    location /control { proxy_pass http://127.0.0.1:PORT; }";

/// What is on the pages and in the files of a person only.
const PROMPT: &str = "a prompt that no cache may store";

fn caching_nginx(folder: &Path, docket: &str, http: u16, https: u16) -> Proxy {
    let port = free_port().to_string();
    let cache = CACHE.replace("FOLDER", &folder.display().to_string()).replace("PORT", &port);
    nginx_with(&cache, &LOCATION.replace("PORT", &port), folder, docket, http, https)
}

/// The contents of all files of the cache.
fn stored(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let entries = entries.map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => stored(&path),
            false => vec![String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()],
        })
        .collect()
}

#[tokio::test]
async fn caching_nginx_stores_no_response_of_a_person() {
    let (platform, collector) = (PausedUpstream::start().await, Collector::start().await);
    let (http, https) = (free_port(), free_port());
    let public = format!("https://docket.example.com:{https}");
    let (installation, _server, address) = docket(&public, &collector.uri(), &platform.url()).await;
    let tls = certificate("docket.example.com");
    fs::write(installation.path("certificate.pem"), tls.certificate).unwrap();
    fs::write(installation.path("key.pem"), tls.key).unwrap();
    let _proxy = caching_nginx(&installation.path(""), &address, http, https);
    let mut person = Visitor::new(&tls.authority, &public);
    until("the proxy responds", async || {
        let response = person.http.get(format!("{public}/healthz")).send().await.ok()?;
        (response.status() == 200).then_some(())
    })
    .await;
    person.sign_in().await;
    let fields = [("project", "docs"), ("prompt", PROMPT), ("intent", "one")];
    assert_eq!(person.post("/api/jobs/create", &fields).await.status(), 200);

    let token = [("name", "CI"), ("scopes", "jobs:read"), ("access", "all"), ("password", PASSWORD)];
    let token = person.post("/api/tokens/create", &token).await.text().await.unwrap();
    let token: serde_json::Value = serde_json::from_str(&token).unwrap();
    let bearer = format!("Bearer {}", token["secret"].as_str().unwrap());
    let paths = [
        "/p/docs",
        "/p/docs/jobs",
        "/account",
        "/admin/audit",
        "/admin/audit/export.csv",
        "/p/docs/analytics/export.csv?of=pages",
        "/p/docs/nothing",
    ];
    let stranger = Visitor::new(&tls.authority, &public);
    for _ in 0..3 {
        for path in paths {
            let response = person.get(path, &[]).await;
            assert_ne!(response.headers()["x-cache"], "HIT", "{path}");
        }
        let jobs = person.get("/api/v1/projects/docs/jobs", &[("authorization", &bearer)]).await;
        assert_eq!((jobs.status().as_u16(), jobs.headers()["x-cache"] == "HIT"), (200, false));
        assert!(jobs.text().await.unwrap().contains(PROMPT));
        for path in paths {
            let response = stranger.get(path, &[]).await;
            assert_ne!(response.status(), 200, "{path}");
        }
        assert_eq!(stranger.get("/api/v1/projects/docs/jobs", &[]).await.status(), 401);
    }
    assert!(person.get("/p/docs/jobs", &[]).await.text().await.unwrap().contains(PROMPT));

    // The proxy does cache.
    for expected in ["MISS", "HIT"] {
        assert_eq!(stranger.get("/control", &[]).await.headers()["x-cache"], expected);
    }
    let stored = stored(&installation.path("cache"));
    assert_eq!(stored.len(), 1, "{stored:?}");
    for text in &stored {
        let (_, key) = text.split_once("KEY: ").unwrap();
        let key = key.lines().next().unwrap();
        assert!(key.ends_with("/control"), "{key}");
        assert!(!text.to_lowercase().contains("set-cookie"), "{key}");
    }
}
