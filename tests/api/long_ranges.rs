//! A range of days has at most 1,100 days, wherever it is requested.

use reqwest::Method;
use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::api_tokens::create;
use crate::helpers::{Browser, TestApp, json};

/// The first days of ranges that end on November 21, 2026, with 1,101 and with all days of the calendar.
const TOO_EARLY: [&str; 2] = ["2023-11-17", "0001-01-01"];
/// The first day of one with 1,100 days.
const FIRST: &str = "2023-11-18";
const LAST: &str = "2026-11-21";

/// The server functions with a range.
const FUNCTIONS: [&str; 6] = [
    "/api/analytics/views",
    "/api/analytics/pages",
    "/api/analytics/trend",
    "/api/history/missing",
    "/api/history/stored",
    "/api/history/fetch",
];

/// The result of an MCP tool for a range of days.
pub(crate) async fn mcp(client: &Browser, token: &str, tool: &str, [from, to]: [&str; 2]) -> Value {
    let arguments = json!({"project": "docs", "from": from, "to": to});
    mcp_with(client, token, tool, arguments).await
}

/// The result of a tool.
pub(crate) async fn mcp_with(client: &Browser, token: &str, tool: &str, arguments: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
    let request = client.request(Method::POST, "/mcp").bearer_auth(token);
    let request = request.header("accept", "application/json, text/event-stream");
    client.send(request.header("mcp-protocol-version", "2025-06-18").json(&message)).await.json()["result"]
        .take()
}

#[tokio::test]
async fn range_of_more_than_1100_days_is_refused_everywhere() {
    let app = TestApp::with(at(NOON)).await;
    let operator = app.operator().await;
    let token = create(&operator, &[("scopes", "analytics:read")]).await;
    let client = app.anonymous();
    for from in TOO_EARLY {
        let query = format!("from={from}&to={LAST}");
        for endpoint in FUNCTIONS {
            let pairs = [("project", "docs"), ("from", from), ("to", LAST)];
            let message = operator.post(endpoint, &pairs).await.refused(400, "bad_input");
            assert!(message.contains("1,100 days"), "{endpoint}: {message}");
        }
        for path in ["page-views", "page-views/daily"] {
            let path = format!("/api/v1/projects/docs/{path}?{query}");
            let response = client.send(client.request(Method::GET, &path).bearer_auth(&token)).await;
            assert!(
                response.status == 400 && response.text.contains("1,100 days"),
                "{path}: {}",
                response.text
            );
        }
        for tool in ["page_views", "falling_pages"] {
            let result = mcp(&client, &token, tool, [from, LAST]).await;
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(result["isError"] == true && text.contains("1,100 days"), "{tool}: {text}");
        }
        for file in ["csv", "json"] {
            let response = operator.get(&format!("/p/docs/analytics/export.{file}?{query}")).await;
            assert!(response.status == 400 && response.text.contains("1,100 days"), "{}", response.text);
        }
        // The page has the message at the field, with the typed day.
        for more in ["", "&path=/a"] {
            let page = operator.get(&format!("/p/docs/analytics?{query}{more}")).await;
            let has_day = page.text.contains(&format!("value=\"{from}\""));
            assert!(page.status == 400 && page.text.contains("1,100 days") && has_day, "{from}{more}");
        }
    }
}

#[tokio::test]
async fn range_of_1100_days_is_accepted() {
    let app = TestApp::with(at(NOON)).await;
    let operator = app.operator().await;
    let token = create(&operator, &[("scopes", "analytics:read")]).await;
    let client = app.anonymous();
    let path = format!("/api/v1/projects/docs/page-views/daily?from={FIRST}&to={LAST}");
    let response = client.send(client.request(Method::GET, &path).bearer_auth(&token)).await;
    assert_eq!(response.json()["missing_days"], json!([{"from": FIRST, "to": LAST}]));
    let pairs = [("project", "docs"), ("from", FIRST), ("to", LAST)];
    operator.post_json("/api/history/missing", &pairs).await;
    let result = mcp(&client, &token, "page_views", [FIRST, LAST]).await;
    assert_eq!(
        result["structuredContent"]["missing_days"][0],
        json!({"from": FIRST, "to": LAST}),
        "{result}"
    );
}
