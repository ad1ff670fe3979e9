//! Page views from the daily history, with the days that it does not contain.

use super::Script;
use crate::analytics_pages::{NOON, at};
use crate::api_tokens::{create, problem};
use crate::helpers::{Archive, TestApp, Written, day, days, json, rows, tags};
use crate::long_ranges::mcp_with;

const VIEWS: &str = "/projects/docs/page-views";

/// The days 11 to 21 of November, without the 15th.
async fn app() -> TestApp {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-11", "2026-11-21").into_iter().filter(|day| day.to_string() != "2026-11-15") {
        let fetched_at = (day.to_string() == "2026-11-21").then(|| NOON.parse().unwrap());
        let rows = rows(&[("/guides/a", 3, 2), ("/b", 10, 1)]);
        archive.put("docs", Written { fetched_at, ..Written::new(day, rows) }).await;
    }
    drop(archive);
    app
}

#[tokio::test]
async fn stored_days_are_summed_and_missing_days_are_ranges() {
    let app = app().await;
    let script = Script::of(&app).await;
    let range = "from=2026-11-14&to=2026-11-17";
    let found = script.got(&format!("{VIEWS}?{range}")).await;
    insta::assert_json_snapshot!(found);
    let totals = found["totals"].clone();
    let long = script.got(&format!("{VIEWS}?from=2023-11-20&to=2026-11-20")).await;
    insta::assert_compact_json_snapshot!(long["missing_days"], @r#"[{"from": "2023-11-20", "to": "2026-11-10"}, {"from": "2026-11-15", "to": "2026-11-15"}]"#);
    let found = script.got(&format!("{VIEWS}?{range}&q=GUIDES&sort=-path&limit=1")).await;
    assert_eq!((&found["rows_total"], &found["rows"][0]["path"]), (&json!(1), &json!("/guides/a")));
    assert_eq!(found["totals"], totals, "of the whole project");
    let found = script.got(&format!("{VIEWS}?{range}&offset=2")).await;
    assert_eq!((&found["rows_total"], &found["rows"]), (&json!(2), &json!([])));
    assert_eq!(app.upstream.requests().await.len(), 0, "the platform is not called");
}

#[tokio::test]
async fn views_by_day_can_be_of_one_page_or_folder() {
    let app = app().await;
    let script = Script::of(&app).await;
    let daily =
        async |more: &str| script.got(&format!("{VIEWS}/daily?from=2026-11-20&to=2026-11-21{more}")).await;
    let all = daily("").await;
    let day = |day: &str, human: u64, ai: u64, complete: bool| json!({"day": day, "human": human, "ai": ai, "total": human + ai, "provisional": !complete, "complete": complete});
    assert_eq!(all["days"], json!([day("2026-11-20", 13, 3, true), day("2026-11-21", 13, 3, false)]));
    assert_eq!(all["missing_days"], json!([]));
    assert_eq!(daily("&path=/b").await["days"][0], day("2026-11-20", 10, 1, true));
    assert_eq!(daily("&path=/guides/*").await["days"][1], day("2026-11-21", 3, 2, false));
    assert_eq!(daily("&path=/nowhere").await["days"][1], day("2026-11-21", 0, 0, false));
}

#[tokio::test]
async fn invalid_ranges_and_orders_are_refused() {
    let app = app().await;
    let script = Script::of(&app).await;
    for query in [
        "from=2026-11-20&to=2026-11-10",
        "from=yesterday",
        "from=2027-01-01&to=2027-01-02",
        "sort=change",
        "sort=",
        "sort=colour",
        "limit=0",
        "limit=251",
        "offset=-1",
        "colour=red",
    ] {
        problem(&script.get(&format!("{VIEWS}?{query}")).await, 400, "bad_input");
    }
}

/// All paths, in pages of `limit` rows, by cursors; and the answers.
async fn by_cursor(script: &Script, query: &str, limit: usize) -> (Vec<String>, Vec<serde_json::Value>) {
    let (mut paths, mut answers) = (Vec::new(), Vec::new());
    let mut cursor = String::new();
    loop {
        let page = script.got(&format!("{VIEWS}?{query}&limit={limit}{cursor}")).await;
        let rows = page["rows"].as_array().unwrap();
        paths.extend(rows.iter().map(|row| row["path"].as_str().unwrap().to_owned()));
        let next = page["next_cursor"].as_str().map(|next| format!("&cursor={next}"));
        answers.push(page);
        match next {
            Some(next) => cursor = next,
            None => return (paths, answers),
        }
    }
}

#[tokio::test]
async fn cursor_continues_a_table_until_its_figures_change() {
    let app = app().await;
    let views = [("/guides/a", 3, 2), ("/b", 10, 1), ("/c", 10, 1), ("/é", 1, 0), ("/z", 7, 7)];
    Archive::of(&app).await.write(day("2026-11-16"), rows(&views)).await;
    let script = Script::of(&app).await;
    let range = "from=2026-11-14&to=2026-11-17";
    // A token has 30 requests at once.
    for (query, limits) in [
        (range.to_owned(), &[1, 2, 5][..]),
        (format!("{range}&sort=path"), &[2]),
        (format!("{range}&sort=-ai&q=/"), &[3]),
    ] {
        let all = script.got(&format!("{VIEWS}?{query}")).await;
        assert_eq!(all["next_cursor"], json!(null));
        assert_eq!((&all["from"], &all["to"]), (&json!("2026-11-14"), &json!("2026-11-17")), "{query}");
        for limit in limits.iter().copied() {
            let (paths, answers) = by_cursor(&script, &query, limit).await;
            let expected: Vec<_> =
                all["rows"].as_array().unwrap().iter().map(|row| row["path"].clone()).collect();
            assert_eq!(json!(paths), json!(expected), "{query}, {limit}");
            assert!(answers.iter().all(|page| page["rows_total"] == 5 && page["totals"] == all["totals"]));
            assert_eq!(answers.len(), 5_usize.div_ceil(limit));
        }
    }
    // Without days, a table ends today, and says so.
    let first = script.got(&format!("{VIEWS}?limit=2")).await;
    assert_eq!((&first["from"], &first["to"]), (&json!("2026-10-25"), &json!("2026-11-21")));
    let cursor = first["next_cursor"].as_str().unwrap();
    let next = script.got(&format!("{VIEWS}?limit=2&cursor={cursor}&from=2026-10-25&to=2026-11-21")).await;
    assert_eq!(next["rows"].as_array().unwrap().len(), 2);
    for other in ["from=2026-10-24", "q=guides", "sort=path", "offset=2"] {
        problem(&script.get(&format!("{VIEWS}?limit=2&cursor={cursor}&{other}")).await, 400, "bad_input");
    }
    problem(&script.get(&format!("{VIEWS}?cursor=x")).await, 400, "bad_input");

    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    let tool = async |cursor: Option<&str>| {
        let arguments = json!({"project": "docs", "from": "2026-10-25", "to": "2026-11-21", "limit": 2, "cursor": cursor});
        mcp_with(&app.anonymous(), &token, "page_views", arguments).await
    };
    let result = tool(Some(cursor)).await;
    assert_eq!(result["structuredContent"]["rows"], next["rows"]);
    assert_eq!(result["structuredContent"]["next_cursor"], next["next_cursor"]);
    assert_eq!(result["structuredContent"]["next_offset"], json!(4));

    // The same figures again change nothing.
    let mut archive = Archive::of(&app).await;
    archive.write(day("2026-11-16"), rows(&views)).await;
    let continued = format!("{VIEWS}?limit=2&cursor={cursor}");
    assert_eq!(script.got(&continued).await["rows"], next["rows"]);
    archive.write(day("2026-11-16"), rows(&[("/guides/a", 3, 3)])).await;
    problem(&script.get(&continued).await, 409, "figures_changed");
    let refused = tool(Some(cursor)).await;
    assert!(refused["isError"] == true && refused.to_string().contains("Start again"), "{refused}");
}

#[tokio::test]
async fn figures_are_as_new_as_the_fetch_of_the_newest_day() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-10-25", "2026-11-21") {
        let fetched_at = match day.to_string().as_str() {
            "2026-11-21" => Some("2026-11-21T11:55:00Z".parse().unwrap()),
            // Fetched again, as a check.
            "2026-10-25" => Some("2026-11-20T05:00:00Z".parse().unwrap()),
            _ => None,
        };
        archive.put("docs", Written { fetched_at, ..Written::new(day, rows(&[("/a", 1, 0)])) }).await;
    }
    let script = Script::of(&app).await;
    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    let tool = mcp_with(&app.anonymous(), &token, "page_views", json!({"project": "docs"})).await;
    let answers = [
        script.got(VIEWS).await,
        script.got(&format!("{VIEWS}/daily")).await,
        tool["structuredContent"].clone(),
    ];
    for found in answers {
        assert_eq!(found["updated_at"], "2026-11-21T11:55:00Z");
        assert_eq!(found["oldest_fetched_at"], "2026-10-27T06:00:00Z");
    }
    let viewer = app.sign_in("vera").await;
    for page in ["/p/docs/analytics", "/p/docs/analytics?path=/a", "/p/docs"] {
        let page = viewer.page(page).await;
        let times: Vec<_> = tags(&page).into_iter().filter(|tag| tag.name == "time").collect();
        let updated = times.iter().any(|time| time.attribute("datetime") == "2026-11-21T11:55:00Z");
        assert!(updated, "{times:?}");
    }
}
