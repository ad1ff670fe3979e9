//! Unusual responses of the upstream: odd paths, rows that move between two responses, endless rows.

use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use super::{calls, keeping, of_day, requested, rows, state, steps};
use crate::helpers::{TestApp, json};

/// Responds with `page(offset)` for `docs`, and without rows for the other project.
fn only_docs(page: impl Fn(usize) -> Value + Send + Sync + 'static) -> impl Fn(&Request) -> ResponseTemplate {
    move |request| {
        let requested = requested(request);
        let nothing = || json!({"totals": {"human": 0, "ai": 0, "total": 0}, "views": [], "hasMore": false});
        let body = if requested.project == "docs" { page(requested.offset) } else { nothing() };
        ResponseTemplate::new(200).set_body_json(body)
    }
}

fn row(path: &str, human: u64) -> Value {
    json!({"path": path, "human": human, "ai": 0, "total": human})
}

fn response(total: u64, views: Vec<Value>, has_more: bool) -> Value {
    json!({"totals": {"human": total, "ai": 0, "total": total}, "views": views, "hasMore": has_more})
}

#[tokio::test]
async fn path_with_any_characters_is_stored() {
    let long = format!("/{}", "very-long/".repeat(150));
    // 6,000 bytes that do not compress: too long for a B-tree of PostgreSQL.
    let longest: String = (0..1_999_u32).filter_map(|n| char::from_u32(0x4e00 + n * 7 % 20_000)).collect();
    let longest = format!("/{longest}");
    let paths = [
        "/it's",
        "/\"quoted\"",
        "/a;DROP TABLE page_views;--",
        "/100%",
        "/%41",
        "/_",
        "/a_b",
        "/../..",
        "/..%2f",
        "/*",
        "/guides/*",
        "/?q=1&r=2",
        "/#top",
        "/ü",
        "/u\u{308}",
        "/日本語",
        "/👩‍🚀",
        "/\u{202e}rtl",
        "/\u{feff}",
        "/a b",
        "/tab\there",
        "/line\nbreak",
        "/\u{1}\u{7f}",
        "/\\",
        "/{$1}",
        "$1",
        "no slash",
        " ",
        "/A",
        "/a",
        "/a/",
        "//a",
        "/=1+1",
        "/</script><b>",
        long.as_str(),
        longest.as_str(),
    ];
    let app = TestApp::with(keeping(1)).await;
    let views: Vec<Value> = paths.iter().zip(1..).map(|(path, n)| row(path, n)).collect();
    let total = (1..=paths.len() as u64).sum();
    app.upstream.on_views(only_docs(move |_| response(total, views.clone(), false))).await;
    steps(&app).await;
    let rows = &rows(&app, "docs").await["2025-03-10"];
    assert_eq!(rows.len(), paths.len());
    for (path, n) in paths.iter().zip(1..) {
        assert_eq!(rows[*path], [n, 0, n], "{path:?}");
    }
    assert_eq!(state(&app).await["marked"], json!([]));
}

#[tokio::test]
async fn zero_byte_in_a_path_and_largest_counts_are_accepted() {
    let app = TestApp::with(keeping(1)).await;
    let largest = 1_u64 << 53;
    let views = vec![row("/nul\0", 1), row("/a", largest), row("/b", largest)];
    app.upstream.on_views(only_docs(move |_| response(largest, views.clone(), false))).await;
    steps(&app).await;
    let rows = &rows(&app, "docs").await["2025-03-10"];
    assert_eq!(rows["/nul\u{fffd}"], [1, 0, 1]);
    assert_eq!(rows["/b"][0], largest as i64);
}

#[tokio::test]
async fn row_repeated_across_pages_uses_the_later_value() {
    let app = TestApp::with(keeping(1)).await;
    let page = |offset| match offset {
        0 => response(30, vec![row("/a", 10), row("/b", 9), row("/b", 8)], true),
        _ => response(31, vec![row("/b", 11), row("/d", 1)], false),
    };
    app.upstream.on_views(only_docs(page)).await;
    steps(&app).await;
    let rows = &rows(&app, "docs").await["2025-03-10"];
    assert_eq!(
        rows.iter().map(|(path, of)| (path.as_str(), of[0])).collect::<Vec<_>>(),
        [("/a", 10), ("/b", 11), ("/d", 1)]
    );
    assert_eq!(of_day::<i64>(&app, "total", "2025-03-10").await, 31);
    assert_eq!(state(&app).await["marked"], json!([{"day": "2025-03-10", "mark": "uneven"}]));
}

#[tokio::test]
async fn endless_paging_stops_at_a_limit() {
    let same = |_| response(9, vec![row("/a", 5)], true);
    let empty = |offset| response(5, if offset == 0 { vec![row("/a", 5)] } else { vec![] }, true);
    let other = |offset| response(9, vec![row(&format!("/{offset}"), 5)], true);
    for (page, expected, mark) in [
        (Box::new(same) as Box<dyn Fn(usize) -> Value + Send + Sync>, 2, json!("uneven")),
        (Box::new(empty), 2, json!(null)),
        (Box::new(other), 400, json!("uneven")),
    ] {
        let app = TestApp::with(keeping(1)).await;
        app.upstream.on_views(only_docs(page)).await;
        steps(&app).await;
        assert_eq!(calls(&app, "docs").await.len(), expected);
        assert_eq!(state(&app).await["marked"][0]["mark"], mark, "{expected}");
        assert_eq!(state(&app).await["days_done"], 1);
    }
}
