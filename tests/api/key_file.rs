//! Key rotation: replacing the key file replaces the key of a running app.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{
    Browser, Installation, KEY, NEW_KEY, PASSWORD, Settings, TestApp, detached_job, job_with, json, logged,
    remote_job, until,
};

/// The app, and the folder with its key file.
async fn app_with_key_file() -> (TestApp, TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    replace(&file, KEY);
    let settings = Settings { api_key_file: Some(file.clone()), ..Settings::default() };
    let app = TestApp::with(settings).await;
    app.upstream.accepts_jobs().await;
    (app, folder, file)
}

/// Replaces the file atomically, as secret rotation does.
fn replace(file: &Path, text: &str) {
    let new = file.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(new, file).unwrap();
}

/// The key of the app's next call.
async fn key_of_next_call(app: &TestApp, operator: &Browser) -> String {
    operator.created("Fix typos").await;
    let requests = app.upstream.posts().await;
    let authorization = requests.last().unwrap().headers["authorization"].to_str().unwrap().to_owned();
    authorization.strip_prefix("Bearer ").unwrap().to_owned()
}

#[tokio::test]
async fn next_call_uses_the_new_key() {
    let (app, _folder, file) = app_with_key_file().await;
    let operator = app.operator().await;
    assert_eq!(key_of_next_call(&app, &operator).await, KEY);
    replace(&file, &format!("{NEW_KEY}\n"));
    assert_eq!(key_of_next_call(&app, &operator).await, NEW_KEY);
    std::fs::write(&file, KEY).unwrap();
    assert_eq!(key_of_next_call(&app, &operator).await, KEY);
    let lines = logged(&file.display().to_string());
    assert_eq!(lines.iter().filter(|line| line.contains("a new key is in use")).count(), 2, "{lines:?}");
}

#[tokio::test]
async fn missing_or_invalid_key_file_keeps_the_key() {
    let (app, _folder, file) = app_with_key_file().await;
    let operator = app.operator().await;
    assert_eq!(key_of_next_call(&app, &operator).await, KEY);
    let warnings = || {
        let lines = logged(&file.display().to_string());
        lines.iter().filter(|line| line.contains("WARN")).count()
    };
    let bad = [Some(""), None, Some("two words"), Some("mint_é"), Some("\n"), Some("mint_0123456789\n")];
    for (n, bad) in bad.into_iter().enumerate() {
        match bad {
            Some(text) => replace(&file, text),
            None => std::fs::remove_file(&file).unwrap(),
        }
        for _ in 0..3 {
            assert_eq!(key_of_next_call(&app, &operator).await, KEY, "{bad:?}");
        }
        assert_eq!(warnings(), n + 1, "{bad:?}");
    }
    replace(&file, NEW_KEY);
    assert_eq!(key_of_next_call(&app, &operator).await, NEW_KEY);
}

/// If a response or log line repeated a key, the test browser and the log capture would find it.
#[tokio::test]
async fn former_key_is_masked_like_the_new_one() {
    let (app, _folder, file) = app_with_key_file().await;
    let operator = app.operator().await;
    // A key is masked from the first call that uses it.
    for key in [KEY, NEW_KEY] {
        replace(&file, key);
        assert_eq!(key_of_next_call(&app, &operator).await, key);
    }
    let telling = |_: &Request| {
        let words = json!(format!("{NEW_KEY} and {KEY}, {KEY}{NEW_KEY}"));
        ResponseTemplate::new(201).set_body_json(job_with(&detached_job(), "active", "model", words))
    };
    app.upstream.reset().await;
    app.upstream.on_create(telling).await;
    for key in [NEW_KEY, KEY] {
        replace(&file, key);
        assert_eq!(operator.created("Fix typos").await["remote"]["model"], "••• and •••, ••••••");
    }
}

#[tokio::test]
async fn binary_reloads_the_key_file() {
    let app = TestApp::start().await;
    let response =
        |_: &Request| ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), "completed"));
    app.upstream.on_create(response).await;
    let installation = Installation::new()
        .set("DOCKET_ADDR", "127.0.0.1:0")
        .set("DOCKET_UPSTREAM_URL", &app.upstream.url())
        .set("DOCKET_API_KEY_FILE", "key")
        .set("DOCKET_PROJECTS", "docs=Docs");
    replace(&installation.path("key"), KEY);
    installation.run_with_input(&["user", "add", "olga", "--role", "operator"], PASSWORD);
    let server = installation.serve(&[]);
    let olga = Browser::at(&server.address().await);
    olga.sign_in("olga", PASSWORD).await;
    assert_eq!(key_of_next_call(&app, &olga).await, KEY);
    replace(&installation.path("key"), NEW_KEY);
    assert_eq!(key_of_next_call(&app, &olga).await, NEW_KEY);
    until("the new key is in use", async || server.output().contains("a new key is in use").then_some(()))
        .await;
    server.signal("TERM");
    assert!(server.ended().await.success());
}
