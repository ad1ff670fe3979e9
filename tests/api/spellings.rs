//! The paths of pages as people write them, and as the platform reports them: with a slash at the end, in another case, percent-encoded, with a comma.

use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{
    Archive, Browser, New, Settings, TestApp, Written, day, days, intent, json, rows, table_rows, tags,
};

const SITE: &str = "https://docs.example.com/en";

/// A running app, whose pages are published.
async fn app() -> TestApp {
    let app = TestApp::with(Settings { site: Some(SITE.to_owned()), ..at(NOON) }).await;
    app.upstream.accepts_jobs().await;
    app
}

/// The pages of a new job with this prompt and these typed pages.
async fn pages(operator: &Browser, prompt: &str, paths: &str) -> Value {
    New::job(prompt).with("paths", paths).made(operator).await["paths"].clone()
}

/// The first link whose name or text contains `name`.
fn link(html: &str, name: &str) -> String {
    let found = tags(html);
    let is_named = |text: &str| text.contains(name);
    let link = found.iter().filter(|tag| tag.name == "a");
    let mut link = link.filter(|tag| is_named(tag.attribute("aria-label")) || is_named(&tag.text));
    link.next().unwrap_or_else(|| panic!("no link {name} in {html}")).attribute("href").to_owned()
}

/// Submits the form of a new job at this address, as a browser does. Returns the pages of the job.
async fn submitted(operator: &Browser, address: &str, prompt: &str) -> Value {
    let found = tags(&operator.get(address).await.text);
    let from = found.iter().position(|tag| tag.attribute("action") == "/api/jobs/create").unwrap();
    let fields = found[from..].iter().take_while(|tag| tag.name != "footer");
    let inputs = fields.filter(|tag| tag.name == "input" && tag.attribute("type") != "checkbox");
    let inputs: Vec<_> = inputs
        .filter(|tag| {
            !tag.attribute("name").is_empty() && !tag.attributes.iter().any(|(name, _)| name == "disabled")
        })
        .map(|tag| (tag.attribute("name"), tag.attribute("value")))
        .filter(|(name, _)| *name != "similar")
        .collect();
    let pairs: Vec<_> = inputs.into_iter().chain([("prompt", prompt)]).collect();
    operator.post_json("/api/jobs/create", &pairs).await["paths"].clone()
}

#[tokio::test]
async fn written_path_means_the_stored_page() {
    let app = app().await;
    let operator = app.operator().await;
    Archive::of(&app).await.add_pages(&["/guides/setup/", "/caf\u{e9}/", "/%C3%BCber/", "/100%/", "/"]).await;
    for (written, stored) in [
        ("/guides/setup", "/guides/setup/"),
        ("/guides/setup/", "/guides/setup/"),
        ("/Guides/SETUP", "/guides/setup/"),
        ("\u{200b}/guides/setup\u{200b}", "/guides/setup/"),
        ("https://docs.example.com/en/guides/setup", "/guides/setup/"),
        ("HTTPS://docs.example.com/en/guides/setup/?x=1#y", "/guides/setup/"),
        ("/caf\u{e9}", "/caf\u{e9}/"),
        ("/cafe\u{301}", "/caf\u{e9}/"),
        ("/CAF\u{c9}", "/caf\u{e9}/"),
        ("https://docs.example.com/en/caf%C3%A9/", "/caf\u{e9}/"),
        ("/\u{fc}ber", "/%C3%BCber/"),
        ("/100%", "/100%/"),
        ("https://docs.example.com/en", "/"),
        // Unknown pages stay as they are written, without the slash.
        ("/new/Page/", "/new/Page"),
        ("/new/cafe%CC%81/", "/new/caf\u{e9}"),
        ("/new/100%25", "/new/100%25"),
        ("https://docs.example.com/en/new,page", "/new,page"),
    ] {
        assert_eq!(pages(&operator, "Fix it", written).await, json!([stored]), "{written:?}");
    }
    for (prompt, stored) in [
        ("Rewrite /guides/setup, please", json!(["/guides/setup/"])),
        ("Rewrite `/Guides/Setup/` and /guides/setup", json!(["/guides/setup/"])),
        ("Rewrite [it](https://docs.example.com/en/guides/setup).", json!(["/guides/setup/"])),
        ("Rewrite <https://docs.example.com/en/guides/setup>", json!(["/guides/setup/"])),
        ("Rewrite https://docs.example.com/en/%C3%BCber/", json!(["/%C3%BCber/"])),
        ("Rewrite \u{200b}/cafe\u{301}\u{200b}", json!(["/caf\u{e9}/"])),
        ("Rewrite https://elsewhere.example.com/en/guides/setup and /unknown/", json!([])),
    ] {
        assert_eq!(pages(&operator, prompt, "").await, stored, "{prompt}");
    }
    let fields = [("project", "docs"), ("prompt", "/Guides/setup, /unknown")];
    assert_eq!(operator.post_json("/api/jobs/mentioned-pages", &fields).await, json!(["/guides/setup/"]));
    assert_eq!(
        operator.post_json("/api/jobs/mentioned-pages", &[("project", "api"), fields[1]]).await,
        json!([])
    );
    let suggest = [("project", "docs"), ("q", "https://docs.example.com/en/Guides/s")];
    assert_eq!(operator.post_json("/api/jobs/suggest-pages", &suggest).await, json!(["/guides/setup/"]));
}

#[tokio::test]
async fn path_stored_in_another_unicode_form_is_found() {
    let app = app().await;
    let operator = app.operator().await;
    let mut archive = Archive::of(&app).await;
    archive.put("docs", Written::new(day("2026-11-20"), rows(&[("/Cafe\u{301}/", 3, 4)]))).await;
    // Jobs have it in NFC, as all texts of people.
    assert_eq!(pages(&operator, "Fix it", "/caf\u{e9}").await, json!(["/Caf\u{e9}/"]));
    for path in ["/caf%C3%A9", "/Cafe%CC%81/", "/Caf%C3%A9/"] {
        let page =
            operator.get(&format!("/p/docs/analytics?from=2026-11-20&to=2026-11-20&path={path}")).await;
        assert!(page.text.contains("Jobs about this page"), "{path}: {}", page.text);
        assert_eq!(crate::helpers::figures(&page.text)[0], "7", "{path}");
    }
}

#[tokio::test]
async fn same_path_wins_and_then_the_most_viewed_one() {
    let app = app().await;
    let operator = app.operator().await;
    let mut archive = Archive::of(&app).await;
    let views = [("/x", 5, 0), ("/x/", 7, 0), ("/X/", 1, 0), ("/y/", 1, 0), ("/Y", 2, 0)];
    archive.put("docs", Written::new(day("2026-11-20"), rows(&views))).await;
    // Earlier days count, too.
    archive.put("docs", Written::new(day("2026-11-19"), rows(&[("/y/", 2, 0)]))).await;
    for (written, stored) in [
        ("/x", "/x"),
        ("/x/", "/x/"),
        ("/X/", "/X/"),
        ("/X", "/x/"),
        ("/y", "/y/"),
        ("/Y", "/Y"),
        ("/Y/", "/y/"),
    ] {
        assert_eq!(pages(&operator, "Fix it", written).await, json!([stored]), "{written}");
    }
    assert_eq!(pages(&operator, "Compare /x with /x/", "").await, json!(["/x", "/x/"]));
}

#[tokio::test]
async fn row_of_a_page_starts_a_job_about_it() {
    let app = app().await;
    let operator = app.operator().await;
    let mut archive = Archive::of(&app).await;
    let views =
        [("/guides/setup/", 90, 0), ("/a,b/", 80, 0), ("/caf%C3%A9/", 70, 0), ("/caf\u{e9} x/", 60, 0)];
    for day in days("2026-11-14", "2026-11-20") {
        archive.put("docs", Written::new(day, rows(&views))).await;
    }
    let table = operator.get("/p/docs/analytics?from=2026-11-14&to=2026-11-20").await.text;
    for path in ["/guides/setup/", "/a,b/", "/caf%C3%A9/"] {
        let address = link(&table, &format!("Start a job about {path}"));
        assert_eq!(submitted(&operator, &address, "Rewrite it").await, json!([path]));
    }
    // Published links are encoded once.
    for (path, url) in
        [("/caf%C3%A9/", "/caf%C3%A9/"), ("/caf\u{e9} x/", "/caf%C3%A9%20x/"), ("/a,b/", "/a%2Cb/")]
    {
        assert_eq!(link(&table, &format!("Open the published page {path}")), [SITE, url].concat());
    }
}

#[tokio::test]
async fn page_with_a_comma_stays_one_page_in_drafts() {
    let app = app().await;
    let operator = app.operator().await;
    Archive::of(&app).await.add_pages(&["/a,b/", "/c"]).await;
    let fields = |paths| [("project", "docs"), ("text", "Rewrite it"), ("paths", paths)];
    for paths in ["/a%2Cb, /C/", "/A%2cb/,/c"] {
        operator.post_json("/api/jobs/draft", &fields(paths)).await;
        let address = "/p/docs/jobs/new";
        assert_eq!(submitted(&operator, address, "Rewrite it").await, json!(["/a,b/", "/c"]), "{paths}");
    }
    // The form for another try of a job has its pages.
    let job = New::job("Try").with("paths", "/a%2Cb").made(&operator).await;
    let address = format!("/p/docs/jobs/new?from={}", job["id"].as_str().unwrap());
    assert_eq!(submitted(&operator, &address, "Try again").await, json!(["/a,b/"]));
}

#[tokio::test]
async fn page_report_lists_all_jobs_about_the_page() {
    let app = app().await;
    let operator = app.operator().await;
    let mut archive = Archive::of(&app).await;
    // A job from before its page was known.
    let early =
        archive.job("docs", "An early job", &["/guides/setup"], "completed", "2026-11-10T12:00:00Z").await;
    app.ledger().run("UPDATE jobs SET pr_link = 'https://x.example/1'").await;
    let running = New::job("A running job").with("paths", "/guides/setup").made(&operator).await;
    let report = async |range: &str, path: &str| {
        operator.get(&format!("/p/docs/analytics?{range}&path={path}")).await.text
    };
    let (stored, missing) = ("from=2026-11-01&to=2026-11-20", "from=2026-01-01&to=2026-11-20");
    for day in days("2026-11-01", "2026-11-20") {
        archive.put("docs", Written::new(day, rows(&[("/guides/setup/", 9, 0), ("/other", 1, 0)]))).await;
    }
    let new = New::job("A new job about /guides/setup").made(&operator).await;
    let another = New::job("About another page").with("paths", "/other").made(&operator).await;
    operator
        .post_json("/api/jobs/archive", &[("project", "docs"), ("jobs", new["id"].as_str().unwrap())])
        .await;
    for (range, path) in [
        (stored, "/guides/setup/"),
        (stored, "/Guides/setup"),
        (missing, "/guides/setup/"),
        (missing, "/guides/setup"),
    ] {
        let page = report(range, path).await;
        for job in [&early, running["id"].as_str().unwrap(), new["id"].as_str().unwrap()] {
            assert!(page.contains(&format!("href=\"/p/docs/jobs/{job}\"")), "{range} {path} {job}: {page}");
        }
        assert!(!page.contains(another["id"].as_str().unwrap()), "{range} {path}");
        if range == stored {
            let effects = table_rows(&page, "pages effects");
            assert_eq!(effects.len(), 1);
            assert!(effects[0].join(" | ").starts_with("An early job | Nov 10, 2026 | 7 days | 63 | 63"));
        }
    }
    // The figures of the job's own page are those of the stored path.
    let effect = [("project", "docs"), ("job", early.as_str())];
    let effect = operator.post_json("/api/analytics/job", &effect).await;
    assert_eq!(effect["pages"][0]["effect"]["before"]["total"], 63, "{effect}");
    // So does the list of jobs.
    let listed = async |page: &str| {
        let list = operator.post_json("/api/jobs/list", &[("project", "docs"), ("tag", page)]).await;
        list["total"].clone()
    };
    assert_eq!(listed("/guides/setup/").await, json!(2));
    assert_eq!(listed("/Guides/Setup").await, json!(2));
    // Another page of the same name has its own jobs.
    archive.put("docs", Written::new(day("2026-11-13"), rows(&[("/guides/setup", 1, 0)]))).await;
    assert_eq!((listed("/guides/setup/").await, listed("/guides/setup").await), (json!(0), json!(2)));
    let page = report(stored, "/guides/setup/").await;
    assert!(page.contains(new["id"].as_str().unwrap()) && !page.contains(&early), "{page}");
}

#[tokio::test]
async fn page_is_added_and_removed_by_any_spelling() {
    let app = app().await;
    let operator = app.operator().await;
    Archive::of(&app).await.add_pages(&["/guides/setup/"]).await;
    let job = operator.created("Fix it").await;
    let change = async |verb: &str, path: &str| {
        let fields = [("project", "docs"), ("jobs", job["id"].as_str().unwrap()), ("path", path)];
        operator.post_json(&format!("/api/jobs/{verb}-page"), &fields).await;
        operator.job(&job).await["paths"].clone()
    };
    assert_eq!(change("add", "https://docs.example.com/en/Guides/setup").await, json!(["/guides/setup/"]));
    assert_eq!(change("add", "/guides/setup").await, json!(["/guides/setup/"]));
    assert_eq!(change("remove", "/guides/setup").await, json!([]));
}

#[tokio::test]
async fn batch_and_similar_jobs_know_the_page() {
    let app = app().await;
    let operator = app.operator().await;
    Archive::of(&app).await.add_pages(&["/guides/setup/", "/a,b/"]).await;
    let batch = New::batch("Rewrite {{page}}", "/Guides/setup\n\"/a,b\"").started(&operator).await;
    let mut paths: Vec<_> =
        batch["jobs"].as_array().unwrap().iter().map(|job| job["paths"].clone()).collect();
    paths.sort_by_key(Value::to_string);
    assert_eq!(paths, [json!(["/a,b/"]), json!(["/guides/setup/"])]);
    let similar = [("project", "docs"), ("prompt", "Something else"), ("paths", "/guides/SETUP")];
    let similar = operator.post_json("/api/jobs/similar", &similar).await;
    assert_eq!(similar[0]["page"], "/guides/setup/", "{similar}");
    let form =
        operator.get(&format!("/p/docs/jobs/new?prompt=See+{SITE}/guides/setup&intent={}", intent())).await;
    assert!(form.text.contains("Detected in prompt: /guides/setup/"), "{}", form.text);
}

#[tokio::test]
async fn report_of_a_page_stays_if_its_jobs_cannot_be_listed() {
    let app = app().await;
    let operator = app.operator().await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-14", "2026-11-20") {
        archive.put("docs", Written::new(day, rows(&[("/a", 7, 0)]))).await;
    }
    New::job("Fix it").with("paths", "/a").made(&operator).await;
    app.ledger().run("ALTER TABLE job_tags RENAME TO unavailable").await;
    let page = operator.get("/p/docs/analytics?from=2026-11-14&to=2026-11-20&path=/a").await;
    assert_eq!((page.status, crate::helpers::figures(&page.text)[0].as_str()), (200, "49"), "{}", page.text);
    let (_, section) = page.text.split_once("Jobs about this page").unwrap();
    assert!(section.contains("class=\"notice"), "{section}");
    assert!(!page.text.contains("No job about this page"), "{section}");
}

#[tokio::test]
async fn text_without_a_leading_slash_is_no_page() {
    let app = app().await;
    let operator = app.operator().await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-14", "2026-11-20") {
        archive.put("docs", Written::new(day, rows(&[("/sdk", 7, 0)]))).await;
    }
    let finished = archive.job("docs", "A finished job", &[], "completed", "2026-11-16T12:00:00Z").await;
    let running = operator.created("A running job").await;
    for job in [&finished, running["id"].as_str().unwrap()] {
        operator.post_json("/api/jobs/tag", &[("project", "docs"), ("jobs", job), ("tag", "sdk")]).await;
    }
    for range in ["from=2026-11-14&to=2026-11-20", "from=2026-01-01&to=2026-11-20"] {
        let page = operator.get(&format!("/p/docs/analytics?{range}&path=sdk")).await.text;
        assert!(!page.contains("A finished job") && !page.contains("A running job"), "{range}: {page}");
    }
}

#[tokio::test]
async fn job_has_a_page_once() {
    let app = app().await;
    let operator = app.operator().await;
    let (early, other) = (
        New::job("Fix it").with("paths", "/guides/caf\u{e9}").made(&operator).await,
        operator.created("Something").await,
    );
    Archive::of(&app).await.add_pages(&["/guides/caf%C3%A9/"]).await;
    let ids = [&early, &other].map(|job| job["id"].as_str().unwrap()).join(",");
    let fields = [("project", "docs"), ("jobs", &ids), ("path", "/guides/caf%C3%A9/")];
    let changed = operator.post_json("/api/jobs/add-page", &fields).await;
    assert_eq!(changed, json!({"jobs": [other["id"]]}));
    assert_eq!(operator.job(&early).await["paths"], json!(["/guides/caf\u{e9}"]));
    assert_eq!(operator.job(&other).await["paths"], json!(["/guides/caf%C3%A9/"]));
    // The job from before the page was known is about it.
    let listed = [("project", "docs"), ("tag", "/guides/CAF\u{c9}")];
    assert_eq!(operator.post_json("/api/jobs/list", &listed).await["total"], 2);
}

#[tokio::test]
async fn job_about_another_page_of_the_same_name_is_not_similar() {
    let app = app().await;
    let operator = app.operator().await;
    Archive::of(&app).await.add_pages(&["/x", "/x/", "/y/"]).await;
    for path in ["/x/", "/y"] {
        New::job("Fix it").with("paths", path).made(&operator).await;
    }
    let similar = async |paths: &str| {
        let fields = [("project", "docs"), ("prompt", "Something else"), ("paths", paths)];
        operator.post_json("/api/jobs/similar", &fields).await.as_array().unwrap().len()
    };
    assert_eq!((similar("/x").await, similar("/x/").await, similar("/Y").await), (0, 1, 1));
}
