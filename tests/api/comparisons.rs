//! Comparisons with another period, with the numbers of examples: on the analytics page, in its export and for programs.

use model::page_views::ViewCounts;
use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::api_tokens::create;
use crate::helpers::{
    Archive, Browser, TestApp, Written, day, days, figures, json, paragraphs, rows, table_rows, tags,
};
use crate::long_ranges::mcp;

/// The rows of the exported table.
async fn exported(viewer: &Browser, query: &str) -> Vec<Value> {
    let file = viewer.get(&format!("/p/docs/analytics/export.json?{query}")).await;
    serde_json::from_value(file.json()).unwrap()
}

#[tokio::test]
async fn shares_are_rounded_once_and_nothing_is_all_or_none_that_is_not() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    // 43.44% and 44.46% of 10,000.
    archive.write(day("2026-11-17"), rows(&[("/a", 5_656, 4_344)])).await;
    archive.write(day("2026-11-18"), rows(&[("/a", 5_554, 4_446)])).await;
    archive
        .write(day("2026-11-19"), rows(&[("/down", 100_000, 0), ("/up", 100_000, 0), ("/ai", 1, 1)]))
        .await;
    archive.write(day("2026-11-20"), rows(&[("/down", 1, 0), ("/up", 100_001, 0), ("/ai", 1, 99_999)])).await;
    let viewer = app.sign_in("vera").await;
    let page = viewer.get("/p/docs/analytics?from=2026-11-18&to=2026-11-18").await.text;
    assert_eq!(figures(&page), ["10,000", "0%", "5,554", "−2%", "4,446", "+2%", "44%", "+1 pt"]);

    let query = "from=2026-11-20&to=2026-11-20&sort=path&readers=all";
    let page = viewer.get(&format!("/p/docs/analytics?{query}")).await.text;
    let shown: Vec<_> =
        table_rows(&page, "pages daily").into_iter().map(|row| [row[4].clone(), row[6].clone()]).collect();
    let expected = [
        [">99%", "+4,999,900% · People – · AI +9,999,800%"],
        ["0%", "−>99% · People −>99% · AI –"],
        ["0%", "+<1% · People +<1% · AI –"],
    ];
    assert_eq!(shown, expected);
    let file = exported(&viewer, query).await;
    let written: Vec<_> = file.iter().map(|row| (&row["ai_share"], &row["change"])).collect();
    let expected =
        [(json!(0.9999), json!(49_999.0)), (json!(0.0), json!(-0.9999)), (json!(0.0), json!(0.0001))];
    assert_eq!(written, expected.each_ref().map(|(share, change)| (share, change)));
}

#[tokio::test]
async fn ai_share_is_a_share_of_people_and_ai_everywhere() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    // The platform's totals have more views than those by people and AI.
    let row = |path: &str, [human, ai, total]: [u64; 3]| (path.to_owned(), ViewCounts { human, ai, total });
    let before = vec![row("/a", [300, 100, 400]), row("/b", [800, 400, 2_400])];
    archive.write(day("2026-11-19"), before).await;
    archive.write(day("2026-11-20"), vec![row("/a", [200, 200, 1_000]), row("/b", [800, 400, 1_200])]).await;
    let viewer = app.sign_in("vera").await;
    let query = "from=2026-11-20&to=2026-11-20&sort=share";
    let page = viewer.page(&format!("/p/docs/analytics?{query}")).await;
    assert_eq!(figures(&page)[6..], ["38%", "+6 pts"]);
    let shown: Vec<_> =
        table_rows(&page, "pages daily").into_iter().map(|row| [row[0].clone(), row[4].clone()]).collect();
    assert_eq!(shown, [["/a", "50%"], ["/b", "33%"]]);
    let file = exported(&viewer, query).await;
    let written: Vec<_> = file.iter().map(|row| [&row["path"], &row["ai_share"]]).collect();
    let expected = [[json!("/a"), json!(0.5)], [json!("/b"), json!(0.3333)]];
    assert_eq!(written, expected.each_ref().map(|row| row.each_ref()));
    // The share of /b is the same as before.
    let moved = exported(&viewer, "from=2026-11-20&to=2026-11-20&tab=share").await;
    assert_eq!(moved.iter().map(|row| &row["path"]).collect::<Vec<_>>(), [&json!("/a")]);
}

#[tokio::test]
async fn calendar_year_is_compared_with_the_year_before() {
    let app = TestApp::with(at("2026-01-02T12:00:00Z")).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2023-12-27", "2025-12-31") {
        let views = if day < crate::helpers::day("2025-01-01") { 1 } else { 2 };
        let rows = rows(&[("/a", views, 0)]);
        archive.put("docs", Written { packed: false, ..Written::new(day, rows) }).await;
    }
    let viewer = app.sign_in("vera").await;
    let query = "from=2025-01-01&to=2025-12-31&compare=year";
    let page = viewer.get(&format!("/p/docs/analytics?{query}")).await.text;
    assert_eq!(figures(&page)[..2], ["730", "+100%"]);
    let compared = paragraphs(&page, "provenance");
    assert!(compared.contains("Compared with Dec 27, 2023 to Dec 25, 2024."), "{compared}");
    let file = exported(&viewer, query).await;
    assert_eq!((&file[0]["previous_total"], &file[0]["change"]), (&json!(365), &json!(1.0)));
}

/// Eight weeks of days, of which today and October 27 are incomplete. September 29, with which that one is compared, has many views.
async fn with_an_incomplete_day(app: &TestApp) {
    let mut archive = Archive::of(app).await;
    for of in days("2026-09-27", "2026-11-21") {
        let is_before = of < day("2026-10-25");
        let (up, down) = if is_before { (10, 20) } else { (12, 10) };
        let written = match of.to_string().as_str() {
            "2026-11-21" => Written {
                fetched_at: Some(NOON.parse().unwrap()),
                ..Written::new(of, rows(&[("/up", 1, 0)]))
            },
            "2026-10-27" => Written {
                fetched_at: Some("2026-10-27T03:00:00Z".parse().unwrap()),
                ..Written::new(of, rows(&[("/up", 1, 0)]))
            },
            "2026-09-29" => Written::new(of, rows(&[("/up", 9_000, 0), ("/down", 9_000, 0)])),
            _ => {
                Written { packed: up == 10, ..Written::new(of, rows(&[("/up", up, 0), ("/down", down, 0)])) }
            }
        };
        archive.put("docs", written).await;
    }
}

#[tokio::test]
async fn incomplete_day_is_left_out_with_its_partner() {
    let app = TestApp::with(at(NOON)).await;
    with_an_incomplete_day(&app).await;
    let viewer = app.sign_in("vera").await;
    let days = [("project", "docs"), ("from", "2026-10-25"), ("to", "2026-11-21")];
    let table = viewer.post_json("/api/analytics/pages", &days).await;
    let sums = |views: u64| json!({"human": views, "ai": 0, "total": views});
    let comparison = json!({
        "from": "2026-09-27", "to": "2026-10-23",
        "compared": {"from": "2026-10-25", "to": "2026-11-20"},
        "left_out": ["2026-10-27", "2026-11-21"],
        "provisional_days": [], "current": sums(26 * 22), "previous": sums(26 * 30),
    });
    assert_eq!(table["comparison"], comparison);
    let up = &table["rows"][0];
    assert_eq!((&up["path"], &up["total"]), (&json!("/up"), &json!(26 * 12 + 2)));
    assert_eq!((&up["compared"], &up["previous"]), (&sums(26 * 12), &sums(26 * 10)));

    // The figures of all pages, of a search and of one page, with the text below them.
    let range = "from=2026-10-25&to=2026-11-21";
    let ranges = "Oct 25, 2026 to Nov 20, 2026 compared with Sep 27, 2026 to Oct 23, 2026; \
        Oct 27, 2026 and Sep 29, 2026 are left out: at least one of them is incomplete; part of today is left out.";
    for (more, change) in [("", "−27%"), ("&q=up", "+20%"), ("&path=/up", "+20%"), ("&path=/down", "−50%")]
    {
        let page = viewer.get(&format!("/p/docs/analytics?{range}{more}")).await.text;
        assert_eq!(figures(&page)[1], change, "{more}");
        let text = paragraphs(&page, "provenance");
        assert!(text.contains(ranges), "{more}: {text}");
        let points = table_rows(&page, "pages");
        let before = [1, 2, 3, 26, 27].map(|at| points[at][5] == "–");
        assert_eq!(before, [false, true, false, false, true], "{more}: {points:?}");
    }
    let file = exported(&viewer, &format!("{range}&sort=path")).await;
    let written = file.iter().map(|row| [&row["compared_total"], &row["previous_total"], &row["change"]]);
    let expected = [[json!(260), json!(520), json!(-0.5)], [json!(312), json!(260), json!(0.2)]];
    assert_eq!(written.collect::<Vec<_>>(), expected.each_ref().map(|row| row.each_ref()));

    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    let falling = mcp(&app.anonymous(), &token, "falling_pages", ["2026-10-25", "2026-11-21"]).await;
    let falling = &falling["structuredContent"];
    assert_eq!((&falling["comparison"], &falling["pages"][0]["path"]), (&comparison, &json!("/down")));
    assert_eq!(falling["pages"].as_array().unwrap().len(), 1, "{falling}");
}

#[tokio::test]
async fn prompt_of_a_page_names_the_compared_days() {
    let app = TestApp::with(at(NOON)).await;
    with_an_incomplete_day(&app).await;
    let mut archive = Archive::of(&app).await;
    for of in days("2025-11-16", "2025-11-22") {
        archive.write(of, rows(&[("/down", 30, 0)])).await;
    }
    let operator = app.operator().await;
    let weeks = "/down had 260 views from Oct 25, 2026 to Nov 21, 2026, which is incomplete: 260 by people, 0 by AI agents. \
        Views fell 50%: 260 from Oct 25, 2026 to Nov 20, 2026, compared with 520 from Sep 27, 2026 to Oct 23, 2026 (same weekdays), \
        without Oct 27, 2026 and Nov 21, 2026 (today). By people: −50% (260 after 520). By AI agents: 0% (0 after 0).";
    let year = "/down had 60 views from Nov 15, 2026 to Nov 21, 2026, which is incomplete: 60 by people, 0 by AI agents. \
        Views fell 67%: 60 from Nov 15, 2026 to Nov 20, 2026, compared with 180 from Nov 16, 2025 to Nov 21, 2025 (same weekdays), \
        without Nov 21, 2026 (today). By people: −67% (60 after 180). By AI agents: 0% (0 after 0).";
    let alone = "/down had 60 views from Nov 15, 2026 to Nov 21, 2026, which is incomplete: 60 by people, 0 by AI agents.";
    for (query, expected) in [
        ("from=2026-10-25&to=2026-11-21", weeks),
        ("from=2026-11-15&to=2026-11-21&compare=year", year),
        ("from=2026-11-15&to=2026-11-21&compare=none", alone),
    ] {
        for part in ["", "&q=down", "&folder=/", "&path=/down"] {
            let page = operator.page(&format!("/p/docs/analytics?{query}{part}")).await;
            let label = "Start a job about /down";
            let link = tags(&page).into_iter().find(|tag| tag.attribute("aria-label") == label).unwrap();
            let form = operator.page(link.attribute("href")).await;
            let field = tags(&form).into_iter().find(|tag| tag.name == "textarea").unwrap();
            assert_eq!(field.text.trim(), expected, "{query}{part}");
        }
    }
}

#[tokio::test]
async fn incomplete_day_is_called_today_only_if_it_is() {
    let app = TestApp::with(at(NOON)).await;
    with_an_incomplete_day(&app).await;
    let viewer = app.sign_in("vera").await;
    for (range, ranges, described) in [
        // The last day of the range, and a day of the compared period.
        (
            "from=2026-10-21&to=2026-10-27",
            "Oct 21, 2026 to Oct 26, 2026 compared with Oct 14, 2026 to Oct 19, 2026; Oct 27, 2026 and Oct 20, 2026",
            "Incomplete: Tue, Oct 27, 2026.",
        ),
        (
            "from=2026-11-03&to=2026-11-09",
            "Nov 4, 2026 to Nov 9, 2026 compared with Oct 28, 2026 to Nov 2, 2026; Nov 3, 2026 and Oct 27, 2026",
            "(22). A line shows the previous period: 132 views.",
        ),
    ] {
        let page = viewer.get(&format!("/p/docs/analytics?{range}")).await.text;
        let text = paragraphs(&page, "provenance");
        let ranges = format!("{ranges} are left out: at least one of them is incomplete.");
        assert!(text.contains(&ranges) && !text.contains("today"), "{text}");
        let tags = tags(&page);
        let picture = tags.iter().find(|tag| tag.name == "svg" && tag.attribute("role") == "img").unwrap();
        assert!(picture.attribute("aria-label").ends_with(described), "{picture:?}");
    }
    let whole = viewer.get("/p/docs/analytics?from=2026-11-14&to=2026-11-20").await.text;
    let text = paragraphs(&whole, "provenance");
    assert!(
        text.contains("Compared with Nov 7, 2026 to Nov 13, 2026.") && !text.contains("left out"),
        "{text}"
    );
}

/// Stores a day whose pages `/a` and `/b` have this many views by people; those of `/a` by AI are a quarter of it.
async fn put(archive: &mut Archive<'_>, of: &str, [a, b]: [u64; 2], fetched_at: Option<&str>) {
    let rows = rows(&[("/a", a, a / 4), ("/b", b, 0)]);
    let fetched_at = fetched_at.map(|at| at.parse().unwrap());
    archive.put("docs", Written { fetched_at, ..Written::new(day(of), rows) }).await;
}

#[tokio::test]
async fn today_alone_names_the_day_beside_it() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    put(&mut archive, "2026-11-14", [40, 10], None).await;
    put(&mut archive, "2026-11-20", [20, 5], None).await;
    put(&mut archive, "2026-11-21", [4, 1], Some(NOON)).await;
    let viewer = app.sign_in("vera").await;
    let today = "from=2026-11-21&to=2026-11-21";
    let beside = |day: &str| format!("Today is incomplete, so it is not compared. Beside it: {day}.");
    for (more, expected, days) in [
        ("", ["6", "Nov 20: 30"], "Nov 20, 2026 (the day before)"),
        ("&compare=weekdays", ["6", "Nov 14: 60"], "Nov 14, 2026 (7 days before)"),
        ("&compare=weekdays&q=b", ["1", "Nov 14: 10"], "Nov 14, 2026 (7 days before)"),
        ("&compare=weekdays&path=/a", ["5", "Nov 14: 50"], "Nov 14, 2026 (7 days before)"),
        ("&path=/b", ["1", "Nov 20: 5"], "Nov 20, 2026 (the day before)"),
    ] {
        let page = viewer.page(&format!("/p/docs/analytics?{today}{more}")).await;
        assert_eq!(figures(&page)[..2], expected, "{more}");
        let text = paragraphs(&page, "provenance");
        assert!(text.contains(&beside(days)) && !text.contains("daily history."), "{more}: {text}");
    }
    let shares = viewer.page(&format!("/p/docs/analytics?{today}&compare=weekdays")).await;
    assert_eq!(figures(&shares)[6..], ["17%", "Nov 14: 17%"]);
    // Without the day, the page says which one is missing; without a comparison, nothing.
    for (compare, sentence) in [
        ("year", Some("Not compared: Nov 22, 2025 (364 days before) is not in the daily history.")),
        ("none", None),
    ] {
        let page = viewer.page(&format!("/p/docs/analytics?{today}&compare={compare}")).await;
        assert_eq!(figures(&page).len(), 4, "{compare}");
        let text = paragraphs(&page, "provenance");
        assert_eq!(text.contains("ompared"), sentence.is_some(), "{text}");
        assert!(sentence.is_none_or(|sentence| text.contains(sentence)), "{text}");
    }
}

#[tokio::test]
async fn days_are_called_missing_only_if_they_are() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    put(&mut archive, "2026-11-15", [20, 5], None).await;
    put(&mut archive, "2026-11-16", [20, 5], Some("2026-11-16T03:00:00Z")).await;
    put(&mut archive, "2026-11-17", [20, 5], None).await;
    put(&mut archive, "2026-11-18", [20, 5], None).await;
    put(&mut archive, "2026-11-19", [40, 10], None).await;
    put(&mut archive, "2026-11-20", [4, 1], Some("2026-11-20T03:00:00Z")).await;
    put(&mut archive, "2026-11-21", [4, 1], Some(NOON)).await;
    let viewer = app.sign_in("vera").await;
    for (range, sentence, beside) in [
        // Two incomplete days stand beside two whole ones.
        (
            ["2026-11-20", "2026-11-21"],
            "These days are incomplete, so they are not compared. Beside them: Nov 18, 2026 to Nov 19, 2026.",
            Some("Nov 18 to Nov 19: 90"),
        ),
        (
            ["2026-11-21", "2026-11-21"],
            "Not compared with Nov 20, 2026 (the day before): at least one of the two days is incomplete.",
            None,
        ),
        (
            ["2026-11-20", "2026-11-20"],
            "This day is incomplete, so it is not compared. Beside it: Nov 19, 2026 (the day before).",
            Some("Nov 19: 60"),
        ),
        (
            ["2026-11-17", "2026-11-17"],
            "Not compared with Nov 16, 2026 (the day before): at least one of the two days is incomplete.",
            None,
        ),
        (
            ["2026-11-16", "2026-11-18"],
            "Not compared: Nov 13, 2026 to Nov 15, 2026 are not all in the daily history.",
            None,
        ),
        (
            ["2026-11-15", "2026-11-17"],
            "Not compared: Nov 12, 2026 to Nov 14, 2026 are not in the daily history.",
            None,
        ),
        (["2026-11-19", "2026-11-19"], "Compared with Nov 18, 2026 (the day before).", Some("+100%")),
    ] {
        let [from, to] = range;
        for part in ["", "&path=/a", "&q=a"] {
            let page = viewer.page(&format!("/p/docs/analytics?from={from}&to={to}{part}")).await;
            let text = paragraphs(&page, "provenance");
            assert!(text.contains(sentence), "{range:?}{part}: {text}");
            let figures = figures(&page);
            assert_eq!(figures.len(), if beside.is_some() { 8 } else { 4 }, "{range:?}{part}: {figures:?}");
            assert!(!part.is_empty() || beside.is_none_or(|beside| figures[1] == beside), "{figures:?}");
        }
    }
    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    for (of, message) in [
        ("2026-11-17", "The days to compare with, Nov 16, 2026 to Nov 16, 2026, cannot be compared"),
        (
            "2026-11-15",
            "The days to compare with, Nov 14, 2026 to Nov 14, 2026, are not all in the daily history",
        ),
        ("2026-11-21", "This range has no complete day to compare."),
    ] {
        let result = mcp(&app.anonymous(), &token, "falling_pages", [of; 2]).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.contains(message), "{text}");
    }
}
