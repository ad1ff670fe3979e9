//! Pages with long texts by people: their size is limited, whatever the texts are.

use sqlx::{AnyConnection, Connection};

use crate::helpers::{Archive, Browser, New, TestApp, TestResponse, json};

/// The most bytes of a page.
const PAGE_MAX: usize = 1024 * 1024;

/// The longest prompt, in characters.
const PROMPT_MAX: usize = 32_768;

const TOO_LARGE: &str = "This is the source, because the page would be too large with the formatted text.";

/// Markdown of at most [`PROMPT_MAX`] characters whose HTML would be many times as long.
fn hostile() -> Vec<String> {
    let cut = |text: String| text.chars().take(PROMPT_MAX).collect::<String>();
    let table = format!("{}\n{}\n{}", "|a".repeat(900), "|-".repeat(900), "|\n".repeat(16_000));
    let quotes = format!("{}x\n\n", "> ".repeat(300)).repeat(60);
    let list: String = (0..200).map(|level| format!("{}- x\n", " ".repeat(level))).collect();
    let links = format!("[a]: https://example.com/{}\n\n{}", "&".repeat(2_000), "[a]".repeat(10_000));
    let escaped = "&<>\"'".repeat(7_000);
    let lines = "a\n".repeat(16_000);
    [table, quotes, list.repeat(2), links, escaped, lines].map(cut).to_vec()
}

/// A job of olga's with these follow-ups, all in `state`.
async fn job_with(app: &TestApp, prompt: &str, follow_ups: &[String], state: &str) -> String {
    let mut archive = Archive::of(app).await;
    let job = archive.job("docs", prompt, &["/a"], "completed", "2026-11-20T12:00:00Z").await;
    let mut database = app.ledger().connection().await;
    sqlx::query("UPDATE jobs SET remote_id = id, remote_status = 'completed' WHERE id = $1")
        .bind(&job)
        .execute(&mut database)
        .await
        .unwrap();
    for (text, position) in follow_ups.iter().zip(1_i64..) {
        add_follow_up(&mut database, &job, position, text, state).await;
    }
    database.close().await.unwrap();
    job
}

async fn add_follow_up(database: &mut AnyConnection, job: &str, position: i64, text: &str, state: &str) {
    sqlx::query(
        "INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at, reason)
         SELECT $1, $2, $3, id, $1, $4, $5, 1, 1, $6 FROM users WHERE name = 'olga'",
    )
    .bind(uuid::Uuid::now_v7().to_string())
    .bind(job)
    .bind(position)
    .bind(text)
    .bind(state)
    .bind("&".repeat(2_000))
    .execute(database)
    .await
    .unwrap();
}

async fn page(person: &Browser, job: &str, query: &str) -> TestResponse {
    let page = person.get(&format!("/p/docs/jobs/{job}{query}")).await;
    assert_eq!(page.status, 200, "{}", page.text);
    page
}

/// The numbers of the follow-ups on a page, whose texts are `number N.`
fn shown(page: &TestResponse) -> Vec<usize> {
    let conversation = page.text.split_once("aria-label=\"Conversation\"").unwrap().1;
    let conversation = conversation.split_once("</ol>").unwrap().0;
    let after = conversation.split("number ").skip(1);
    after.map(|text| text.split_once('.').unwrap().0.parse().unwrap()).collect()
}

#[tokio::test]
async fn job_page_shows_fifty_follow_ups_and_a_link_to_earlier_ones() {
    let app = TestApp::start().await;
    let texts: Vec<_> = (1..=120).map(|number| format!("number {number}.")).collect();
    let job = job_with(&app, "Fix it", &texts, "accepted").await;
    let viewer = app.sign_in("vera").await;
    let last = page(&viewer, &job, "").await;
    assert_eq!(shown(&last), (71..=120).collect::<Vec<_>>());
    assert!(last.text.contains("Show earlier") && last.text.contains("70 earlier follow-ups"));
    assert!(!last.text.contains("Show the latest"));
    let href = format!("href=\"/p/docs/jobs/{job}?before=71\"");
    assert!(last.text.contains(&href), "{}", last.text);

    let earlier = page(&viewer, &job, "?before=71").await;
    assert_eq!(shown(&earlier), (21..=70).collect::<Vec<_>>());
    assert!(earlier.text.contains("20 earlier follow-ups") && earlier.text.contains("50 later follow-ups"));
    let first = page(&viewer, &job, "?before=21&source=on").await;
    assert_eq!(shown(&first), (1..=20).collect::<Vec<_>>());
    assert!(!first.text.contains("Show earlier") && first.text.contains("Show the latest"));
    assert!(first.text.contains(&format!("href=\"/p/docs/jobs/{job}?source=on\"")), "{}", first.text);
    for odd in ["?before=0", "?before=1", "?before=x", "?before=-1", "?before=99999999999"] {
        assert_eq!(shown(&page(&viewer, &job, odd).await), (71..=120).collect::<Vec<_>>(), "{odd}");
    }
    // The other endpoints return the last texts, and the earlier ones when they are requested.
    let read = viewer.post_json("/api/jobs/get", &[("project", "docs"), ("job", &job)]).await;
    let last = read["follow_ups"].as_array().unwrap();
    assert_eq!((last.len(), &read["earlier_follow_ups"]), (50, &json!(70)));
    assert!(last.iter().zip(&texts[70..]).all(|(sent, text)| sent["prompt"] == text.as_str()));
    // An earlier one can be edited and sent again.
    let again = page(&app.operator().await, &job, "?again=3").await;
    assert!(again.text.contains("number 3.</textarea>"), "{}", again.text);
}

#[tokio::test]
async fn hostile_prompts_stay_within_the_size_of_a_page() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let hostile = hostile();
    for (at, text) in hostile.iter().enumerate() {
        for state in ["accepted", "rejected", "unknown"] {
            let job = job_with(&app, text, &vec![text.clone(); 26], state).await;
            let draft = [("project", "docs"), ("job", job.as_str()), ("text", text)];
            operator.post_json("/api/jobs/draft", &draft).await;
            for query in ["", "?source=on", "?again=2"] {
                let page = page(&operator, &job, query).await;
                assert!(page.text.len() <= PAGE_MAX, "text {at}, {state}{query}: {}", page.text.len());
                assert!(page.text.contains("Send follow-up"), "it is incomplete");
            }
        }
    }
    let job = job_with(&app, "Fix it", &hostile, "accepted").await;
    let page = page(&operator, &job, "").await;
    assert!(page.text.len() <= PAGE_MAX && page.text.contains(TOO_LARGE), "{}", page.text.len());
    assert!(page.text.contains("|a|a|a"), "the source of the table is not shown");
}

#[tokio::test]
async fn long_timeline_stays_within_the_size_of_a_page() {
    let app = TestApp::start().await;
    let texts = vec!["&".repeat(PROMPT_MAX); 10];
    let job = job_with(&app, &texts[0], &texts, "accepted").await;
    let mut database = app.ledger().connection().await;
    let mut tx = database.begin().await.unwrap();
    for number in 0..3_000_i64 {
        sqlx::query(
            "INSERT INTO job_events (id, job_id, position, at, state, detail) VALUES ($1, $2, $3, 1, $4, $5)",
        )
        .bind(format!("{job}/{number:05}"))
        .bind(&job)
        .bind(number % 11)
        .bind(if number % 2 == 0 { "sending" } else { "queued" })
        .bind("&".repeat(2_000))
        .execute(&mut *tx)
        .await
        .unwrap();
    }
    tx.commit().await.unwrap();
    database.close().await.unwrap();
    let page = page(&app.operator().await, &job, "").await;
    assert!(page.text.len() <= PAGE_MAX, "{}", page.text.len());
    assert!(page.text.contains("The last 10 of ") && page.text.contains("entries are shown."));
}

#[tokio::test]
async fn hostile_templates_and_batches_stay_within_the_size_of_a_page() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for number in 0..40 {
        let text = if number % 2 == 0 { "&".repeat(PROMPT_MAX) } else { "{{a}} ".repeat(PROMPT_MAX / 6) };
        New::template(&format!("template {number}"), &text).made(&operator).await;
    }
    let page = operator.get("/p/docs/templates").await;
    assert!(page.status == 200 && page.text.len() <= PAGE_MAX, "{} {}", page.status, page.text.len());
    assert!(page.text.contains("template 39") && page.text.contains("Only the beginning is shown"));

    let values: String = (0..200).map(|number| format!("{number}\n")).collect();
    let prompt = format!("{}{{{{a}}}}", "&".repeat(2_000));
    let batch = New::batch(&prompt, &values).id(&operator).await;
    let page = operator.get(&format!("/p/docs/batches/{batch}")).await;
    assert!(page.status == 200 && page.text.len() <= PAGE_MAX, "{} {}", page.status, page.text.len());
}
