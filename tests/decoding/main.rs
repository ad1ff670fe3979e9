//! The decoders of upstream responses, on 10,000 generated responses per invariant and on all stored ones in
//! `fuzz/corpus`, which contains responses that once broke a decoder.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

// The fuzz targets include this file too, where everything in it must be public.
#[expect(unreachable_pub, reason = "the fuzz targets include this file")]
mod invariants;

use std::path::Path;

use clients::upstream::decode;
use proptest::prelude::*;
use proptest::string::string_regex;
use serde_json::{Value, json};

use invariants::{OPTIONAL_FIELDS, full_job};

/// Any JSON value, a few levels deep, with names that the decoders look for.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        3 => prop::sample::select(vec![
            "id", "status", "source", "repository", "ref", "prLink", "createdAt", "totals", "views", "hasMore", "path",
            "human", "ai", "total", "error", "details", "message",
        ])
        .prop_map(str::to_owned),
        1 => text("[a-zA-Z]{0,8}"),
    ];
    any_leaf().prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(name.clone(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn any_leaf() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text(".{0,12}").prop_map(Value::from),
        text("[a.%/?#\\\\ \t\r\n\u{7f}\u{85}]{0,5}").prop_map(Value::from),
    ]
    .boxed()
}

/// Texts that match a pattern. Parses the pattern only once.
fn text(form: &str) -> BoxedStrategy<String> {
    string_regex(form).unwrap().boxed()
}

/// A figure of page views, mostly valid.
fn any_figure() -> impl Strategy<Value = Value> {
    prop_oneof![4 => (0_u32..1_000).prop_map(Value::from), 1 => any_leaf()]
}

/// Bytes that are almost a response.
fn almost(body: &str, cut: prop::sample::Index, byte: u8) -> Vec<u8> {
    let mut bytes = body.as_bytes().to_vec();
    let at = cut.index(bytes.len());
    bytes[at] = byte;
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decoders_survive_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        invariants::job(&bytes);
        invariants::views(&bytes);
        invariants::error_message(&bytes);
    }

    #[test]
    fn any_json_is_a_job_or_an_error(value in any_json()) {
        invariants::job(value.to_string().as_bytes());
    }

    #[test]
    fn any_json_is_page_views_or_an_error(value in any_json()) {
        invariants::views(value.to_string().as_bytes());
    }

    #[test]
    fn any_json_error_body_is_decoded_or_ignored(value in any_json()) {
        invariants::error_message(value.to_string().as_bytes());
    }

    #[test]
    fn damaged_response_satisfies_the_invariants(cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
        invariants::job(&almost(&full_job().to_string(), cut, byte));
        let views = r#"{"totals":{"human":1,"ai":2,"total":3},"views":[{"path":"/","human":1,"ai":2,"total":3}],"hasMore":true}"#;
        invariants::views(&almost(views, cut, byte));
        invariants::error_message(&almost(r#"{"error":"bad","details":[{"message":"limit"}]}"#, cut, byte));
    }

    #[test]
    fn job_needs_only_an_id(
        kept in prop::sample::subsequence(OPTIONAL_FIELDS.to_vec(), 0..OPTIONAL_FIELDS.len()),
    ) {
        let mut job = full_job();
        job.as_object_mut().unwrap().retain(|field, _| field == "id" || kept.contains(&field.as_str()));
        let decoded = decode::job(job.to_string().as_bytes()).unwrap();
        prop_assert_eq!(decoded.id, "job_1");
        prop_assert_eq!(decoded.status == "completed", kept.contains(&"status"));
    }

    #[test]
    fn undocumented_status_is_stored(status in text("\\PC{1,40}")) {
        let mut job = full_job();
        job["status"] = json!(status);
        prop_assert_eq!(decode::job(job.to_string().as_bytes()).unwrap().status, status);
    }

    #[test]
    fn invalid_figures_are_corrected_and_marked(
        figures in prop::collection::vec((any_figure(), any_figure(), any_figure()), 1..4),
        has_more in any::<bool>(),
    ) {
        let row = |(human, ai, total): &(Value, Value, Value)| {
            json!({"path": "/a", "human": human, "ai": ai, "total": total})
        };
        let rows: Vec<Value> = figures.iter().map(row).collect();
        let body = json!({"totals": rows[0], "views": rows, "hasMore": has_more}).to_string();
        let sound = |value: &Value| value.as_u64().is_some_and(|count| count <= decode::LARGEST_COUNT);
        let all_sound = figures.iter().all(|(human, ai, total)| [human, ai, total].into_iter().all(sound));
        let response = decode::page_views(body.as_bytes()).unwrap();
        prop_assert!(!(all_sound && response.corrected), "good figures were called odd: {}", body);
        prop_assert_eq!(response.views.len(), rows.len());
        invariants::views(body.as_bytes());
    }
}

#[test]
fn complete_job_is_decoded_with_every_field() {
    let job = decode::job(full_job().to_string().as_bytes()).unwrap();
    assert_eq!((job.id.as_str(), job.status.as_str()), ("job_1", "completed"));
    assert_eq!((job.repository.as_deref(), job.git_ref.as_deref()), (Some("acme/docs"), Some("main")));
    assert_eq!(job.created_at.unwrap().to_string(), "2026-11-21T09:00:00.250Z");
    assert_eq!(job.archived_at, None);
}

#[test]
fn job_with_an_unusable_id_is_refused() {
    for (id, good) in [
        (json!("job 1/ö"), true),
        (json!(17), true),
        (json!("x".repeat(decode::TEXT_MAX_CHARS)), true),
        (json!("x".repeat(decode::TEXT_MAX_CHARS + 1)), false),
        (json!(""), false),
        (json!("."), false),
        (json!(".."), false),
        (json!("a\u{fffd}"), false),
        (json!(null), false),
        (json!({"id": 1}), false),
    ] {
        assert_eq!(decode::job(json!({ "id": id }).to_string().as_bytes()).is_ok(), good, "{id}");
    }
}

#[test]
fn lone_surrogates_and_huge_numbers_are_accepted() {
    let job = decode::job(br#"{"id":"a","status":"active","model":"m\ud83d","news":1e999}"#).unwrap();
    assert_eq!((job.status.as_str(), job.model.as_deref()), ("active", Some("m\u{fffd}")));
    assert!(decode::job(br#"{"id":"a\ud83d"}"#).is_err());
    let views = decode::page_views(
        br#"{"totals":{"human":1e999,"ai":0,"total":1},"views":[{"path":"/\ud83d","human":1,"ai":0,"total":1}],"hasMore":false}"#,
    )
    .unwrap();
    assert_eq!((views.totals.human, views.views[0].human), (decode::LARGEST_COUNT, 1));
    assert!(views.corrected);
}

#[test]
fn both_error_formats_are_decoded() {
    assert_eq!(decode::error_message(br#"{"error":"no"}"#).as_deref(), Some("no"));
    let detailed = br#"{"error":"bad","details":[{"message":"limit"},{"message":"offset"}]}"#;
    assert_eq!(decode::error_message(detailed).as_deref(), Some("bad; limit; offset"));
    assert_eq!(decode::error_message(b"<html>"), None);
}

/// Runs a decoder on all its stored responses.
fn run_corpus(decoder: &str, invariants: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(decoder);
    let mut count = 0;
    for file in std::fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let outcome = std::panic::catch_unwind(|| invariants(&bytes));
        assert!(outcome.is_ok(), "{} breaks its decoder", path.display());
        count += 1;
    }
    assert!(count > 0, "nothing is stored in {}", folder.display());
}

#[test]
fn stored_job_responses_satisfy_the_invariants() {
    run_corpus("job", invariants::job);
}

#[test]
fn stored_page_view_responses_satisfy_the_invariants() {
    run_corpus("views", invariants::views);
}

#[test]
fn stored_errors_satisfy_the_invariants() {
    run_corpus("error_message", invariants::error_message);
}
