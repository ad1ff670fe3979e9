//! The reference: its requests and responses work as they are.

use model::api_reference::Endpoint;
use serde_json::Value;
use web::http::reference;

use super::described::{assert_fits, success};
use crate::helpers::Installation;

fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    reference().groups.iter().flat_map(|group| &group.endpoints)
}

#[test]
fn responses_of_the_reference_are_as_described() {
    for endpoint in endpoints() {
        let what = format!("{} {}", endpoint.method, endpoint.path);
        let response = endpoint.response.as_deref().unwrap_or_else(|| panic!("{what} has no response"));
        let response: Value = serde_json::from_str(&response.replace("{project}", "docs")).unwrap();
        assert_fits(success(&endpoint.method, &endpoint.path), &response, &what);
    }
}

#[tokio::test]
async fn commands_of_the_reference_work_in_a_shell() {
    let installation = Installation::new();
    let demo = installation.serve(&["demo", "--addr", "127.0.0.1:0"]);
    let origin = demo.output_after("Address").await;
    demo.output_after("Username").await;
    let output = demo.output();
    let (_, token) = output.split_once("Bearer ").unwrap();
    let token = token.split('\'').next().unwrap().to_owned();
    let (mut job, mut batch) = (String::new(), String::new());
    for (number, endpoint) in endpoints().enumerate() {
        let what = format!("{} {}", endpoint.method, endpoint.path);
        let command = endpoint.command(&origin, "acme-docs");
        let variables = format!("DOCKET_TOKEN={token}; KEY=key-{number}; JOB={job}; BATCH={batch}");
        let ended = installation.run_by(&format!("{variables}\n{command}"), &[]);
        let response: Value =
            serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{what}: {ended:?}"));
        let id = response["id"].as_str().unwrap_or_default().to_owned();
        match &*what {
            "POST /api/v1/projects/{project}/jobs" => job = id,
            "POST /api/v1/projects/{project}/batches" => batch = id,
            // The outcome of its prompt is known.
            "POST /api/v1/projects/{project}/jobs/{job}/resolve" => {
                assert_eq!(
                    (&response["status"], &response["errors"]),
                    (&409.into(), &Value::Array(Vec::new()))
                );
                continue;
            }
            _ => {}
        }
        assert!(response["code"].is_null(), "{what}: {response}\n{command}");
        assert_fits(success(&endpoint.method, &endpoint.path), &response, &what);
    }
    demo.signal("INT");
    assert_eq!(demo.ended().await.code(), Some(0), "{}", demo.output());
}
