//! The list of jobs: filters, search, pages and counts.

use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{Browser, New, TestApp, detached_job, intent, job_with, json, remote_job};

pub(crate) async fn list(person: &Browser, pairs: &[(&str, &str)]) -> Value {
    let pairs: Vec<_> = [("project", "docs")].iter().chain(pairs).copied().collect();
    person.post_json("/api/jobs/list", &pairs).await
}

/// The prompts on a page, in its order.
pub(crate) fn prompts(page: &Value) -> Vec<&str> {
    page["jobs"].as_array().unwrap().iter().map(|job| job["prompt"].as_str().unwrap()).collect()
}

/// An upstream in which the first word of the prompt determines the outcome.
pub(crate) async fn obedient_upstream(app: &TestApp) {
    app.upstream
        .on_create(|request: &Request| {
            let prompt = request.body_json::<Value>().unwrap()["prompt"].as_str().unwrap().to_owned();
            match prompt.split(' ').next().unwrap() {
                "refuse" => ResponseTemplate::new(400),
                "break" => ResponseTemplate::new(500),
                status => ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), status)),
            }
        })
        .await;
}

#[tokio::test]
async fn jobs_are_listed_newest_first_and_counted_by_state() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    for prompt in ["active one", "completed two", "refuse three", "break four", "paused five", "active six"] {
        operator.created(prompt).await;
    }
    let all = list(&operator, &[]).await;
    assert_eq!(
        prompts(&all),
        ["active six", "paused five", "break four", "refuse three", "completed two", "active one"]
    );
    let counts = json!({"active": 2, "completed": 1, "rejected": 1, "unknown": 1, "other": 1});
    assert_eq!((&all["counts"], &all["next"]), (&counts, &json!(null)));

    for (status, expected) in [
        ("active", vec!["active six", "active one"]),
        ("other", vec!["paused five"]),
        ("rejected", vec!["refuse three"]),
        ("unknown", vec!["break four"]),
        ("archived", vec![]),
        ("", prompts(&all)),
    ] {
        let page = list(&operator, &[("status", status)]).await;
        assert_eq!(prompts(&page), expected, "{status}");
        assert_eq!(page["counts"], counts, "{status}");
    }
    let bad = [("project", "docs"), ("status", "paused")];
    operator.post("/api/jobs/list", &bad).await.refused(400, "bad_input");
}

#[tokio::test]
async fn author_filter_lists_only_jobs_of_that_author() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let (olga, otto) = (app.operator().await, app.sign_in("otto").await);
    olga.created("active hers").await;
    otto.created("completed his").await;
    let his = list(&olga, &[("author", "otto")]).await;
    assert_eq!((prompts(&his), &his["counts"]), (vec!["completed his"], &json!({"completed": 1})));
    assert_eq!(prompts(&list(&olga, &[("author", "ot")]).await), Vec::<&str>::new());
    assert_eq!(
        prompts(&list(&olga, &[("author", "olga"), ("q", "hers"), ("status", "active")]).await),
        ["active hers"]
    );
}

#[tokio::test]
async fn pages_have_no_gap_or_repetition() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    let mut expected = Vec::new();
    for n in 0..105 {
        let status = if n % 2 == 0 { "active" } else { "completed" };
        expected.insert(0, format!("{status} {n}"));
        operator.created(&expected[0]).await;
    }
    let all = walk(&operator, &[], &[50, 50, 5]).await;
    assert_eq!(all, expected);
    let active = walk(&operator, &[("status", "active")], &[50, 3]).await;
    assert_eq!(active.len(), 53);
    let bad = [("project", "docs"), ("cursor", "51")];
    operator.post("/api/jobs/list", &bad).await.refused(400, "bad_input");
}

/// The prompts of all pages, whose sizes must be `sizes`.
async fn walk(operator: &Browser, filter: &[(&str, &str)], sizes: &[usize]) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor = String::new();
    for (n, size) in sizes.iter().enumerate() {
        let pairs: Vec<_> = filter.iter().copied().chain([("cursor", cursor.as_str())]).collect();
        let page = list(operator, &pairs).await;
        assert_eq!(page["jobs"].as_array().unwrap().len(), *size);
        assert_eq!(page["next"].is_null(), n + 1 == sizes.len());
        found.extend(prompts(&page).into_iter().map(str::to_owned));
        cursor = page["next"].as_str().unwrap_or_default().to_owned();
    }
    found
}

/// An upstream whose jobs are all completed, with a pull request if their prompt contains `request`.
async fn finishing_upstream(app: &TestApp) {
    app.upstream
        .on_create(|request: &Request| {
            let prompt = request.body_json::<Value>().unwrap()["prompt"].as_str().unwrap().to_owned();
            let link = prompt.contains("request").then_some("https://git.example/1");
            let job = job_with(&detached_job(), "completed", "prLink", json!(link));
            ResponseTemplate::new(201).set_body_json(job)
        })
        .await;
}

#[tokio::test]
async fn each_filter_narrows_the_list_and_its_counts() {
    let app = TestApp::start().await;
    finishing_upstream(&app).await;
    let operator = app.operator().await;
    for (prompt, paths) in
        [("a request", "/guides/a, /guides/b"), ("nothing", "/guides/b"), ("another request", "")]
    {
        New::job(prompt).with("paths", paths).made(&operator).await;
    }
    for (field, value, found) in [
        ("pr", "yes", vec!["another request", "a request"]),
        ("pr", "no", vec!["nothing"]),
        ("needs", "attention", vec!["nothing"]),
        ("tag", "/guides/b", vec!["nothing", "a request"]),
        ("tag", "/guides/a", vec!["a request"]),
        ("tag", "/guides", vec![]),
        ("tag", "guides", vec![]),
        ("archived", "yes", vec![]),
        ("sort", "oldest", vec!["a request", "nothing", "another request"]),
        ("sort", "newest", vec!["another request", "nothing", "a request"]),
    ] {
        let page = list(&operator, &[(field, value)]).await;
        assert_eq!(prompts(&page), found, "{field}={value}");
        assert_eq!(page["total"], found.len(), "{field}={value}");
        assert_eq!(page["counts"]["completed"].as_u64().unwrap_or(0), found.len() as u64, "{field}={value}");
    }
    assert_eq!(list(&operator, &[]).await["attention"], 1);
    let both =
        list(&operator, &[("tag", "/guides/b"), ("pr", "yes"), ("q", "request"), ("author", "olga")]).await;
    assert_eq!(prompts(&both), ["a request"]);
    for (field, value) in [
        ("pr", "maybe"),
        ("needs", "rest"),
        ("archived", "no"),
        ("sort", "random"),
        ("page", "0"),
        ("page", "x"),
    ] {
        let bad = [("project", "docs"), (field, value)];
        operator.post("/api/jobs/list", &bad).await.refused(400, "bad_input");
        assert_eq!(
            operator.get(&format!("/p/docs/jobs?{field}={value}")).await.status,
            400,
            "{field}={value}"
        );
    }
}

#[tokio::test]
async fn sort_by_change_lists_the_latest_change_first() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    let first = operator.created("active one").await;
    operator.created("active two").await;
    let accepted = remote_job(first["remote"]["id"].as_str().unwrap(), "active");
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(accepted)).await;
    operator.follow_up(&first, "more", &intent()).await;
    assert_eq!(prompts(&list(&operator, &[("sort", "changed")]).await), ["active one", "active two"]);
    assert_eq!(prompts(&list(&operator, &[]).await), ["active two", "active one"]);
}

#[tokio::test]
async fn cursor_pages_are_stable_while_jobs_arrive() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    for n in 0..105 {
        operator.created(&format!("active {n}")).await;
    }
    for sort in ["newest", "oldest", "changed"] {
        let (mut seen, mut cursor, mut cursors) = (Vec::new(), String::new(), Vec::new());
        loop {
            let page = list(&operator, &[("sort", sort), ("q", "active"), ("cursor", &cursor)]).await;
            assert_eq!(
                (&page["total"], page["before"].as_u64()),
                (&json!(105), Some(seen.len() as u64)),
                "{sort}"
            );
            seen.extend(prompts(&page).into_iter().map(str::to_owned));
            operator.created("paused meanwhile").await;
            cursors.push(page["previous"].as_str().map(str::to_owned));
            let Some(next) = page["next"].as_str() else { break };
            cursor = next.to_owned();
        }
        let mut once = seen.clone();
        once.sort();
        once.dedup();
        assert_eq!((seen.len(), once.len(), cursors.len()), (105, 105, 3), "{sort}");
        assert_eq!(cursors[0], None);
        let back = cursors[2].as_deref().unwrap();
        let middle = list(&operator, &[("sort", sort), ("q", "active"), ("cursor", back)]).await;
        assert_eq!(prompts(&middle), seen[50..100], "{sort}");
        // With page numbers, the second page is the same.
        let second = list(&operator, &[("sort", sort), ("q", "active"), ("page", "2")]).await;
        assert_eq!(prompts(&second), seen[50..100], "{sort}");
    }
}

#[tokio::test]
async fn cursor_of_another_list_is_refused() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    for n in 0..51 {
        operator.created(&format!("active {n}")).await;
    }
    let cursor = list(&operator, &[]).await["next"].as_str().unwrap().to_owned();
    assert_eq!(list(&operator, &[("cursor", &cursor)]).await["jobs"].as_array().unwrap().len(), 1);
    let tampered = cursor.replace(&cursor[10..14], "AAAB");
    for pairs in [
        vec![("project", "docs"), ("cursor", tampered.as_str())],
        vec![("project", "docs"), ("cursor", "51")],
        vec![("project", "docs"), ("cursor", "' OR 1=1 --")],
        vec![("project", "docs"), ("cursor", &cursor), ("q", "active")],
        vec![("project", "docs"), ("cursor", &cursor), ("sort", "oldest")],
        vec![("project", "api"), ("cursor", &cursor)],
    ] {
        operator.post("/api/jobs/list", &pairs).await.refused(400, "bad_input");
    }
}

#[tokio::test]
async fn list_shows_excerpts_of_prompts() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let long = "é".repeat(5_000);
    let job = operator.created(&long).await;
    let accepted =
        ResponseTemplate::new(200).set_body_json(remote_job(job["remote"]["id"].as_str().unwrap(), "active"));
    app.upstream.on_follow_up(accepted).await;
    operator.follow_up(&job, &long, &intent()).await;
    let page = list(&operator, &[]).await;
    for prompt in [&page["jobs"][0]["prompt"], &page["jobs"][0]["follow_ups"][0]["prompt"]] {
        assert_eq!(prompt.as_str().unwrap(), format!("{}…", "é".repeat(280)));
    }
    let whole = operator.job(&job).await;
    assert_eq!((&whole["prompt"], &whole["follow_ups"][0]["prompt"]), (&json!(long), &json!(long)));
}

#[tokio::test]
async fn unknown_job_is_not_found() {
    let app = TestApp::start().await;
    let viewer = app.sign_in("vera").await;
    let unknown = [("project", "docs"), ("job", "01930000-0000-7000-8000-000000000000")];
    viewer.post("/api/jobs/get", &unknown).await.refused(404, "not_found");
    viewer.post("/api/jobs/get", &[("project", "docs"), ("job", "1")]).await.refused(400, "bad_input");
    viewer.post("/api/jobs/get", &[("project", "nowhere"), ("job", "1")]).await.refused(404, "not_found");
    viewer.post("/api/jobs/list", &[("project", "nowhere")]).await.refused(404, "not_found");
}

#[tokio::test]
async fn completed_without_changes_is_a_status_of_the_list() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    operator.created("completed one").await;
    operator.created("active two").await;
    let page = list(&operator, &[("status", "no-changes")]).await;
    assert_eq!(
        (prompts(&page), &page["total"], &page["no_changes"]),
        (vec!["completed one"], &json!(1), &json!(1))
    );
    assert_eq!(page["counts"], json!({"active": 1, "completed": 1}));
    let none = list(&operator, &[("status", "no-changes"), ("pr", "yes")]).await;
    assert_eq!((prompts(&none), &none["total"]), (vec![], &json!(0)));
}
