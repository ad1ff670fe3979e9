//! The table of pages from the daily history: the same figures as live responses, in any order, with the correct
//! comparison.

use std::collections::BTreeMap;
use std::time::Duration;

use base::clock::Clock;
use base::config::Budget;
use model::budget::AgentLimit;
use model::day::{Day, DayRange};
use model::page_views::ViewCounts;
use model::time::Timestamp;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;

use crate::helpers::{
    Archive, Browser, EmulatedUpstream, Rows, Settings, TestApp, Written, counts, day, days, figures, json,
    rows, table_rows,
};

/// An app with a frozen clock.
pub(crate) fn at(now: &str) -> Settings {
    Settings { clock: Clock::frozen(now.parse::<Timestamp>().unwrap()), ..Settings::default() }
}

pub(crate) const NOON: &str = "2026-11-21T12:00:00Z";

async fn table(viewer: &Browser, from: &str, to: &str, more: &[(&str, &str)]) -> Value {
    let pairs: Vec<_> =
        [("project", "docs"), ("from", from), ("to", to)].iter().chain(more).copied().collect();
    viewer.post_json("/api/analytics/pages", &pairs).await
}

fn paths(table: &Value) -> Vec<&str> {
    table["rows"].as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect()
}

/// The expected rows of one day, fetched from the platform directly, page by page.
async fn truth(upstream: &EmulatedUpstream, project: &str, day: Day) -> Rows {
    let mut rows = Vec::new();
    loop {
        let query = format!("dateFrom={day}&dateTo={}&limit=250&offset={}", day.plus_days(1), rows.len());
        let response = upstream.views(project, &query).await;
        for row in response["views"].as_array().unwrap() {
            let count = |name: &str| row[name].as_u64().unwrap();
            let counts = ViewCounts { human: count("human"), ai: count("ai"), total: count("total") };
            rows.push((row["path"].as_str().unwrap().to_owned(), counts));
        }
        if response["hasMore"] == false {
            return rows;
        }
    }
}

#[tokio::test]
async fn live_and_local_tables_agree_for_200_random_ranges() {
    let clock = Clock::frozen(NOON.parse::<Timestamp>().unwrap());
    let upstream = EmulatedUpstream::with(clock.clone(), 90, 1_000_000).await;
    let budget = Budget {
        agent_per_hour: 1,
        agent_limit: AgentLimit::Separate,
        analytics_per_hour: 1_000_000,
        analytics_reserve: 0,
        history_days: 90,
        history_before: 0,
    };
    let settings = Settings { clock, budget, upstream_url: Some(upstream.url()), ..Settings::default() };
    let app = TestApp::with(settings).await;
    let mut archive = Archive::of(&app).await;
    let first = day("2026-09-01");
    for (n, day) in days("2026-09-01", "2026-11-21").into_iter().enumerate() {
        let rows = truth(&upstream, "docs", day).await;
        let fetched_at = (n == 81).then(|| NOON.parse().unwrap());
        // Some days have no rollup: results must not depend on it.
        archive.put("docs", Written { fetched_at, packed: n % 5 > 0, ..Written::new(day, rows) }).await;
    }
    let viewer = app.sign_in("vera").await;
    let mut random = StdRng::seed_from_u64(1);
    for _ in 0..200 {
        let from = first.plus_days(random.random_range(0..82));
        let to = from.plus_days(random.random_range(0..=day("2026-11-21").days_since(from)));
        let (limit, offset) = (random.random_range(1..=250u64), random.random_range(0..100u64));
        let pairs = [
            ("project", "docs".to_owned()),
            ("from", from.to_string()),
            ("to", to.to_string()),
            ("limit", limit.to_string()),
            ("offset", offset.to_string()),
        ];
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let live = viewer.post_json("/api/analytics/views", &pairs).await;
        let alone: Vec<_> = pairs.iter().chain(&[("compare", "none")]).copied().collect();
        let local = viewer.post_json("/api/analytics/pages", &alone).await;
        let plain = |row: &Value| json!([row["path"], row["human"], row["ai"], row["total"]]);
        let plain = |rows: &Value| rows.as_array().unwrap().iter().map(plain).collect::<Vec<_>>();
        assert_eq!(plain(&live["views"]), plain(&local["rows"]), "{pairs:?}");
        assert_eq!(live["totals"], local["totals"], "{pairs:?}");
        assert_eq!(local["totals"], local["matching"], "{pairs:?}");
        let more = local["rows_total"].as_u64().unwrap() > offset + limit;
        assert_eq!(live["has_more"], more, "{pairs:?}");
        // A comparison adds only pages without views, at the end.
        let compared = viewer.post_json("/api/analytics/pages", &pairs).await;
        let mut viewed = plain(&compared["rows"]);
        viewed.retain(|row| row[3] != 0);
        assert_eq!(viewed, plain(&local["rows"]), "{pairs:?}");
        assert_eq!(compared["matching"], local["matching"], "{pairs:?}");
    }
}

/// Paths with unusual characters, and figures that do not add up.
const ODD: [&str; 22] = [
    "/",
    "",
    "/guides",
    "/guides/",
    "/guides/a",
    "/guides/A",
    "/guides/a/b",
    "/guides/a/c",
    "/guides//x",
    "/guides-old/a",
    "guides/a",
    "/é/ü",
    "/日本語/ページ",
    "/🦀",
    "/a b/c%20d?x=1#y",
    "/100%/under_score",
    "/quote'\"/<script>alert(1)</script>",
    "/line\nbreak/tab\t",
    "/back\\slash",
    "//double",
    "/../up",
    "=cmd|' /C calc'!A0",
];

struct Plain {
    path: String,
    now: ViewCounts,
    compared: ViewCounts,
    before: ViewCounts,
}

/// The expected table, computed naively.
fn expected(plain: &[Plain], q: &str, folder: Option<&str>, sort: &str) -> Vec<(String, ViewCounts)> {
    let found = plain.iter().filter(|row| row.path.to_ascii_lowercase().contains(&q.to_ascii_lowercase()));
    let mut sums = BTreeMap::<String, [ViewCounts; 3]>::new();
    for row in found {
        let name = match folder {
            None => row.path.clone(),
            Some(folder) => match shown_as(&row.path, folder) {
                Some(name) => name,
                None => continue,
            },
        };
        let sum = sums.entry(name).or_default();
        for (sum, more) in sum.iter_mut().zip([row.now, row.compared, row.before]) {
            *sum += more;
        }
    }
    let mut rows: Vec<_> =
        sums.into_iter().filter(|(_, [now, _, before])| now.total > 0 || before.total > 0).collect();
    let (reversed, word) = sort.strip_prefix('-').map_or((false, sort), |word| (true, word));
    let key = |[now, compared, before]: &[ViewCounts; 3]| match word {
        "total" => Some((now.total, 1)),
        "human" => Some((now.human, 1)),
        "ai" => Some((now.ai, 1)),
        "share" => (now.total >= 20).then_some((now.ai, now.human + now.ai)),
        // All numbers are small; one more keeps the difference positive.
        "difference" => Some((compared.total + 1_000_000 - before.total, 1)),
        "change" => (before.total > 0).then_some((compared.total, before.total)),
        _ => Some((0, 1)),
    };
    rows.sort_by(|(a_path, a), (b_path, b)| {
        let sizes = match (key(a), key(b)) {
            (Some((a, of_a)), Some((b, of_b))) => (b * of_a).cmp(&(a * of_b)),
            (a, b) => return b.is_some().cmp(&a.is_some()).then(a_path.cmp(b_path)),
        };
        match (word, reversed) {
            ("path", true) => b_path.cmp(a_path),
            (_, true) => sizes.reverse().then(a_path.cmp(b_path)),
            _ => sizes.then(a_path.cmp(b_path)),
        }
    });
    rows.into_iter().map(|(path, [now, ..])| (path, now)).collect()
}

/// The name of a path in a folder, computed naively.
fn shown_as(path: &str, folder: &str) -> Option<String> {
    let name = folder.trim_end_matches('/');
    let below = match path.strip_prefix(&format!("{name}/")) {
        Some(below) => below,
        None if name.is_empty() => return Some(path.to_owned()),
        None => return None,
    };
    match below.split('/').collect::<Vec<_>>()[..] {
        ["", ..] | [_] => Some(path.to_owned()),
        [first, ..] => Some(format!("{name}/{first}/*")),
        [] => None,
    }
}

#[tokio::test]
async fn sort_search_and_folder_match_a_naive_computation() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let mut random = StdRng::seed_from_u64(2);
    let mut truth = BTreeMap::<Day, Rows>::new();
    for (n, day) in days("2026-10-01", "2026-11-21").into_iter().enumerate() {
        let mut rows = Vec::new();
        for path in ODD {
            if random.random_range(0..3) > 0 {
                let (human, ai) = (random.random_range(0..4), random.random_range(0..4));
                let total = if random.random_range(0..9) == 0 { human + 1 } else { human + ai };
                if total == 0 {
                    continue;
                }
                rows.push((path.to_owned(), ViewCounts { human, ai, total }));
            }
        }
        let fetched_at = (day.to_string() == "2026-11-21").then(|| NOON.parse().unwrap());
        archive
            .put("docs", Written { fetched_at, packed: n % 3 > 0, ..Written::new(day, rows.clone()) })
            .await;
        // The same paths in another project must not be counted here.
        archive
            .put("api", Written::new(day, crate::helpers::rows(&[("/", 9_000, 9), ("/elsewhere", 9, 9)])))
            .await;
        truth.insert(day, rows);
    }
    let viewer = app.sign_in("vera").await;
    let folders = [None, Some("/"), Some("/guides"), Some("/guides/a"), Some("/é"), Some("/nowhere")];
    let searches = ["", "", "", "A", "guides", "%", "_", "é", "'", "\t", "zzz"];
    for n in 0..200 {
        let to = day("2026-11-21").plus_days(-random.random_range(0..3));
        let days = random.random_range(1..=25);
        let range = DayRange::ending(to, days);
        let q = searches[random.random_range(0..searches.len())];
        let folder = folders[random.random_range(0..folders.len())];
        let word =
            ["total", "human", "ai", "share", "difference", "change", "path"][random.random_range(0..7)];
        let sort = if random.random_bool(0.5) { format!("-{word}") } else { word.to_owned() };
        let part = if to == day("2026-11-21") { to.plus_days(-1) } else { to };
        let plain: Vec<Plain> = ODD
            .iter()
            .map(|path| {
                let sum = |from: Day, to: Day| -> ViewCounts {
                    let days = truth.iter().filter(|(day, _)| from <= **day && **day <= to);
                    days.flat_map(|(_, rows)| rows)
                        .filter(|(of, _)| of == path)
                        .map(|(_, counts)| *counts)
                        .sum()
                };
                Plain {
                    path: (*path).to_owned(),
                    now: sum(range.from(), to),
                    compared: sum(range.from(), part),
                    before: sum(range.from().plus_days(-days), part.plus_days(-days)),
                }
            })
            .collect();
        // A search is trimmed, so one that is only a tab searches for nothing.
        let expected = expected(&plain, q.trim(), folder, &sort);
        let (limit, offset) = (random.random_range(1..=9), random.random_range(0..6));
        let (limit_text, offset_text) = (limit.to_string(), offset.to_string());
        let mut pairs = vec![("q", q), ("sort", &sort), ("limit", &limit_text), ("offset", &offset_text)];
        pairs.extend(folder.map(|folder| ("folder", folder)));
        let response = table(&viewer, &range.from().to_string(), &to.to_string(), &pairs).await;
        let case = format!("{n}: {} to {to}, {pairs:?}", range.from());
        assert_eq!(response["rows_total"], expected.len(), "{case}");
        let matching: ViewCounts = expected.iter().map(|(_, counts)| *counts).sum();
        assert_eq!(response["matching"], json!(matching), "{case}");
        let page: Vec<_> = expected.into_iter().skip(offset).take(limit).collect();
        let got = response["rows"].as_array().unwrap().iter().map(|row| {
            let count = |name: &str| row[name].as_u64().unwrap();
            let counts = ViewCounts { human: count("human"), ai: count("ai"), total: count("total") };
            (row["path"].as_str().unwrap().to_owned(), counts)
        });
        assert_eq!(got.collect::<Vec<_>>(), page, "{case}");
    }
}

#[tokio::test]
async fn range_is_compared_with_complete_days_on_the_same_weekdays() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for (n, day) in days("2026-11-08", "2026-11-21").into_iter().enumerate() {
        let fetched_at = (n == 13).then(|| NOON.parse().unwrap());
        let rows = rows(&[("/a", 10 + n as u64, 5), ("/b", 1, 0)]);
        archive.put("docs", Written { fetched_at, ..Written::new(day, rows) }).await;
    }
    let viewer = app.sign_in("vera").await;
    let response = table(&viewer, "2026-11-15", "2026-11-21", &[]).await;
    assert_eq!(response["unfinished"], true);
    // Six days against six: 2026-11-14 belongs to neither side.
    let before: u64 = (0..6).map(|n| 10 + n + 5).sum();
    let now: u64 = (7..13).map(|n| 10 + n + 5).sum();
    let comparison = &response["comparison"];
    assert_eq!((&comparison["from"], &comparison["to"]), (&json!("2026-11-08"), &json!("2026-11-13")));
    assert_eq!(comparison["current"]["total"], now + 6);
    assert_eq!(comparison["previous"]["total"], before + 6);
    let row = &response["rows"][0];
    assert_eq!((&row["path"], &row["previous"]["total"]), (&json!("/a"), &json!(before)));
    assert_eq!((&row["compared"]["total"], &row["total"]), (&json!(now), &json!(now + 10 + 13 + 5)));

    let over = table(&viewer, "2026-11-14", "2026-11-20", &[]).await;
    assert_eq!((&over["comparison"], &over["rows"][0]["previous"]), (&json!(null), &json!(null)));
    assert_eq!(over["unfinished"], false);
    let short = table(&viewer, "2026-11-18", "2026-11-20", &[]).await;
    assert_eq!(short["comparison"]["from"], "2026-11-15");
    assert_eq!(short["comparison"]["to"], "2026-11-17");
    assert_eq!(short["rows"][0]["compared"], json!(null));
    let today = table(&viewer, "2026-11-21", "2026-11-21", &[]).await;
    assert_eq!((&today["comparison"], &today["totals"]["total"]), (&json!(null), &json!(29)));
    // The current day has no comparison, but the result contains the previous day.
    let yesterday = json!({"from": "2026-11-20", "to": "2026-11-20", "human": 23, "ai": 5, "total": 28, "provisional_days": []});
    assert_eq!(today["earlier"], yesterday);
    let weekdays = table(&viewer, "2026-11-18", "2026-11-20", &[("compare", "weekdays")]).await;
    assert_eq!(
        (&weekdays["comparison"]["from"], &weekdays["comparison"]["to"]),
        (&json!("2026-11-11"), &json!("2026-11-13"))
    );
    for (compare, is_compared) in [("year", false), ("none", false), ("previous", true)] {
        let response = table(&viewer, "2026-11-18", "2026-11-20", &[("compare", compare)]).await;
        assert_eq!(response["comparison"].is_null(), !is_compared, "{compare}");
    }
}

#[tokio::test]
async fn daylight_saving_changes_do_not_affect_days() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-03-01", "2026-03-30").into_iter().chain(days("2026-10-18", "2026-11-02")) {
        archive.write(day, rows(&[("/a", 2, 1)])).await;
    }
    let viewer = app.sign_in("vera").await;
    for (from, to, views) in [
        ("2026-03-29", "2026-03-29", 3),
        ("2026-03-08", "2026-03-14", 21),
        ("2026-10-25", "2026-10-31", 21),
        ("2026-10-26", "2026-11-02", 24),
    ] {
        let response = table(&viewer, from, to, &[]).await;
        assert_eq!(response["totals"]["total"], views, "{from}");
        assert_eq!(response["comparison"]["previous"]["total"], views, "{from}");
        assert_eq!(response["unfinished"], false, "{from}");
    }
}

#[tokio::test]
async fn range_with_missing_days_is_refused_without_an_upstream_call() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-10", "2026-11-20").into_iter().filter(|day| day.to_string() != "2026-11-15") {
        archive.write(day, rows(&[("/a", 1, 0)])).await;
    }
    archive.put("api", Written::new(day("2026-11-15"), rows(&[("/a", 1, 0)]))).await;
    let viewer = app.sign_in("vera").await;
    for (from, to) in [
        ("2026-11-14", "2026-11-16"),
        ("2026-11-15", "2026-11-15"),
        ("2026-11-09", "2026-11-10"),
        ("2026-11-20", "2026-11-21"),
        ("2027-01-01", "2027-01-02"),
        ("2023-12-01", "2026-11-21"),
    ] {
        let pairs = [("project", "docs"), ("from", from), ("to", to), ("path", "/a")];
        for endpoint in ["pages", "trend"] {
            let response = viewer.post(&format!("/api/analytics/{endpoint}"), &pairs).await;
            let message = response.refused(409, "not_in_history");
            assert!(message.contains(&day(from).long()) && message.contains(&day(to).long()), "{message}");
        }
    }
    assert_eq!(table(&viewer, "2026-11-16", "2026-11-20", &[]).await["totals"]["total"], 5);
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn invalid_table_queries_are_refused_with_a_message() {
    let app = TestApp::with(at(NOON)).await;
    let viewer = app.sign_in("vera").await;
    for bad in [
        &[("from", "2026-02-30")][..],
        &[("to", "tomorrow")],
        &[("from", "2026-11-20"), ("to", "2026-11-19")],
        &[("limit", "0")],
        &[("limit", "251")],
        &[("limit", "ten")],
        &[("offset", "-1")],
        &[("sort", "views")],
        &[("sort", "--total")],
        &[("sort", "total desc; DROP TABLE page_views")],
        &[("folder", "guides")],
    ] {
        let pairs: Vec<_> = [("project", "docs")].iter().chain(bad).copied().collect();
        viewer.post("/api/analytics/pages", &pairs).await.refused(400, "bad_input");
    }
    for (from, to) in [("2026-02-30", "2026-03-01"), ("2026-03-02", "2026-03-01"), ("x", "")] {
        let pairs = [("project", "docs"), ("from", from), ("to", to), ("path", "/a")];
        viewer.post("/api/analytics/trend", &pairs).await.refused(400, "bad_input");
        for path in ["", "&path=/a"] {
            let page = viewer.get(&format!("/p/docs/analytics?from={from}&to={to}{path}")).await;
            assert_eq!(page.status, 400, "{from} {to} {path}");
        }
    }
    let nowhere = [("project", "nowhere"), ("from", "2026-11-01"), ("to", "2026-11-02"), ("path", "/a")];
    viewer.post("/api/analytics/trend", &nowhere).await.refused(404, "not_found");
    assert_eq!(viewer.get("/p/nowhere/analytics?path=/a").await.status, 404);
    viewer.post("/api/analytics/pages", &[("project", "nowhere")]).await.refused(404, "not_found");
    viewer.post("/api/analytics/trend", &[("project", "docs")]).await.refused(400, "bad_input");
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn day_without_views_gives_an_empty_table() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    archive.write(day("2026-11-18"), rows(&[])).await;
    archive.write(day("2026-11-19"), rows(&[])).await;
    archive.write(day("2026-11-20"), rows(&[("/", 1, 0)])).await;
    let viewer = app.sign_in("vera").await;
    let nothing = table(&viewer, "2026-11-19", "2026-11-19", &[]).await;
    assert_eq!((&nothing["rows"], &nothing["rows_total"]), (&json!([]), &json!(0)));
    assert_eq!(nothing["totals"], json!({"human": 0, "ai": 0, "total": 0}));
    assert_eq!(nothing["comparison"]["previous"]["total"], 0);
    let one = table(&viewer, "2026-11-20", "2026-11-20", &[("sort", "change")]).await;
    let zero = json!({"human": 0, "ai": 0, "total": 0});
    assert_eq!(one["rows"], json!([{"path": "/", "human": 1, "ai": 0, "total": 1, "previous": zero}]));
    let beyond = table(&viewer, "2026-11-20", "2026-11-20", &[("offset", "9223372036854775807")]).await;
    assert_eq!((&beyond["rows"], &beyond["rows_total"]), (&json!([]), &json!(1)));
}

#[tokio::test]
async fn table_of_20_000_pages_is_served() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for (n, day) in days("2026-11-19", "2026-11-20").into_iter().enumerate() {
        let rows = (0..20_000u64).map(|page| (format!("/v{}/{page:05}", page % 7), counts(page, n as u64)));
        archive.put("docs", Written { packed: n == 0, ..Written::new(day, rows.collect()) }).await;
    }
    let viewer = app.sign_in("vera").await;
    let last = [("sort", "-path"), ("limit", "250"), ("offset", "19999")];
    let response = table(&viewer, "2026-11-19", "2026-11-20", &last).await;
    assert_eq!((paths(&response), &response["rows_total"]), (vec!["/v0/00000"], &json!(20_000)));
    assert_eq!(response["totals"]["human"], 2 * (0..20_000u64).sum::<u64>());
    let folders = table(&viewer, "2026-11-20", "2026-11-20", &[("folder", "/"), ("sort", "path")]).await;
    assert_eq!(paths(&folders), ["/v0/*", "/v1/*", "/v2/*", "/v3/*", "/v4/*", "/v5/*", "/v6/*"]);
    let pages = folders["rows"].as_array().unwrap().iter().map(|row| row["pages"].as_u64().unwrap());
    assert_eq!(pages.sum::<u64>(), 20_000);
}

#[tokio::test]
async fn table_has_upstream_totals_marks_and_fetch_times() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let fetched_at = Some("2026-11-20T01:00:00Z".parse().unwrap());
    let uneven = Written {
        totals: Some(counts(50, 7)),
        mark: Some("uneven"),
        fetched_at,
        ..Written::new(day("2026-11-19"), rows(&[("/a", 5, 5)]))
    };
    archive.put("docs", uneven).await;
    let recounted =
        Written { mark: Some("recounted"), ..Written::new(day("2026-11-20"), rows(&[("/a", 1, 1)])) };
    archive.put("docs", recounted).await;
    let response = table(&app.sign_in("vera").await, "2026-11-19", "2026-11-20", &[]).await;
    assert_eq!(response["totals"], json!({"human": 51, "ai": 8, "total": 59}));
    assert_eq!(response["matching"], json!({"human": 6, "ai": 6, "total": 12}));
    assert_eq!(response["fetched_at"], "2026-11-21T06:00:00Z", "of the newest day");
    assert_eq!(response["oldest_fetched_at"], "2026-11-20T01:00:00Z");
    assert_eq!(
        response["marked"],
        json!([{"day": "2026-11-19", "mark": "uneven"}, {"day": "2026-11-20", "mark": "recounted"}])
    );
}

#[tokio::test]
async fn refetched_day_replaces_its_figures_before_the_rollup() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let day = day("2026-11-20");
    archive.write(day, rows(&[("/a", 1, 0), ("/b", 5, 0)])).await;
    let viewer = app.sign_in("vera").await;
    assert_eq!(table(&viewer, "2026-11-20", "2026-11-20", &[]).await["rows"][0]["path"], "/b");
    let anew = Written { packed: false, ..Written::new(day, rows(&[("/a", 9, 0), ("/c", 1, 0)])) };
    archive.put("docs", anew.clone()).await;
    for packed in [false, true] {
        archive.put("docs", Written { packed, ..anew.clone() }).await;
        let response = table(&viewer, "2026-11-20", "2026-11-20", &[]).await;
        assert_eq!((paths(&response), &response["totals"]["total"]), (vec!["/a", "/c"], &json!(10)));
    }
}

#[tokio::test]
async fn queries_during_a_write_see_one_consistent_day() {
    let app = TestApp::with(Settings { timeout: Duration::from_secs(5), ..at(NOON) }).await;
    let mut archive = Archive::of(&app).await;
    let day = day("2026-11-20");
    archive.write(day, rows(&[("/a", 1, 0), ("/b", 1, 0)])).await;
    let viewer = app.sign_in("vera").await;
    let writes = async {
        for n in 2..30 {
            archive.write(day, rows(&[("/a", n, 0), ("/b", n, 0)])).await;
        }
    };
    let reads = async {
        for _ in 0..30 {
            let response = table(&viewer, "2026-11-20", "2026-11-20", &[]).await;
            assert_eq!(response["totals"], response["matching"]);
            assert_eq!(response["rows"][0]["human"], response["rows"][1]["human"]);
        }
    };
    futures::join!(writes, reads);
}

#[tokio::test]
async fn report_of_a_range_into_the_future_ends_today() {
    let app = TestApp::with(at("2026-11-20T12:00:00Z")).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-19", "2026-11-20") {
        archive.write(day, rows(&[("/a", 30, 5)])).await;
    }
    let viewer = app.sign_in("vera").await;
    let report = viewer.get("/p/docs/analytics?from=2026-11-19&to=2026-12-24").await.text;
    assert!(report.contains("From the daily history"), "{report}");
    assert_eq!(figures(&report)[0], "70");
    for query in ["from=2026-11-21&to=2026-12-24", "from=2026-11-20&to=2026-11-19"] {
        assert_eq!(viewer.get(&format!("/p/docs/analytics?{query}")).await.status, 400, "{query}");
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
    let page = viewer.get("/p/docs/analytics?from=2026-11-20&to=2026-11-19").await;
    assert_eq!((page.status, page.text.contains("Start date must be before end date")), (400, true));
}

#[tokio::test]
async fn search_and_tab_narrow_figures_chart_and_table() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for (n, day) in days("2026-11-13", "2026-11-20").into_iter().enumerate() {
        let more = if n >= 4 { 30 } else { 10 };
        archive
            .write(day, rows(&[("/guides/a", more, 5), ("/guides/b", 40 - more, 0), ("/c", 100, 0)]))
            .await;
    }
    let viewer = app.sign_in("vera").await;
    let found = table(&viewer, "2026-11-17", "2026-11-20", &[("q", "guide")]).await;
    assert_eq!(found["matching"], json!({"human": 160, "ai": 20, "total": 180}));
    assert_eq!(
        found["matching_comparison"],
        json!([{"human": 160, "ai": 20, "total": 180}, {"human": 160, "ai": 20, "total": 180}])
    );
    let all = table(&viewer, "2026-11-17", "2026-11-20", &[]).await;
    assert_eq!(all["matching_comparison"], json!(null));
    let range = "from=2026-11-17&to=2026-11-20";
    let found = viewer.get(&format!("/p/docs/analytics?{range}&q=guide")).await.text;
    assert_eq!(figures(&found)[0], "180");
    let points = table_rows(&found, "pages");
    assert_eq!(points.len(), 4);
    assert!(points.iter().all(|point| point[1] == "45" && point[5] == "45"), "{points:?}");
    let all = viewer.get(&format!("/p/docs/analytics?{range}")).await.text;
    assert_eq!(table_rows(&all, "pages")[0][1], "145");

    for (tab, expected) in [("rising", vec!["/guides/a"]), ("falling", vec!["/guides/b"]), ("new", vec![])] {
        let response = table(&viewer, "2026-11-17", "2026-11-20", &[("tab", tab)]).await;
        assert_eq!(paths(&response), expected, "{tab}");
    }
    let no_tab = [("project", "docs"), ("from", "2026-11-17"), ("to", "2026-11-20"), ("tab", "odd")];
    viewer.post("/api/analytics/pages", &no_tab).await.refused(400, "bad_input");
}
