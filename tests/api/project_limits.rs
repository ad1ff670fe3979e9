//! A hidden project is treated as one that does not exist: for every endpoint, page and file.

use model::user::{GivenProjects, Role};
use web::auth::roles::{self, Access};

use crate::gate::endpoints;
use crate::helpers::work::work_at;
use crate::helpers::{Browser, Installation, New, PASSWORD, TestApp};
use crate::roles::{FIELDS, PAGES};

/// Endpoints that belong to no project.
const OF_NO_PROJECT: [&str; 6] = [
    "/api/account/",
    "/api/passkeys/",
    "/api/second-factor/",
    "/api/session/",
    "/api/settings/",
    "/api/tokens/",
];

/// Olga, who may see only one of the two projects.
async fn limited(app: &TestApp, project: &str) -> Browser {
    let ada = app.sign_in("ada").await;
    let more = [("role", "operator"), ("projects", project)];
    assert_eq!(app.manage(&ada, "change", "olga", &more).await.status, 200);
    app.operator().await
}

#[tokio::test]
async fn endpoints_treat_hidden_and_unknown_projects_alike() {
    let app = TestApp::start().await;
    let olga = limited(&app, "docs").await;
    let may = |endpoint: &&str| !matches!(roles::of(endpoint), Some(Access::From(Role::Admin)) | None);
    let of_projects: Vec<_> = endpoints()
        .into_iter()
        .filter(may)
        .filter(|endpoint| !OF_NO_PROJECT.iter().any(|start| endpoint.starts_with(start)))
        .collect();
    assert!(of_projects.len() > 40, "{of_projects:?}");
    for endpoint in of_projects {
        let fetch = async |project: &'static str| {
            let others = FIELDS.iter().filter(|(name, _)| *name != "project").copied();
            let pairs: Vec<_> = others.chain([("project", project)]).collect();
            olga.post(endpoint, &pairs).await.refused(404, "not_found")
        };
        assert_eq!(fetch("api").await, fetch("nowhere").await, "{endpoint}");
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn pages_and_files_treat_hidden_and_unknown_projects_alike() {
    let app = TestApp::start().await;
    let olga = limited(&app, "docs").await;
    let id = "01930000-0000-7000-8000-000000000000";
    let pages = PAGES.iter().map(|(page, _)| *page).filter(|page| page.starts_with("/p/"));
    let files = ["/p/{project}/analytics/export.csv", "/p/{project}/analytics/export.json"];
    for page in pages.chain(files) {
        let page = page.replace("{job}", id).replace("{batch}", id);
        let (theirs, none) = (
            olga.get(&page.replace("{project}", "api")).await,
            olga.get(&page.replace("{project}", "nowhere")).await,
        );
        assert_eq!((theirs.status, none.status), (404, 404), "{page}");
        assert!(!theirs.text.contains("API reference"), "{page}");
    }
}

#[tokio::test]
async fn job_is_not_reachable_through_another_project() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let ada = app.sign_in("ada").await;
    let job = New::job("Fix typos").with("project", "api").made(&ada).await;
    let olga = limited(&app, "docs").await;
    for project in ["docs", "api"] {
        let pairs = [("project", project), ("job", job["id"].as_str().unwrap())];
        olga.post("/api/jobs/get", &pairs).await.refused(404, "not_found");
    }
}

#[tokio::test]
async fn lists_and_redirects_use_only_visible_projects() {
    let app = TestApp::start().await;
    let olga = limited(&app, "api").await;
    let session = olga.post_json("/api/session/current", &[]).await;
    assert_eq!(session["projects"], serde_json::json!([{"id": "api", "name": "API reference"}]));
    let home = olga.get("/").await;
    assert_eq!((home.status, home.location()), (302, "/p/api"));
    let page = olga.get("/p/api/jobs").await;
    assert!(page.status == 200 && !page.text.contains("/p/docs"), "{}", page.text);
    assert!(olga.get("/account").await.text.contains("You have access to API reference."));
}

#[tokio::test]
async fn project_limit_can_be_lifted_and_exempts_administrators() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let seen = async |name: &str| {
        let session = app.sign_in(name).await.post_json("/api/session/current", &[]).await;
        session["projects"].as_array().unwrap().len()
    };
    limited(&app, "docs").await;
    assert_eq!(seen("olga").await, 1);
    app.managed(&ada, "change", "olga", &[("role", "admin"), ("projects", "docs")]).await;
    assert_eq!(seen("olga").await, 2);
    app.managed(&ada, "change", "olga", &[("role", "operator")]).await;
    assert_eq!(seen("olga").await, 2);
}

#[tokio::test]
async fn user_without_any_project_gets_a_message() {
    let app = TestApp::start().await;
    let gone = ["gone".parse().unwrap()];
    let id = app.id_of("vera").await;
    assert!(
        app.state()
            .store
            .set_access(
                (&work_at(app.clock().now())).into(),
                &id,
                Role::Viewer,
                &GivenProjects::These(gone.to_vec())
            )
            .await
            .unwrap()
    );
    let home = app.sign_in("vera").await.get("/").await;
    assert!(home.status == 403 && home.text.contains("Ask an administrator"), "{}", home.text);
}

#[test]
fn command_limits_users_to_existing_projects() {
    let installation = Installation::configured("http://127.0.0.1:9");
    let add = |name: &str, projects: &str| {
        installation
            .run_with_input(&["user", "add", name, "--role", "viewer", "--projects", projects], PASSWORD)
    };
    assert_eq!(add("vera", "docs,api").code, Some(0));
    let refused = add("eva", "docs,nowhere");
    assert!(refused.code == Some(1) && refused.stderr.contains("nowhere"), "{refused:?}");
    let list = installation.run(&["user", "list"]).stdout;
    assert!(list.lines().count() == 1 && list.contains("only docs,api"), "{list}");
}

#[tokio::test]
async fn change_without_a_selected_project_gives_no_project() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let seen = async |name: &str| {
        let session = app.sign_in(name).await.post_json("/api/session/current", &[]).await;
        session["projects"].as_array().unwrap().len()
    };
    // As the form sends it when no box is checked: without a field for projects.
    let selected = [("role", "operator"), ("access", "selected")];
    assert_eq!(app.manage(&ada, "change", "olga", &selected).await.status, 200);
    assert_eq!(seen("olga").await, 0);
    for access in ["", "some"] {
        let unclear = [("role", "operator"), ("access", access)];
        let message = app.manage(&ada, "change", "olga", &unclear).await.refused(400, "bad_input");
        assert_eq!(message, "Choose all projects or selected projects.");
    }
    let all = [("role", "operator"), ("access", "all")];
    assert_eq!(app.manage(&ada, "change", "olga", &all).await.status, 200);
    assert_eq!(seen("olga").await, 2);
}

#[tokio::test]
async fn project_missing_from_the_configuration_stays_assigned() {
    let mut app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let given = [("role", "operator"), ("access", "selected"), ("projects", "api")];
    assert_eq!(app.manage(&ada, "change", "olga", &given).await.status, 200);
    app.restart_with(|settings| settings.projects = "docs=Docs".to_owned()).await;
    let ada = app.sign_in("ada").await;
    let people = ada.get("/admin/users").await.text;
    assert!(people.contains("api (not configured)"), "{people}");
    // The administrator changes the role and leaves the other fields of the form unchanged.
    let unchanged = [("role", "viewer"), ("access", "selected"), ("projects", "api")];
    assert_eq!(app.manage(&ada, "change", "olga", &unchanged).await.status, 200);
    assert_eq!(app.sign_in("olga").await.get("/").await.status, 403);
    app.manage(&ada, "change", "otto", &unchanged).await.refused(400, "bad_input");
    app.restart_with(|settings| settings.projects = "docs=Docs,api=API reference".to_owned()).await;
    let session = app.sign_in("olga").await.post_json("/api/session/current", &[]).await;
    assert_eq!(session["projects"].as_array().unwrap().len(), 1);
}
