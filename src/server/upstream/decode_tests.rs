#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn full_job() -> Value {
    json!({
        "id": "job_1", "status": "completed", "source": {"repository": "acme/docs", "ref": "main"},
        "model": "m-1", "prLink": "https://git.example/1", "createdAt": "2026-11-21T10:00:00.250+01:00",
        "archivedAt": null, "news": [1, 2],
    })
}

/// Any JSON value, a few levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-zA-Z]{1,8}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

#[test]
fn a_full_job_is_taken_whole() {
    let job = job(full_job().to_string().as_bytes()).unwrap();
    assert_eq!(job.id, "job_1");
    assert_eq!(job.repository.as_deref(), Some("acme/docs"));
    assert_eq!(job.created_at.unwrap().to_string(), "2026-11-21T09:00:00.250Z");
    assert_eq!(job.archived_at, None);
}

#[test]
fn times_are_taken_in_any_iso_8601_form() {
    for text in [
        "2026-11-21T10:00:00Z",
        "2026-11-21T10:00Z",
        "20261121T100000Z",
        "2026-11-21T11:00:00+0100",
        "2026-W47-6T10:00:00Z",
    ] {
        assert_eq!(
            instant(&json!(text)).map(|at| at.to_string()).as_deref(),
            Some("2026-11-21T10:00:00Z"),
            "{text}"
        );
    }
    assert_eq!(instant(&json!("yesterday")), None);
}

#[test]
fn counts_may_be_floats_and_are_never_negative() {
    assert_eq!(count(&json!(12.0)), Some(12));
    assert_eq!(count(&json!(-3)), Some(0));
    assert_eq!(count(&json!(1e300)), Some(1 << 53));
    assert_eq!(count(&json!("12")), None);
}

#[test]
fn both_error_shapes_are_understood() {
    assert_eq!(error_message(br#"{"error":"no"}"#).as_deref(), Some("no"));
    let detailed = br#"{"error":"bad","details":[{"message":"limit"},{"message":"offset"}]}"#;
    assert_eq!(error_message(detailed).as_deref(), Some("bad; limit; offset"));
    assert_eq!(error_message(b"<html>"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_bytes_crash_a_decoder(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = (job(&bytes), views(&bytes), error_message(&bytes));
    }

    #[test]
    fn a_job_with_an_id_is_a_job_whatever_its_other_fields_are(
        field in prop::sample::select(vec!["status", "source", "model", "prLink", "createdAt", "archivedAt"]),
        value in any_json(),
    ) {
        let mut object = full_job();
        object[field] = value;
        prop_assert_eq!(job(object.to_string().as_bytes()).unwrap().id, "job_1");
        object.as_object_mut().unwrap().remove(field);
        prop_assert_eq!(job(object.to_string().as_bytes()).unwrap().id, "job_1");
    }

    #[test]
    fn page_views_survive_any_row(row in any_json(), has_more in any::<bool>()) {
        let body = json!({"totals": {"human": 1, "ai": 2, "total": 3}, "views": [row], "hasMore": has_more});
        let answer = views(body.to_string().as_bytes()).unwrap();
        prop_assert_eq!(answer.has_more, has_more);
        prop_assert_eq!(answer.totals.total, 3);
    }
}
