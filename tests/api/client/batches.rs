//! `docket batch`: starts, awaits, shows and cancels batches.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Finished, Machine};
use crate::api_tokens::create;
use crate::helpers::{Installation, New, Settings, TestApp, intent};
use crate::queue::per_hour;
use crate::v1::batches::{PULL_REQUEST, app_with};

const PROMPT: &str = "Check {{page}} against the SDK.";
const START: [&str; 5] = ["batch", "start", "--project", "docs", PROMPT];

/// The id, the rest of the first line, and the address of a batch that was started.
fn begin(finished: &Finished) -> (String, String, String) {
    let mut lines = finished.stdout.lines();
    let (id, rest) =
        lines.next().and_then(|line| line.split_once("  ")).unwrap_or_else(|| panic!("{finished:?}"));
    (id.to_owned(), rest.to_owned(), lines.next().unwrap_or_default().to_owned())
}

async fn batches(app: &TestApp) -> i64 {
    app.ledger().count("SELECT COUNT(*) FROM batches").await
}

#[tokio::test]
async fn batch_is_started_awaited_and_shown() {
    let app = app_with(Settings::default()).await;
    let machine = Machine::of(&app).await;
    let values = ["--values", "/merge", "--values", "\"/completed and, more\"", "--wait"];
    let finished = machine.run(&[&START[..], &values].concat()).await;
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let (id, first, address) = begin(&finished);
    assert!(first.contains("of 2 ended: "), "{finished:?}");
    assert_eq!(address, format!("{}/p/docs/batches/{id}", app.origin()));
    let end: Vec<&str> = finished.stdout.lines().skip(2).collect();
    assert_eq!(end[0], format!("{id}  2 of 2 ended: 2 completed"));
    let [merged, completed] = end[1..] else { panic!("{finished:?}") };
    assert!(merged.ends_with(&format!("  completed  {PULL_REQUEST}  /merge")), "{merged}");
    assert!(completed.ends_with("  completed  /completed and, more"), "{completed}");
    let job = merged.split_once("  ").unwrap().0;
    assert_eq!(machine.run(&["job", "show", "--project", "docs", job]).await.code, Some(0));

    let shown = machine.run(&["batch", "show", "--project", "docs", &id]).await;
    assert_eq!((shown.code, shown.stdout.lines().count()), (Some(0), 4), "{shown:?}");
    let json = machine.json(&["batch", "show", "--project", "docs", &id, "--wait"]).await;
    assert_eq!((&json["id"], json["items"].as_array().unwrap().len()), (&Value::from(id), 2));
}

#[tokio::test]
async fn exit_code_names_the_worst_outcome() {
    let app = app_with(Settings::default()).await;
    let machine = Machine::of(&app).await;
    for values in [["/completed", "/failed"], ["/refuse", "/merge"]] {
        let list = ["--values", values[0], "--values", values[1], "--wait", "--timeout", "5m"];
        let finished = machine.run(&[&START[..], &list].concat()).await;
        assert_eq!(finished.code, Some(3), "{values:?}: {finished:?}");
        assert!(!finished.stderr.contains("not all jobs of the batch have ended"), "{finished:?}");
        let (id, ..) = begin(&finished);
        let shown = machine.run(&["batch", "show", "--project", "docs", &id]).await;
        assert_eq!(shown.code, Some(3), "{shown:?}");
    }
    let moving = machine.run(&[&START[..], &["--values", "/merge", "--values", "/active"]].concat()).await;
    let (id, ..) = begin(&moving);
    let show = ["batch", "show", "--project", "docs", &id];
    let late = machine.run(&[&show[..], &["--wait", "--timeout", "1s"]].concat()).await;
    assert_eq!((moving.code, late.code), (Some(0), Some(5)), "{moving:?} {late:?}");
    assert!(late.stderr.contains("not all jobs of the batch have ended after 1s"), "{late:?}");
    assert_eq!(machine.run(&show).await.code, Some(0));
    let missing = "01920000-0000-7000-8000-000000000001";
    assert_eq!(machine.run(&["batch", "show", "--project", "docs", missing]).await.code, Some(1));
}

#[tokio::test]
async fn values_come_from_a_file_or_standard_input() {
    let app = app_with(per_hour(4)).await;
    let machine = Machine::of(&app).await;
    New::template("In a tone", "Check {{page}} in a {{tone=calm}} tone").id(&app.operator().await).await;
    let list = "\u{feff}page,tone\r\n/a,loud\r\n\r\n/b\n\"/c, d\",\"calm, kind\"\n";
    std::fs::write(machine.installation.path("values.csv"), list).unwrap();
    let start = ["batch", "start", "--project", "docs", "--template", "In a tone", "--json", "--file"];
    let prompts = |finished: &Finished| -> Vec<String> {
        assert_eq!(finished.code, Some(0), "{finished:?}");
        let batch: Value = serde_json::from_str(&finished.stdout).unwrap();
        let items = batch["items"].as_array().unwrap().iter();
        items.map(|item| item["job"]["prompt"].as_str().unwrap().to_owned()).collect()
    };
    let expected = ["Check /a in a loud tone", "Check /b in a calm tone", "Check /c, d in a calm, kind tone"];
    let path = machine.installation.path("values.csv");
    assert_eq!(prompts(&machine.run(&[&start[..], &[path.to_str().unwrap()]].concat()).await), expected);
    assert_eq!(prompts(&machine.run_with_input(&[&start[..], &["-"]].concat(), list).await), expected);
    let both = [&["batch", "start", "--project", "docs", "--file", "-", "-"][..]].concat();
    for (arguments, code) in [
        (both, 2),
        (START.to_vec(), 2),
        ([&start[..], &["nowhere.csv"]].concat(), 1),
        ([&START[..], &["--values", "/a,calm"]].concat(), 1),
        ([&START[..], &["--values", "/a", "--key", ""]].concat(), 2),
    ] {
        let refused = machine.run(&arguments).await;
        assert_eq!(refused.code, Some(code), "{arguments:?}: {refused:?}");
    }
    assert_eq!(batches(&app).await, 2);
    // A title line is one wherever the values on the command line are.
    let more = [&start[..], &[path.to_str().unwrap(), "--values", "/e"]].concat();
    assert_eq!(prompts(&machine.run(&more).await), [&expected[..], &["Check /e in a calm tone"]].concat());
}

#[tokio::test]
async fn run_with_the_same_key_finds_the_batch() {
    let app = app_with(per_hour(4)).await;
    let machine = Machine::of(&app).await;
    let start = [&START[..], &["--values", "/a", "--key", "release/v1.2.3"]].concat();
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        ids.insert(machine.json(&start).await["id"].to_string());
    }
    assert_eq!((ids.len(), batches(&app).await), (1, 1));
    let other = machine.run(&[&start[..], &["--values", "/b"]].concat()).await;
    assert!(other.code == Some(1) && other.stderr.contains("idempotency key"), "{other:?}");
    let without = machine.run(&[&START[..], &["--values", "/a"]].concat()).await;
    assert!(without.stderr.contains("repeat it with its idempotency key: --key "), "{without:?}");
    assert_eq!(batches(&app).await, 2);
}

#[tokio::test]
async fn queued_prompts_are_cancelled() {
    let app = app_with(per_hour(1)).await;
    app.operator().await.create("In the way", &intent()).await;
    let machine = Machine::of(&app).await;
    let batch = machine.json(&[&START[..], &["--values", "/a", "--values", "/b"]].concat()).await;
    let cancel = ["batch", "cancel", "--project", "docs", batch["id"].as_str().unwrap()];
    for _ in 0..2 {
        let cancelled = machine.run(&cancel).await;
        assert_eq!(cancelled.code, Some(0), "{cancelled:?}");
        assert!(cancelled.stdout.contains("2 of 2 ended: 2 cancelled"), "{cancelled:?}");
    }
    let show = ["batch", "show", "--project", "docs", batch["id"].as_str().unwrap(), "--wait"];
    assert_eq!(machine.run(&show).await.code, Some(3));
}

#[tokio::test]
async fn token_without_reading_starts_a_batch() {
    let app = app_with(per_hour(4)).await;
    let token = create(&app.operator().await, &[("scopes", "jobs:write")]).await;
    let installation = Installation::new().set("DOCKET_SERVER", &app.origin()).set("DOCKET_TOKEN", &token);
    let machine = Machine { installation, token };
    let started = machine.run(&[&START[..], &["--values", "/a"]].concat()).await;
    assert_eq!((started.code, started.stdout.lines().count()), (Some(0), 2), "{started:?}");
    let (id, _, address) = begin(&started);
    assert_eq!(address, format!("{}/p/docs/batches/{id}", app.origin()));
}
