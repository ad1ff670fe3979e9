//! The pages of a job: typed in the form or mentioned in the prompt, and stored with the job from its start.

use serde_json::Value;

use crate::helpers::{Archive, Browser, New, TestApp, Written, day, json, rows, tags};

async fn create(operator: &Browser, prompt: &str, paths: &str) -> Value {
    New::job(prompt).with("paths", paths).made(operator).await
}

#[tokio::test]
async fn pages_in_the_prompt_become_pages_of_the_job() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let known = ["/api/auth", "/guides/quickstart", "/not/this", "/v3/other"];
    Archive::of(&app).await.add_pages(&known).await;
    let prompt = "Compare `/guides/quickstart/` with (/api/auth?x#y), see https://x.example/not/this and /typed. \
                  It calls POST /v3/regions.";
    let job = create(&operator, prompt, "/typed/, own, /").await;
    assert_eq!(job["paths"], json!(["/", "/api/auth", "/guides/quickstart", "/own", "/typed"]));
    assert_eq!(job["prompt"], prompt, "the prompt stays as typed");
    let listed = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    assert_eq!(listed["jobs"][0]["paths"], job["paths"]);
}

#[tokio::test]
async fn known_pages_are_suggested_for_a_part_of_their_path() {
    let app = TestApp::start().await;
    let (operator, viewer) = (app.operator().await, app.sign_in("vera").await);
    let many: Vec<String> = (10..30).map(|n| format!("/many/page-{n}")).collect();
    let mut known: Vec<&str> = many.iter().map(String::as_str).collect();
    known.extend(["/", "/API/Auth", "/guides/api", "/100%_done", "/guides/caf\u{e9}"]);
    Archive::of(&app).await.add_pages(&known).await;
    let suggested =
        async |q: &str| operator.post_json("/api/jobs/suggest-pages", &[("project", "docs"), ("q", q)]).await;
    assert_eq!(suggested("/api").await, json!(["/API/Auth", "/guides/api"]), "first those that begin so");
    assert_eq!(suggested("API").await, json!(["/API/Auth", "/guides/api"]));
    assert_eq!(suggested("0%_d").await, json!(["/100%_done"]));
    assert_eq!(suggested("cafe\u{301}").await, json!(["/guides/caf\u{e9}"]));
    for nothing in ["", "  ", "%", "!", "/un_nown", &"x".repeat(600)] {
        let expected = if nothing == "%" { json!(["/100%_done"]) } else { json!([]) };
        assert_eq!(suggested(nothing).await, expected, "{nothing:?}");
    }
    assert_eq!(suggested("many").await.as_array().unwrap().len(), 10);
    let elsewhere = operator.post_json("/api/jobs/suggest-pages", &[("project", "api"), ("q", "many")]).await;
    assert_eq!(elsewhere, json!([]));
    let refused = viewer.post("/api/jobs/suggest-pages", &[("project", "docs"), ("q", "many")]).await;
    refused.refused(403, "forbidden");
}

#[tokio::test]
async fn rejected_job_has_its_pages() {
    let app = TestApp::start().await;
    Archive::of(&app).await.add_pages(&["/a"]).await;
    let job = create(&app.operator().await, "Fix /a and /b", "").await;
    assert_eq!((&job["state"], &job["paths"]), (&json!("rejected"), &json!(["/a"])));
}

#[tokio::test]
async fn excess_pages_are_refused_in_forms_and_ignored_in_prompts() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let many: String = (0..60).map(|n| format!("/page-{n}, ")).collect();
    let long = format!("/{}", "x".repeat(500));
    for paths in [many.as_str(), &long, "/a\u{7}b"] {
        New::job("x").with("paths", paths).post(&operator).await.refused(400, "bad_input");
    }
    let known: Vec<_> = (0..60).map(|n| format!("/page-{n}")).collect();
    Archive::of(&app).await.add_pages(&known.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let job = create(&operator, &many, "/typed").await;
    let paths = job["paths"].as_array().unwrap();
    assert!(paths.len() == 50 && paths.contains(&json!("/typed")));
}

#[tokio::test]
async fn pages_of_another_project_are_not_detected() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let mut archive = Archive::of(&app).await;
    archive.put("api", Written::new(day("2020-01-01"), rows(&[("/theirs", 1, 0)]))).await;
    archive.add_pages(&["/ours"]).await;
    assert_eq!(create(&operator, "Fix /ours and /theirs", "").await["paths"], json!(["/ours"]));
    let fields = [("project", "docs"), ("prompt", "/theirs, /ours/, x, /")];
    assert_eq!(operator.post_json("/api/jobs/mentioned-pages", &fields).await, json!(["/ours"]));
    let after_50: String = (0..50).map(|n| format!("/p{n} ")).collect::<String>() + "/ours";
    let fields = [("project", "docs"), ("prompt", &after_50)];
    assert_eq!(
        operator.post_json("/api/jobs/mentioned-pages", &fields).await,
        json!([]),
        "the first 50 paths"
    );
}

#[tokio::test]
async fn pages_in_no_list_of_known_pages_get_a_hint() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let unknown = async |paths: &str| {
        operator.post_json("/api/jobs/unknown-pages", &[("project", "docs"), ("paths", paths)]).await
    };
    let form = async |path: &str| operator.get(&format!("/p/docs/jobs/new?path={path}")).await.text;
    let hint = "Not in the list of known pages: /guides/serach.";
    assert_eq!(unknown("/guides/serach").await, json!([]), "there is no list to compare with");
    assert!(!form("/guides/serach").await.contains(hint));
    Archive::of(&app).await.add_pages(&["/guides/search", "/Faq/"]).await;
    assert_eq!(unknown("/guides/serach, /GUIDES/search/, /faq").await, json!(["/guides/serach"]));
    assert_eq!(unknown(&format!("/{}", "x".repeat(600))).await, json!([]), "it is refused with the form");
    assert!(form("/guides/serach").await.contains(hint));
    assert!(!form("/guides/search").await.contains("Not in the list"));
}

#[tokio::test]
async fn page_of_a_job_is_removed_and_added_again() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = create(&operator, "Fix it", "/a, /b").await;
    let id = job["id"].as_str().unwrap();
    let post = async |person: &Browser, verb: &str, project: &str, path: &str| {
        let fields = [("project", project), ("jobs", id), ("path", path)];
        person.post(&format!("/api/jobs/{verb}-page"), &fields).await
    };
    let listed = async |page: &str| {
        operator.post_json("/api/jobs/list", &[("project", "docs"), ("tag", page)]).await["total"].clone()
    };
    assert_eq!(post(&operator, "remove", "docs", "/a").await.json(), json!({"jobs": [id]}));
    assert_eq!(operator.job(&job).await["paths"], json!(["/b"]));
    assert_eq!((listed("/a").await, listed("/b").await), (json!(0), json!(1)));
    assert_eq!(post(&operator, "remove", "docs", "/a").await.json(), json!({"jobs": []}));
    assert_eq!(post(&operator, "add", "docs", " /a/ ").await.json(), json!({"jobs": [id]}));
    assert_eq!(operator.job(&job).await["paths"], json!(["/a", "/b"]));
    for n in 0..60 {
        post(&operator, "add", "docs", &format!("/page-{n}")).await;
    }
    assert_eq!(operator.job(&job).await["paths"].as_array().unwrap().len(), 50);
    for (path, status) in [("", 400), ("/a\u{7}", 400), (&*"x".repeat(501), 400)] {
        assert_eq!(post(&operator, "add", "docs", path).await.status, status, "{path:.9}");
    }
    assert_eq!(post(&operator, "remove", "api", "/a").await.json(), json!({"jobs": []}), "another project");
    let viewer = app.sign_in("vera").await;
    for verb in ["add", "remove"] {
        post(&viewer, verb, "docs", "/a").await.refused(403, "forbidden");
    }
    assert_eq!(listed("/a").await, json!(1));
}

#[tokio::test]
async fn page_of_a_job_links_to_its_report() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = create(&operator, "Fix it", "/guides/a&b \"><script>alert(1)</script>").await;
    let page = operator.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await;
    let found = tags(&page.text);
    let link = found.iter().find(|tag| tag.attribute("href").contains("?path=")).unwrap();
    assert!(link.attribute("href").starts_with("/p/docs/analytics?path=/guides/a%26b%20%22%3E%3Cscript%3E"));
    assert!(!found.iter().any(|tag| tag.name == "script" && tag.text.starts_with("alert")));
}
