//! “Does it agree?”: the daily history beside the platform's own answer for the same range, for administrators.

use std::time::Duration;

use base::clock::Clock;
use base::config::{Budget, RetentionConfig};
use model::page_views::ViewCounts;
use model::time::Timestamp;
use reqwest::Method;
use serde_json::Value;
use service::history::Step;
use wiremock::{Request, ResponseTemplate};

use crate::analytics_pages::{NOON, at};
use crate::helpers::{
    Archive, Browser, EmulatedUpstream, Rows, Settings, TestApp, Written, counts, day, days, json, rows,
    table_rows, tags,
};

const PAGE: &str = "/p/docs/analytics/check";
const COMPARE: &str = "/api/analytics/compare";
const URL: &str = "/p/docs/analytics/check?from=2026-11-10&to=2026-11-11";
const RANGE: [(&str, &str); 3] = [("project", "docs"), ("from", "2026-11-10"), ("to", "2026-11-11")];

const AGREE: &str = "The daily history and the platform agree.";

/// An app whose history has these rows on each of two days.
async fn app_with(settings: Settings, daily: &Rows) -> TestApp {
    let app = TestApp::with(settings).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-10", "2026-11-11") {
        archive.write(day, daily.clone()).await;
    }
    drop(archive);
    app
}

/// The platform answers every query with the requested ones of these rows.
async fn answers(app: &TestApp, all: Rows) {
    let totals: ViewCounts = all.iter().map(|(_, counts)| *counts).sum();
    app.upstream.on_views(move |request: &Request| answer(request, &all, totals)).await;
}

fn answer(request: &Request, all: &Rows, totals: ViewCounts) -> ResponseTemplate {
    let [limit, offset] = ["limit", "offset"].map(|name| number(request, name));
    let row = |(path, counts): &(String, ViewCounts)| {
        let ViewCounts { human, ai, total } = *counts;
        json!({"path": path, "human": human, "ai": ai, "total": total})
    };
    let views: Vec<Value> = all.iter().skip(offset).take(limit).map(row).collect();
    let has_more = all.len() > offset + limit;
    ResponseTemplate::new(200).set_body_json(json!({"totals": totals, "views": views, "hasMore": has_more}))
}

fn number(request: &Request, name: &str) -> usize {
    parameter(request, name).parse().unwrap()
}

fn parameter(request: &Request, name: &str) -> String {
    let found = request.url.query_pairs().find(|(found, _)| found == name);
    found.map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// `pages` pages with as many views as their position from the end.
fn site(pages: u64) -> Rows {
    (0..pages).map(|n| (format!("/{n:03}"), counts(pages - n, 0))).collect()
}

fn twice(daily: &Rows) -> Rows {
    daily.iter().map(|(path, counts)| (path.clone(), [*counts, *counts].into_iter().sum())).collect()
}

async fn compare(person: &Browser) {
    let response = person.submit(COMPARE, &RANGE, Some(URL)).await;
    assert_eq!((response.status, response.location()), (302, URL), "{}", response.text);
}

async fn requests(app: &TestApp) -> usize {
    app.upstream.requests().await.len()
}

#[tokio::test]
async fn history_that_agrees_is_compared_once() {
    let daily = rows(&[("/a", 10, 5), ("/b/", 3, 0), ("/b", 1, 1), ("/über", 0, 2)]);
    let app = app_with(at(NOON), &daily).await;
    answers(&app, twice(&daily)).await;
    let admin = app.sign_in("ada").await;
    let before = admin.page(URL).await;
    let cost = "Comparing makes up to 3 requests to the platform, of the 1,000 per hour that all analytics share; each person has a share of them. 1,000 are left in all.";
    assert!(before.contains(cost) && before.contains("Does it agree?"), "{before}");
    assert!(!before.contains(AGREE) && requests(&app).await == 0, "{before}");

    compare(&admin).await;
    let [request] = &app.upstream.requests().await[..] else { panic!("one request is enough") };
    let sent = ["dateFrom", "dateTo", "limit", "offset"].map(|name| parameter(request, name));
    assert_eq!(sent, ["2026-11-10", "2026-11-12", "250", "0"]);
    let page = admin.page(URL).await;
    assert!(page.contains(AGREE) && page.contains("4 pages were compared one by one."), "{page}");
    let totals = table_rows(&page, "status-table totals");
    assert_eq!(totals, [["People", "28", "28", "0"], ["AI", "16", "16", "0"], ["All", "44", "44", "0"]]);
    assert!(!page.contains("status-table differences") && !page.contains("may still change"), "{page}");
    // Neither opening the page nor its refresh makes a request.
    admin.send(admin.request(Method::GET, URL).header("docket-refresh", "1")).await;
    assert_eq!(requests(&app).await, 1);
    // The button compares again, also with a script.
    admin.post_json(COMPARE, &RANGE).await;
    assert_eq!(requests(&app).await, 2);
}

#[tokio::test]
async fn pages_that_differ_are_listed_and_escaped() {
    const ODD: &str = "/\"><img src=x onerror=alert(1)>&amp;";
    let daily = rows(&[("/same", 5, 5), ("/more", 10, 5), (ODD, 1, 2), ("/moved", 4, 1)]);
    let app = app_with(at(NOON), &daily).await;
    let platform = rows(&[("/same", 10, 10), ("/more", 1_020, 10), ("/moved", 2, 8), ("/new", 0, 3)]);
    answers(&app, platform).await;
    let admin = app.sign_in("ada").await;
    compare(&admin).await;
    let page = admin.page(URL).await;
    assert!(page.contains("The totals differ, and 4 pages differ."), "{page}");
    let totals = table_rows(&page, "status-table totals");
    assert_eq!(totals[0], ["People", "40", "1,032", "+992"]);
    assert_eq!(totals[1..], [["AI", "26", "31", "+5"], ["All", "66", "1,063", "+997"]]);
    let expected = [
        ["/more", "20", "1,020", "10", "10", "30", "1,030", "+1,000"],
        [ODD, "2", "0", "4", "0", "6", "0", "−6"],
        ["/moved", "8", "2", "2", "8", "10", "10", "0"],
        ["/new", "0", "0", "0", "3", "0", "3", "+3"],
    ];
    assert_eq!(table_rows(&page, "status-table differences"), expected);
    assert!(tags(&page).iter().all(|tag| tag.name != "img"), "{page}");
    let report = "/p/docs/analytics?path=/more&from=2026-11-10&to=2026-11-11";
    assert!(tags(&page).iter().any(|tag| tag.attribute("href") == report), "{page}");
}

#[tokio::test]
async fn pages_beyond_750_rows_count_in_the_totals_only() {
    let mut daily = site(800);
    let app = app_with(at(NOON), &daily).await;
    // A page beyond the last row differs.
    daily[790].1 = counts(0, 0);
    answers(&app, twice(&daily)).await;
    let admin = app.sign_in("ada").await;
    compare(&admin).await;
    let offsets: Vec<_> =
        app.upstream.requests().await.iter().map(|request| number(request, "offset")).collect();
    assert_eq!(offsets, [0, 250, 500]);
    let page = admin.page(URL).await;
    assert!(page.contains("The totals differ, but no compared page does."), "{page}");
    let text = "750 pages were compared one by one. Pages beyond the platform’s first 750 rows were not, but are part of the totals.";
    assert!(page.contains(text), "{page}");
    assert_eq!(table_rows(&page, "status-table totals")[2], ["All", "640,800", "640,780", "−20"]);
    assert!(!page.contains("status-table differences"), "{page}");
}

#[tokio::test]
async fn first_100_of_more_differences_are_listed() {
    let app = app_with(at(NOON), &site(120)).await;
    answers(&app, Rows::new()).await;
    let admin = app.sign_in("ada").await;
    compare(&admin).await;
    let page = admin.page(URL).await;
    assert!(
        page.contains("First 100 of 120 pages, the largest difference of people, AI or all first."),
        "{page}"
    );
    let listed = table_rows(&page, "status-table differences");
    assert_eq!((listed.len(), listed[0][0].as_str(), listed[99][0].as_str()), (100, "/000", "/099"));
}

#[tokio::test]
async fn missing_days_are_fetched_before_anything_is_compared() {
    let app = app_with(at(NOON), &rows(&[("/a", 1, 1)])).await;
    answers(&app, rows(&[("/a", 2, 2)])).await;
    let admin = app.sign_in("ada").await;
    let url = format!("{PAGE}?from=2026-11-09&to=2026-11-11");
    let page = admin.page(&url).await;
    assert!(page.contains("1 day is missing") && page.contains("Fetch these days"), "{page}");
    assert!(!page.contains(COMPARE), "{page}");
    let range = [("project", "docs"), ("from", "2026-11-09"), ("to", "2026-11-11")];
    let message = admin.post(COMPARE, &range).await.refused(409, "not_in_history");
    assert!(message.contains("Only 2 of the 3 days"), "{message}");
    assert_eq!(requests(&app).await, 0);
    // Fetching them returns here, and the open page refreshes until they are stored.
    let back = [range[0], range[1], range[2], ("back", url.as_str())];
    let response = admin.submit("/api/history/fetch", &back, Some(&url)).await;
    assert_eq!((response.status, response.location()), (302, url.as_str()));
    assert!(admin.page(&url).await.contains("data-every=\"5\""));
    Archive::of(&app).await.write(day("2026-11-09"), Rows::new()).await;
    assert!(admin.page(&url).await.contains(COMPARE));
}

#[tokio::test]
async fn only_administrators_compare() {
    let app = app_with(at(NOON), &rows(&[("/a", 1, 1)])).await;
    answers(&app, rows(&[("/a", 2, 2)])).await;
    let analytics = "/p/docs/analytics?from=2026-11-10&to=2026-11-11";
    let has_link = async |person: &Browser, page: &str, href: &str| {
        tags(&person.page(page).await).iter().any(|tag| tag.attribute("href") == href)
    };
    for name in ["vera", "olga"] {
        let person = app.sign_in(name).await;
        for url in [PAGE, URL, &format!("{PAGE}?from=x")] {
            let page = person.get(url).await;
            assert_eq!(page.status, 403, "{name}: {url}");
            assert!(
                page.text.contains("this needs the role admin") && !page.text.contains(COMPARE),
                "{name}"
            );
        }
        person.post(COMPARE, &RANGE).await.refused(403, "forbidden");
        assert!(!has_link(&person, analytics, URL).await, "{name}");
    }
    assert_eq!(requests(&app).await, 0);
    let admin = app.sign_in("ada").await;
    assert!(has_link(&admin, analytics, URL).await && has_link(&admin, "/admin/upstream", PAGE).await);
    assert_eq!(admin.get("/p/nowhere/analytics/check").await.status, 404);
}

#[tokio::test]
async fn comparison_stays_within_the_budget() {
    let settings = at(NOON);
    let budget = Budget { analytics_per_hour: 5, ..settings.budget };
    let app = app_with(Settings { budget, ..settings }, &site(700)).await;
    answers(&app, twice(&site(700))).await;
    let admin = app.sign_in("ada").await;
    compare(&admin).await;
    let page = admin.page(URL).await;
    assert!(
        page.contains("2 are left in all.") && page.contains("700 pages were compared one by one."),
        "{page}"
    );
    // The third request of the next comparison does not fit. Its rows of the last comparison do not fit to the new ones.
    app.clock().advance(Duration::from_secs(60));
    compare(&admin).await;
    let page = admin.page(URL).await;
    let text = "500 pages were compared one by one. Pages beyond the platform’s first 500 rows were not";
    assert!(page.contains(text) && page.contains("0 are left in all."), "{page}");
    assert!(
        page.contains("The platform’s other rows were not fetched. ") && page.contains("13:00 UTC"),
        "{page}"
    );
    let message = admin.post(COMPARE, &RANGE).await.refused(429, "budget_spent");
    assert!(message.contains("All 5 "), "{message}");
    // A plain form shows the message, and the last answer stays.
    let refused = admin.submit(COMPARE, &RANGE, Some(&format!("{}{URL}", app.origin()))).await;
    assert!(refused.location().ends_with(URL), "{} {}", refused.status, refused.location());
    let page = admin.page(URL).await;
    assert!(page.contains("hourly budget are used, and nothing was sent") && page.contains(text), "{page}");
    assert_eq!(requests(&app).await, 5);
}

#[tokio::test]
async fn answer_from_before_the_last_fetch_of_a_day_has_no_verdict() {
    let daily = rows(&[("/a", 10, 5)]);
    let app = app_with(at(NOON), &daily).await;
    answers(&app, twice(&daily)).await;
    let admin = app.sign_in("ada").await;
    compare(&admin).await;
    let mut archive = Archive::of(&app).await;
    let fetched_at = Some("2026-11-21T13:00:00Z".parse().unwrap());
    let changed = rows(&[("/a", 11, 5)]);
    archive.put("docs", Written { fetched_at, ..Written::new(day("2026-11-10"), changed) }).await;
    drop(archive);
    let page = admin.page(URL).await;
    assert!(page.contains("Days were fetched again after the platform had answered"), "{page}");
    assert!(!page.contains(AGREE) && !page.contains("The totals differ"), "{page}");
}

#[tokio::test]
async fn days_before_the_retention_cannot_be_compared() {
    let retention = RetentionConfig { history_days: 30, ..RetentionConfig::default() };
    let app = app_with(Settings { retention, ..at(NOON) }, &rows(&[("/a", 1, 1)])).await;
    let page = app.sign_in("ada").await.get(&format!("{PAGE}?from=2026-10-22&to=2026-11-11")).await;
    assert_eq!(page.status, 409);
    let sentence = "Days before Oct 23, 2026 are no longer in the daily history. Choose later days.";
    assert!(page.text.contains(sentence) && !page.text.contains("fetch-days-form"), "{}", page.text);
}

#[tokio::test]
async fn days_that_may_change_and_marked_days_are_named() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-10-21", "2026-11-21") {
        let fetched_at = (day.to_string().as_str() > "2026-11-18").then(|| NOON.parse().unwrap());
        let mark = (day.to_string() == "2026-11-17").then_some("uneven");
        archive.put("docs", Written { fetched_at, mark, ..Written::new(day, rows(&[("/a", 1, 1)])) }).await;
    }
    drop(archive);
    let admin = app.sign_in("ada").await;
    let note = "may still change, so";
    // By default the last 28 days that are final.
    let page = admin.page(PAGE).await;
    let range = [("from", "2026-10-21"), ("to", "2026-11-17")];
    for (name, value) in range {
        let found = tags(&page).into_iter().find(|tag| tag.attribute("id") == name);
        assert_eq!(found.unwrap().attribute("value"), value, "{page}");
    }
    assert!(!page.contains(note) && page.contains("the pages of this day do not add up"), "{page}");
    for (to, named) in [("2026-11-21", "Nov 19, 2026</time> to "), ("2026-11-19", "Nov 19, 2026</time> may")]
    {
        let page = admin.page(&format!("{PAGE}?from=2026-11-18&to={to}")).await;
        assert!(page.contains(note), "{to}: {page}");
        assert!(page.replace("<!>", "").contains(named), "{to}: {page}");
    }
    assert!(
        admin.page(&format!("{PAGE}?from=2026-11-18&to=2026-11-21")).await.contains("Today is incomplete.")
    );
}

#[tokio::test]
async fn corrected_figures_of_the_platform_are_noted() {
    let app = app_with(at(NOON), &rows(&[("/a", 1, 1)])).await;
    let odd = json!([{"path": "/a", "human": 2, "ai": 2, "total": 4}, {"human": -1, "ai": 1, "total": 0}]);
    let response = json!({"totals": counts(2, 2), "views": odd, "hasMore": false});
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(response)).await;
    let admin = app.sign_in("ada").await;
    compare(&admin).await;
    let page = admin.page(URL).await;
    assert!(page.contains(AGREE) && page.contains("Some figures of the platform were invalid"), "{page}");
}

#[tokio::test]
async fn failing_platform_gives_its_message() {
    let app = app_with(at(NOON), &rows(&[("/a", 1, 1)])).await;
    app.upstream.on_views(ResponseTemplate::new(500)).await;
    let admin = app.sign_in("ada").await;
    admin.post(COMPARE, &RANGE).await.refused(502, "upstream_failed");
    assert!(!admin.page(URL).await.contains("status-table totals"));
}

#[tokio::test]
async fn invalid_ranges_are_refused() {
    let app = app_with(at(NOON), &rows(&[("/a", 1, 1)])).await;
    let admin = app.sign_in("ada").await;
    for (from, to, text) in [
        ("x", "2026-11-11", "is not a valid date"),
        ("2026-11-12", "2026-11-11", "Start date must be before end date."),
        ("2023-11-01", "2026-11-21", "A range has at most 1,100 days."),
        ("2026-11-22", "2026-11-23", "These days are in the future."),
    ] {
        let page = admin.get(&format!("{PAGE}?from={from}&to={to}")).await;
        assert_eq!(page.status, 400, "{from} {to}");
        assert!(page.text.contains(text) && page.text.contains("No days to compare"), "{}", page.text);
        let response = admin.post(COMPARE, &[("project", "docs"), ("from", from), ("to", to)]).await;
        assert!([400, 409].contains(&response.status), "{from} {to}: {}", response.text);
    }
    admin.post(COMPARE, &[("project", "nowhere"), RANGE[1], RANGE[2]]).await.refused(404, "not_found");
    assert_eq!(requests(&app).await, 0);
}

/// The history as Docket fetches it, with pages that have several rows of calls.
#[tokio::test]
async fn fetched_days_agree_with_the_platform() {
    let clock = Clock::frozen(NOON.parse::<Timestamp>().unwrap());
    let emulator = EmulatedUpstream::with(clock, 700, usize::MAX).await;
    let settings = at(NOON);
    let budget = Budget { history_days: 6, ..settings.budget };
    let app = TestApp::with(Settings { budget, upstream_url: Some(emulator.url()), ..settings }).await;
    while !matches!(app.state().history.step().await.unwrap(), Step::Wait(_)) {}
    let admin = app.sign_in("ada").await;
    for (from, to) in
        [("2026-11-16", "2026-11-17"), ("2026-11-16", "2026-11-21"), ("2026-11-21", "2026-11-21")]
    {
        admin.post_json(COMPARE, &[RANGE[0], ("from", from), ("to", to)]).await;
        let page = admin.page(&format!("{PAGE}?from={from}&to={to}")).await;
        assert!(page.contains(AGREE), "{from} {to}: {page}");
        let totals = table_rows(&page, "status-table totals");
        assert!(totals.iter().all(|row| row[1] != "0" && row[1] == row[2] && row[3] == "0"), "{totals:?}");
    }
}
