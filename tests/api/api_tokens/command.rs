//! `docket token`.

use model::audit::Outcome;

use super::{PROJECTS, audited, create, problem, project_ids, with_token};
use crate::helpers::work::work_at;
use crate::helpers::{Finished, Installation, TestApp};

/// Runs the command on the database of an app.
fn token(app: &TestApp, arguments: &[&str]) -> Finished {
    let installation = Installation::new()
        .set("DOCKET_DATABASE_URL", app.database_url())
        .set("DOCKET_PROJECTS", "docs=Docs,api=API reference");
    installation.run(&[&["token"], arguments].concat())
}

/// Creates a token with the command, and returns it.
fn created(app: &TestApp, more: &[&str]) -> String {
    let required = ["create", "--user", "olga", "--name", "Nightly check"];
    let finished = token(app, &[&required, more].concat());
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let line = finished.stdout.strip_suffix('\n').unwrap();
    assert!(line.starts_with("dkt_") && line.len() == 42, "only the token: {finished:?}");
    line.to_owned()
}

#[tokio::test]
async fn command_creates_lists_and_revokes_a_token() {
    let app = TestApp::start().await;
    let text = created(&app, &["--scopes", "jobs:read,jobs:write", "--projects", "docs", "--days", "30"]);
    assert_eq!(project_ids(&app, &text).await, ["docs"]);
    let listed = token(&app, &["list"]).stdout;
    let [line] = listed.lines().collect::<Vec<_>>()[..] else { panic!("{listed}") };
    let id = line.split_whitespace().next().unwrap();
    for part in
        [&text[text.len() - 4..], "olga", "Nightly check", "jobs:read,jobs:write", "  docs  ", "active"]
    {
        assert!(line.contains(part), "{line}");
    }
    assert!(id.len() == 36 && !listed.contains(&text[4..]), "{listed}");
    let created = audited(&app, "api_token_create", Outcome::Done).await;
    assert_eq!((created[0].0.as_str(), created[0].1.as_str()), ("command line", id));
    assert!(created[0].2.starts_with("of olga, …"), "{created:?}");

    let revoked = token(&app, &["revoke", id]);
    assert_eq!(revoked.code, Some(0), "{revoked:?}");
    problem(&with_token(&app, PROJECTS, &text).await, 401, "invalid_token");
    assert!(token(&app, &["list"]).stdout.contains("revoked"));
    let again = token(&app, &["revoke", id]);
    assert!(again.code == Some(1) && again.stderr.contains("docket token list"), "{again:?}");
}

#[tokio::test]
async fn command_replaces_a_token() {
    let app = TestApp::start().await;
    let old = created(&app, &["--scopes", "jobs:read", "--projects", "docs"]);
    let listed = token(&app, &["list"]).stdout;
    let id = listed.split_whitespace().next().unwrap();
    let rotated = token(&app, &["rotate", id]);
    assert_eq!(rotated.code, Some(0), "{rotated:?}");
    let new = rotated.stdout.trim_end();
    assert!(new.starts_with("dkt_") && new != old && rotated.stderr.contains("works until"), "{rotated:?}");
    for text in [old.as_str(), new] {
        assert_eq!(project_ids(&app, text).await, ["docs"]);
    }
    let nowhere = token(&app, &["rotate", "01a22503-26ea-769a-accb-cac177b2ccae"]);
    assert!(nowhere.code == Some(1) && nowhere.stderr.contains("docket token list"), "{nowhere:?}");
}

#[tokio::test]
async fn command_refuses_what_the_owner_may_not_do() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    app.managed(&ada, "change", "olga", &[("role", "viewer"), ("projects", "docs")]).await;
    app.state().store.set_disabled((&work_at(app.clock().now())).into(), "otto", true).await.unwrap();
    ada.invite("ida", "operator", "").await;
    let create = ["create", "--name", "CI", "--scopes"];
    for (more, code, words) in [
        (&["jobs:write", "--user", "olga"][..], 1, "needs the role operator"),
        (&["jobs:read", "--user", "olga", "--projects", "api"], 1, "no access to the project api"),
        (&["jobs:read", "--user", "olga", "--projects", "nowhere"], 1, "no project nowhere"),
        (&["jobs:read", "--user", "olga", "--projects", ""], 1, "at least one project"),
        (&["jobs:read", "--user", "otto"], 1, "disabled"),
        (&["jobs:read", "--user", "ida"], 1, "invitation"),
        (&["jobs:read", "--user", "nobody"], 1, "no user nobody"),
        (&["everything", "--user", "olga"], 2, "A scope is"),
        (&["jobs:read", "--user", "olga", "--days", "366"], 2, "1 to 365 days"),
    ] {
        let finished = token(&app, &[&create, more].concat());
        assert_eq!(finished.code, Some(code), "{more:?}: {finished:?}");
        assert!(finished.stderr.contains(words) && finished.stdout.is_empty(), "{more:?}: {finished:?}");
    }
    assert_eq!(token(&app, &["list"]).stdout, "");
}

#[tokio::test]
async fn web_token_is_in_the_list_of_the_command() {
    let app = TestApp::start().await;
    let text = create(&app.operator().await, &[]).await;
    let listed = token(&app, &["list"]).stdout;
    assert!(listed.contains(&text[text.len() - 4..]) && listed.contains("all projects"), "{listed}");
}
