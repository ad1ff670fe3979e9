//! The page and the exports of the audit log: access, content, and names with special characters.

use base::clock::Clock;
use model::audit::{Action, AuditEvent};
use model::time::Timestamp;
use model::user::Role;
use serde_json::Value;

use super::records;
use crate::helpers::work::work_at;
use crate::helpers::{Settings, TestApp};

const FILES: [&str; 2] = ["/admin/audit/export.csv", "/admin/audit/export.json"];

fn frozen() -> Settings {
    let clock = Clock::frozen("2026-11-20T12:00:00Z".parse::<Timestamp>().unwrap());
    Settings { clock, ..Settings::default() }
}

/// An app whose audit log has `count` exports by olga, one per minute.
async fn with_exports(count: i64) -> TestApp {
    let app = TestApp::with(frozen()).await;
    let store = &app.state().store;
    let olga = store.user_by_name("olga").await.unwrap().unwrap().actor("192.0.2.7");
    for n in 0..count {
        let event = AuditEvent::new(Action::Export)
            .in_project(&"docs".parse().unwrap())
            .with_detail(format!("file {n}"));
        store.observe(&olga, &event, app.clock().now().plus_seconds(60 * n)).await.unwrap();
    }
    app
}

/// The numbers of the records that a page shows. The embedded data for the browser contains the same text again.
fn shown(page: &str) -> Vec<i64> {
    let numbers = page.split(">record ").skip(1);
    numbers.filter_map(|rest| rest.split_once('<')?.0.parse().ok()).collect()
}

#[tokio::test]
async fn only_administrators_see_and_export_the_audit_log() {
    let app = TestApp::with(frozen()).await;
    for name in ["vera", "olga"] {
        let person = app.sign_in(name).await;
        let page = person.get("/admin/audit?check=on").await;
        assert!(page.status == 403 && !page.text.contains(">record "), "{}", page.text);
        person.post("/api/audit/list", &[]).await.refused(403, "forbidden");
        for file in FILES {
            assert_eq!(person.get(file).await.status, 403, "{file}");
        }
    }
    for file in FILES {
        assert_eq!(app.anonymous().get(file).await.status, 303, "{file}");
    }
    assert!(records(&app).await.iter().all(|record| record.action != "audit_export"));
}

#[tokio::test]
async fn audit_log_is_paged_newest_first() {
    let app = with_exports(120).await;
    let ada = app.sign_in("ada").await;
    let first = ada.get("/admin/audit").await;
    assert_eq!(first.status, 200, "{}", first.text);
    assert_eq!(shown(&first.text), (76..=125).rev().collect::<Vec<i64>>());
    assert!(first.text.contains("/admin/audit?before=76"), "{}", first.text);
    let second = ada.get("/admin/audit?before=76").await;
    assert_eq!(shown(&second.text), (26..76).rev().collect::<Vec<i64>>());
    let third = ada.get("/admin/audit?before=26").await;
    assert_eq!(shown(&third.text), (1..26).rev().collect::<Vec<i64>>());
    assert!(!third.text.contains("rel=\"next\""));
}

#[tokio::test]
async fn records_of_jobs_are_linked_by_their_titles_which_they_do_not_store() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let job = olga.created("Explain the zebra crossing\n\nAnd the traffic lights").await;
    let ada = app.sign_in("ada").await;
    let page = ada.page("/admin/audit?action=job_start").await;
    let href = format!("/p/docs/jobs/{}", job["id"].as_str().unwrap());
    assert!(page.contains(&href) && page.contains(">Explain the zebra crossing<"), "{page}");
    assert!(!page.contains("traffic lights"), "{page}");
    for file in FILES {
        let file = ada.get(file).await.text;
        assert!(file.contains("job_start") && !file.contains("zebra"), "{file}");
    }
}

#[tokio::test]
async fn url_filters_narrow_the_page_and_the_export() {
    let app = with_exports(3).await;
    let ada = app.sign_in("ada").await;
    app.anonymous().sign_in("olga", "a wrong password").await;
    for (query, numbers) in [
        ("person=olga", &[9, 7, 6, 5][..]),
        ("person=olga&outcome=refused", &[9]),
        ("action=export", &[7, 6, 5]),
        ("action=sign_in&outcome=done", &[8]),
        ("project=docs&before=7", &[6, 5]),
        ("project=api", &[]),
        ("from=2026-11-20&to=2026-11-20", &[9, 8, 7, 6, 5, 4, 3, 2, 1]),
        ("from=2026-11-21", &[]),
        ("to=2026-11-19", &[]),
        ("person=nobody", &[]),
    ] {
        let page = ada.get(&format!("/admin/audit?{query}")).await;
        // The exports of this test are records too.
        let mut on_page = shown(&page.text);
        on_page.retain(|number| *number <= 9);
        assert_eq!((page.status, &on_page[..]), (200, numbers), "{query}");
        assert_eq!(page.text.contains("No matching records"), numbers.is_empty(), "{query}");
        let filters = query.replace("&before=7", "").replace('&', "&amp;");
        let file = format!("href=\"/admin/audit/export.csv?{filters}\"");
        assert!(page.text.contains(&file), "{query}: {}", page.text);
        let file: Value = ada.get(&format!("/admin/audit/export.json?{query}")).await.json();
        let all = file.as_array().unwrap().iter().filter(|row| row["action"] != "audit_export");
        let in_file: Vec<i64> = all.map(|row| row["number"].as_i64().unwrap()).collect();
        assert_eq!(in_file, numbers, "{query}");
    }
    for wrong in
        ["action=x", "outcome=x", "from=x", "before=x", "from=2026-11-20&to=2026-11-19", "project=../x"]
    {
        let page = ada.get(&format!("/admin/audit?{wrong}")).await;
        assert!(page.text.contains("notice-bad") && shown(&page.text).is_empty(), "{wrong}: {}", page.text);
        assert_eq!(ada.get(&format!("/admin/audit/export.csv?{wrong}")).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn export_has_every_record_without_spreadsheet_formulas() {
    let app = with_exports(2_300).await;
    let ada = app.sign_in("ada").await;
    let store = &app.state().store;
    store
        .add_user((&work_at(app.clock().now())).into(), "=cmd|' /C calc'!A0", Role::Viewer, "hash")
        .await
        .unwrap();
    let odd = store.user_by_name("=cmd|' /C calc'!A0").await.unwrap().unwrap().actor("");
    store.observe(&odd, &AuditEvent::new(Action::SignOut), app.clock().now()).await.unwrap();
    let response = ada.get("/admin/audit/export.csv").await;
    assert_eq!(response.header("content-disposition"), "attachment; filename=\"audit-2026-11-20.csv\"");
    let lines: Vec<&str> = response.text.strip_prefix('\u{feff}').unwrap().trim_end().split("\r\n").collect();
    let unquoted = |line: &str| line.trim_matches('"').replace("\",\"", ",");
    assert_eq!(unquoted(lines[0]), "number,at,who,from,action,outcome,project,subject,detail,who_id");
    assert_eq!(lines.len(), 2_300 + 9);
    assert!(lines[2].contains(",\"'=cmd|' /C calc'!A0\","), "{}", lines[2]);
    assert!(
        unquoted(lines[2_304]).starts_with("5,2026-11-20T12:00:00Z,olga,192.0.2.7,export,done,docs,,file 0,"),
        "{}",
        lines[2_304]
    );
    let json: Value = ada.get("/admin/audit/export.json").await.json();
    assert_eq!(json.as_array().unwrap().len(), 2_300 + 9);
}

#[tokio::test]
async fn audit_page_escapes_every_field() {
    let app = TestApp::with(frozen()).await;
    let ada = app.sign_in("ada").await;
    let store = &app.state().store;
    let odd = "\"><script>alert(1)</script>";
    let mut by = store.user_by_name("olga").await.unwrap().unwrap().actor(odd);
    by.name = odd.to_owned();
    for action in Action::all() {
        let event = AuditEvent::new(action).in_project(&"docs".parse().unwrap()).on(odd).with_detail(odd);
        store.observe(&by, &event, app.clock().now()).await.unwrap();
    }
    let page = ada.get("/admin/audit").await;
    // As many as fit on a page.
    assert_eq!(shown(&page.text).len(), (Action::all().count() + 5).min(50));
    assert!(!page.text.contains("<script>alert"), "{}", page.text);
    assert!(page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{}", page.text);
}

#[tokio::test]
async fn audit_page_verifies_the_chain_on_request() {
    let app = with_exports(5).await;
    let ada = app.sign_in("ada").await;
    let page = ada.get("/admin/audit").await;
    assert!(page.text.contains("/admin/audit?check=on") && !page.text.contains("whole and in order"));
    let last = app.state().store.audit_link(10).await.unwrap().unwrap();
    let page = ada.get("/admin/audit?check=on").await;
    assert!(page.text.contains("whole and in order, up to record 10."), "{}", page.text);
    assert!(page.text.contains(&last.to_string()), "{}", page.text);
    let ledger = app.ledger();
    ledger.drop_trigger("audit_rows_stay_as_they_are", "audit").await;
    ledger.run("UPDATE audit SET actor = 'vera' WHERE number = 4").await;
    let page = ada.get("/admin/audit?check=on").await;
    assert!(page.text.contains("record 4 was changed"), "{}", page.text);
}
