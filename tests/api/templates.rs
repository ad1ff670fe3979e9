//! Templates: permissions, validation, scorecards, and the link from jobs.

use base::clock::Clock;
use model::time::Timestamp;
use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{
    Archive, Browser, New, Settings, TestApp, intent, job_with, json, remote_job, tags, until,
};

const NOON: Timestamp = Timestamp::from_millis(1_795_000_000_000);

async fn save(person: &Browser, name: &str, text: &str) -> String {
    New::template(name, text).id(person).await
}

async fn list(person: &Browser, project: &str) -> Vec<Value> {
    person.post_json("/api/templates/list", &[("project", project)]).await.as_array().unwrap().clone()
}

async fn create(person: &Browser, prompt: &str, template: &str) -> crate::helpers::TestResponse {
    New::job(prompt).with("template_id", template).post(person).await
}

#[tokio::test]
async fn template_is_saved_changed_listed_and_deleted() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let id = save(&operator, " Zeta ", "Check {{page}}\r\nnow").await;
    save(&operator, "alpha", "No place").await;
    let listed = list(&operator, "docs").await;
    let names: Vec<_> = listed.iter().map(|template| template["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["alpha", "Zeta"]);
    assert_eq!(listed[1]["text"], "Check {{page}}\nnow");
    assert_eq!(listed[1]["score"]["runs"], 0);
    assert_eq!(list(&operator, "api").await.len(), 0, "another project has its own");

    let change = New::template("Beta", "Changed").with("template", &id);
    assert_eq!(change.id(&operator).await, id);
    let form = operator.post_json("/api/templates/form", &[("project", "docs"), ("template", &id)]).await;
    assert_eq!((&form["name"], &form["text"]), (&json!("Beta"), &json!("Changed")));
    operator.post_json("/api/templates/remove", &[("project", "docs"), ("template", &id)]).await;
    assert_eq!(list(&operator, "docs").await.len(), 1);
    operator
        .post("/api/templates/remove", &[("project", "docs"), ("template", &id)])
        .await
        .refused(404, "not_found");
}

#[tokio::test]
async fn invalid_template_is_refused_and_its_text_returned() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    save(&operator, "Taken", "x").await;
    let (long_name, long_text) = ("n".repeat(81), "x".repeat(32_769));
    let many: String = (0..21).map(|n| format!("{{{{p{n}}}}}")).collect();
    for (name, text) in [
        ("", "x"),
        ("a\nb", "x"),
        (&long_name, "x"),
        ("Taken", "another"),
        ("n", ""),
        ("n", " \n"),
        ("n", "a\0"),
        ("n", &long_text),
        ("n", &many),
        ("n", "Do {{prompt}}"),
    ] {
        New::template(name, text).post(&operator).await.refused(400, "bad_input");
    }
    assert_eq!(list(&operator, "docs").await.len(), 1);
    let form = operator.post_json("/api/templates/form", &[("project", "docs")]).await;
    assert_eq!((&form["name"], &form["text"]), (&json!("n"), &json!("Do {{prompt}}")));
    save(&operator, "n", "Do {{task}}").await;
    let form = operator.post_json("/api/templates/form", &[("project", "docs")]).await;
    assert_eq!(form["text"], "", "a saved text is not stored as a draft");
    let colleague = app.sign_in("otto").await;
    assert_eq!(colleague.post_json("/api/templates/form", &[("project", "docs")]).await["text"], "");
}

#[tokio::test]
async fn template_cannot_be_renamed_to_an_existing_name() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    save(&operator, "One", "1").await;
    let two = save(&operator, "Two", "2").await;
    let change = New::template("One", "2").with("template", &two);
    let message = change.post(&operator).await.refused(400, "bad_input");
    assert!(message.contains("name"), "{message}");
    assert_eq!(list(&operator, "docs").await[1]["name"], "Two");
}

#[tokio::test]
async fn viewer_reads_templates_and_changes_none() {
    let app = TestApp::start().await;
    let id = save(&app.operator().await, "One", "Check {{page}}").await;
    let viewer = app.sign_in("vera").await;
    assert_eq!(list(&viewer, "docs").await.len(), 1);
    let fields = [("project", "docs"), ("template", id.as_str()), ("name", "Mine"), ("text", "x")];
    viewer.post("/api/templates/save", &fields).await.refused(403, "forbidden");
    viewer.post("/api/templates/remove", &fields[..2]).await.refused(403, "forbidden");
    let listed = list(&viewer, "docs").await;
    let templates: Vec<_> = listed.iter().map(|template| (&template["name"], &template["text"])).collect();
    assert_eq!(templates, [(&json!("One"), &json!("Check {{page}}"))]);
    let page = viewer.get("/p/docs/templates").await;
    assert!(page.text.contains("One") && !page.text.contains("/api/templates/remove"), "offered to a viewer");
    for form in ["new", id.as_str()] {
        let page = viewer.get(&format!("/p/docs/templates?edit={form}")).await.text;
        assert!(page.contains("Your role is read-only") && !page.contains("Save template"), "{page}");
    }
    app.anonymous().post("/api/templates/list", &[("project", "docs")]).await.refused(401, "unauthenticated");
    app.anonymous().post("/api/templates/save", &fields).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn template_of_another_project_is_not_found() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let id = New::template("Theirs", "x").with("project", "api").id(&operator).await;
    let change = [("project", "docs"), ("template", id.as_str()), ("name", "Mine"), ("text", "y")];
    operator.post("/api/templates/save", &change).await.refused(404, "not_found");
    operator.post("/api/templates/form", &change[..2]).await.refused(404, "not_found");
    operator.post("/api/templates/remove", &change[..2]).await.refused(404, "not_found");
    create(&operator, "Fix typos", &id).await.refused(404, "not_found");
    create(&operator, "Fix typos", "no-id").await.refused(400, "bad_input");
    assert_eq!(app.upstream.requests().await.len(), 0);
    assert_eq!(operator.draft(None).await, "Fix typos", "the text is stored");
    assert_eq!(list(&operator, "api").await[0]["name"], "Theirs");
}

#[tokio::test]
async fn job_keeps_its_template_after_renaming_and_removal() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let id = save(&operator, "Check", "Check {{page}}").await;
    let job = create(&operator, "Check /a", &id).await.json();
    assert_eq!(job["template"], json!({"id": id, "name": "Check"}));
    New::template("Other", "y").with("template", &id).made(&operator).await;
    assert_eq!(operator.job(&job).await["template"]["id"], json!(id));
    operator.post_json("/api/templates/remove", &[("project", "docs"), ("template", &id)]).await;
    let job = operator.job(&job).await;
    assert_eq!(job["template"], json!({"id": null, "name": "Check"}));
    assert_eq!(job["prompt"], "Check /a");
    assert_eq!(operator.created("Fix typos").await["template"], json!(null));
}

/// The same form after its template was deleted returns the same response.
#[tokio::test]
async fn deleted_template_does_not_change_the_response_to_a_form() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let (id, intent) = (save(&operator, "Check", "Check it").await, intent());
    let fields = [("project", "docs"), ("prompt", "Check it"), ("intent", &intent), ("template_id", &id)];
    let first = operator.post_json("/api/jobs/create", &fields).await;
    operator.post_json("/api/templates/remove", &[("project", "docs"), ("template", &id)]).await;
    assert_eq!(operator.post_json("/api/jobs/create", &fields).await["id"], first["id"]);
    assert_eq!(app.upstream.posts().await.len(), 1);
}

/// Jobs whose polls give the end that is the second word of their prompt.
async fn scored() -> (TestApp, Browser, String) {
    let app = TestApp::with(Settings { clock: Clock::frozen(NOON), ..Settings::default() }).await;
    let take = |request: &Request| {
        let prompt = request.body_json::<Value>().unwrap()["prompt"].as_str().unwrap().to_owned();
        let Some(end) = prompt.strip_prefix("end ") else { return ResponseTemplate::new(400) };
        let id = format!("{end}-{}", uuid::Uuid::new_v4().simple());
        ResponseTemplate::new(201).set_body_json(remote_job(&id, "active"))
    };
    app.upstream.on_create(take).await;
    app.upstream
        .on_read(|request: &Request| {
            let id = request.url.path_segments().unwrap().next_back().unwrap().to_owned();
            let link = json!("https://git.example/pull/1");
            let job = match id.split('-').next().unwrap() {
                "request" => job_with(&id, "completed", "prLink", link),
                "nothing" => remote_job(&id, "completed"),
                status => remote_job(&id, status),
            };
            ResponseTemplate::new(200).set_body_json(job)
        })
        .await;
    let operator = app.operator().await;
    let id = save(&operator, "Check", "Check it").await;
    (app, operator, id)
}

/// Waits until the poll at `seconds` after [`NOON`] has finished this many jobs of the template `name`.
async fn finished_at(app: &TestApp, operator: &Browser, seconds: i64, name: &str, jobs: u64) {
    app.clock().set(NOON.plus_seconds(seconds));
    until("the jobs finish", async || {
        let listed = list(operator, "docs").await;
        let template = listed.iter().find(|template| template["name"] == name).unwrap();
        (template["score"]["finished"] == jobs).then_some(())
    })
    .await;
}

#[tokio::test]
async fn scorecard_is_correct_for_zero_and_one_runs() {
    let (app, operator, id) = scored().await;
    let none = json!({
        "runs": 0, "finished": 0, "with_pull_request": 0, "without_change": 0, "failed": 0, "median_millis": null,
    });
    assert_eq!(list(&operator, "docs").await[0]["score"], none);
    assert_eq!(create(&operator, "refuse it", &id).await.json()["state"], "rejected");
    assert_eq!(list(&operator, "docs").await[0]["score"], none, "a rejected job is no run");
    assert_eq!(create(&operator, "end request", &id).await.json()["state"], "active");
    let running = &list(&operator, "docs").await[0]["score"];
    assert_eq!((&running["runs"], &running["finished"]), (&json!(1), &json!(0)));
    finished_at(&app, &operator, 7_200, "Check", 1).await;
    let one = json!({
        "runs": 1, "finished": 1, "with_pull_request": 1, "without_change": 0, "failed": 0,
        "median_millis": 7_200_000,
    });
    assert_eq!(list(&operator, "docs").await[0]["score"], one);
}

#[tokio::test]
async fn scorecard_counts_the_jobs_of_a_batch() {
    let (app, operator, id) = scored().await;
    let form = operator.get(&format!("/p/docs/jobs/batch?prompt=x&template={id}")).await.text;
    assert!(form.contains(&format!("name=\"template_id\" value=\"{id}\"")), "{form}");
    let with = New::batch("end {{page}}", "request\nnothing").with("template_id", &id);
    with.started(&operator).await;
    until("both are accepted", async || {
        (list(&operator, "docs").await[0]["score"]["runs"] == 2).then_some(())
    })
    .await;
    finished_at(&app, &operator, 7_200, "Check", 2).await;
    let both = json!({
        "runs": 2, "finished": 2, "with_pull_request": 1, "without_change": 1, "failed": 0,
        "median_millis": 7_200_000,
    });
    assert_eq!(list(&operator, "docs").await[0]["score"], both);
    let unknown = with.with("intent", "another").with("template_id", "01930000-0000-7000-8000-00000000000f");
    unknown.post(&operator).await.refused(404, "not_found");
}

#[tokio::test]
async fn scorecard_counts_every_outcome_of_its_own_jobs() {
    let (app, operator, id) = scored().await;
    let other = save(&operator, "Other", "x").await;
    create(&operator, "end request", &id).await;
    create(&operator, "end nothing", &id).await;
    finished_at(&app, &operator, 5_000, "Check", 2).await;
    create(&operator, "end failed", &id).await;
    create(&operator, "end archived", &id).await;
    create(&operator, "end active", &id).await;
    create(&operator, "end failed", &other).await;
    operator.created("end failed").await;
    finished_at(&app, &operator, 13_000, "Check", 3).await;
    finished_at(&app, &operator, 13_000, "Other", 1).await;
    let listed = list(&operator, "docs").await;
    let score = |name: &str| &listed.iter().find(|template| template["name"] == name).unwrap()["score"];
    // The median: two took 5,000 s and one 8,000 s. The archived one had no result.
    insta::assert_json_snapshot!(score("Check"));
    assert_eq!((&score("Other")["failed"], &score("Other")["runs"]), (&json!(1), &json!(1)));
    let page = operator.get("/p/docs/templates").await.text;
    for words in ["<dd>5", "33%", "1 h 23 min", "A run is a job that the agent accepted"] {
        assert!(page.contains(words), "{words} is not on the page");
    }
    drop(app);
}

#[tokio::test]
async fn template_url_fills_the_form_without_javascript() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let id = save(&operator, "Check", "Check {{page}} for {{audience}}, and {{page}} again").await;
    let page = operator.get(&format!("/p/docs/jobs/new?template={id}&path=/guides/a")).await;
    let prompt = |page: &str| {
        let tags = tags(page);
        let area = tags.iter().find(|tag| tag.name == "textarea").unwrap();
        area.text.trim_start_matches('\n').to_owned()
    };
    assert_eq!(prompt(&page.text), "Check /guides/a for {{audience}}, and /guides/a again");
    let found = tags(&page.text);
    let value = |name: &str| {
        found
            .iter()
            .find(|tag| tag.name == "input" && tag.attribute("name") == name)
            .unwrap()
            .attribute("value")
    };
    let fields = (value("template_id"), value("value.page"), value("value.audience"));
    assert_eq!(fields, (id.as_str(), "/guides/a", ""));
    assert_eq!(value("paths"), "/guides/a");
    let page = operator.get(&format!("/p/docs/jobs/new?template={id}&page=%2Fb&audience=%3Cb%3E%26")).await;
    assert_eq!(prompt(&page.text), "Check /b for <b>&, and /b again");
    let fields = "value.page=%2Fb&value.audience=%3Cb%3E%26";
    let page = operator.get(&format!("/p/docs/jobs/new?template={id}&page=%2Fc&{fields}")).await;
    assert_eq!(prompt(&page.text), "Check /b for <b>&, and /b again");

    let unknown = operator.get("/p/docs/jobs/new?template=01920000-0000-7000-8000-000000000000").await;
    let found = tags(&unknown.text);
    let fields = found.iter().filter(|tag| tag.attribute("name") == "template_id");
    let chosen: Vec<&str> = fields.map(|tag| tag.attribute("value")).collect();
    assert_eq!((unknown.status, chosen, prompt(&unknown.text)), (200, vec![""], String::new()));
}

/// The job is about the page in the URL, whatever the field of the placeholder has.
#[tokio::test]
async fn placeholder_named_path_leaves_the_page_of_the_job() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let id = save(&operator, "Move", "Move {{path}} to {{method}}").await;
    let url = format!("/p/docs/jobs/new?template={id}&path=/guides/a&value.path=/b&value.method=x");
    let page = operator.get(&url).await.text;
    let found = tags(&page);
    let value = |name: &str| {
        let named = found.iter().find(|tag| tag.name == "input" && tag.attribute("name") == name);
        named.unwrap().attribute("value")
    };
    assert_eq!((value("paths"), value("path"), value("value.path")), ("/guides/a", "/guides/a", "/b"));
    assert!(page.contains("Move /b to x"), "{page}");
}

#[tokio::test]
async fn run_again_fills_prompt_pages_and_template() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    Archive::of(&app).await.add_pages(&["/a", "/b"]).await;
    let id = save(&operator, "Check", "Check {{page}}").await;
    let job = create(&operator, "Check /a and /b", &id).await.json();
    let page = operator.get(&format!("/p/docs/jobs/new?from={}", job["id"].as_str().unwrap())).await;
    let found = tags(&page.text);
    assert!(found.iter().any(|tag| tag.attribute("name") == "template_id" && tag.attribute("value") == id));
    assert!(found.iter().any(|tag| tag.attribute("name") == "paths" && tag.attribute("value") == "/a, /b"));
    assert!(found.iter().any(|tag| tag.name == "textarea" && tag.text.trim() == "Check /a and /b"));
}

#[tokio::test]
async fn hostile_text_in_a_template_is_escaped() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let name = "<img src=x onerror=1>\u{1F4DA}";
    let text = "</textarea><script>alert(1)</script><img src=x> {{page}} \u{202E}\u{1F4DA} ";
    let id = save(&operator, name, &(text.to_owned() + &"é".repeat(20_000))).await;
    for (path, status) in [
        ("/p/docs/templates".to_owned(), 200),
        (format!("/p/docs/templates?edit={id}"), 200),
        (format!("/p/docs/jobs/new?template={id}&page=%3Cscript%3E"), 200),
        ("/p/docs/templates?edit=%3Cscript%3E".to_owned(), 400),
    ] {
        let page = operator.get(&path).await;
        assert_eq!(page.status, status, "{path}");
        let found = tags(&page.text);
        let shows_text = found.iter().any(|tag| tag.text.contains("<script>alert(1)</script><img src=x>"));
        assert_eq!(shows_text, status == 200, "{path}");
        assert!(!found.iter().any(|tag| tag.name == "img"), "{path}");
        assert!(!found.iter().any(|tag| tag.name == "script" && tag.text.starts_with("alert")), "{path}");
    }
}

#[tokio::test]
async fn template_forms_return_to_the_list_without_javascript() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let referer = format!("{}/p/docs/templates?edit=new", app.origin());
    let template = New::template("One", "Check {{page}}").with("template", "");
    let saved = template.submit(&operator, &referer).await;
    assert_eq!((saved.status, saved.location()), (302, "/p/docs/templates"));

    let again = template.submit(&operator, &referer).await;
    let path = again.location().trim_start_matches(&app.origin()).to_owned();
    let page = operator.get(&path).await;
    assert!(page.text.contains("A template with that name already exists"), "the reason is not on the page");
    assert!(page.text.contains("Check {{page}}"), "the text is not on the page");

    let id = list(&operator, "docs").await[0]["id"].as_str().unwrap().to_owned();
    let referer = format!("{}/p/docs/templates", app.origin());
    let fields = [("project", "docs"), ("template", id.as_str())];
    let removed = operator.submit("/api/templates/remove", &fields, Some(&referer)).await;
    assert_eq!((removed.status, removed.location()), (302, "/p/docs/templates"));
    assert!(operator.get("/p/docs/templates").await.text.contains("No templates yet"));
}
