//! Agent jobs: create, get and follow-up, and the fields of their responses.

use std::time::Duration;

use serde_json::{Value, json};

use crate::report::{Finding, Report, ensure};
use crate::shape::{agent_error, answered, instant, not_before, text, text_or_null, url_or_null};
use crate::upstream::Upstream;

/// The emulator archives a job within this time of its end.
const UNTIL_ARCHIVED: Duration = Duration::from_secs(100 * 86_400);
const STATUSES: [&str; 4] = ["active", "completed", "archived", "failed"];
const NO_WRITES: &str = "it would write; WRITES=1 allows it";
const NO_JOB: &str = "no job is known; JOB=… names one, WRITES=1 allows to create one";
/// An id that does not exist.
const UNKNOWN_JOB: &str = "docket-conformance-no-such-job";

pub(crate) async fn check(upstream: &Upstream, report: &mut Report) {
    let created = create(upstream, report).await;
    let job = created.as_ref().and_then(|job| job["id"].as_str()).or(upstream.job.as_deref());
    get(upstream, report, job).await;
    follow_up(upstream, report, created.as_ref()).await;
    odd_id(upstream, report).await;
    unknown_project(upstream, report).await;
    bad_prompts(upstream, report, created.as_ref()).await;
}

async fn create(upstream: &Upstream, report: &mut Report) -> Option<Value> {
    let name = "create: a prompt is answered with 201 and a job (part 2)";
    if !upstream.writes {
        report.left_out(name, NO_WRITES);
        return None;
    }
    let prompt = "A check of the interface. Change nothing and open no pull request.";
    let response = upstream.create(&json!({ "prompt": prompt })).await;
    report.point(name, answered(&response, &[201]));
    let job = response.json();
    fields(report, "create", &job);
    report.point("create: prLink is null while the job is active", without_pull_request_while_active(&job));
    job["id"].is_string().then_some(job)
}

async fn get(upstream: &Upstream, report: &mut Report, job: Option<&str>) {
    let unknown = upstream.job(UNKNOWN_JOB).await;
    report.point(
        "get: an unknown job is 404 (part 2)",
        answered(&unknown, &[404]).and_then(|()| agent_error(&unknown)),
    );
    let Some(id) = job else {
        return report.left_out("get: a job is answered with 200 and every field (part 2)", NO_JOB);
    };
    let response = upstream.job(id).await;
    report.point("get: a job is answered with 200 (part 2)", answered(&response, &[200]));
    let job = response.json();
    fields(report, "get", &job);
    report.point("get: the job is the requested one", ensure(job["id"] == id, || job["id"].to_string()));
    report.point("get: prLink is null while the job is active", without_pull_request_while_active(&job));
    let ends = "get: a job ends as completed, archived or failed";
    let Some(clock) = &upstream.clock else {
        return report.left_out(ends, "it takes as long as the job does");
    };
    clock.advance(Duration::from_secs(60));
    let ended = upstream.job(id).await.json();
    report.point(
        ends,
        ensure(STATUSES[1..].iter().any(|status| ended["status"] == *status), || ended.to_string()),
    );
    report.point("get: prLink of a job that has ended is a URL or null", url_or_null(&ended, "prLink"));
    clock.advance(UNTIL_ARCHIVED);
    let archived = upstream.job(id).await.json();
    report.point("get: an archived job has the instant of its archival", {
        ensure(archived["status"] == "archived", || format!("status is {}", archived["status"]))
            .and_then(|()| instant(&archived, "archivedAt"))
            .and_then(|()| not_before(&archived, "archivedAt", "createdAt"))
    });
}

async fn follow_up(upstream: &Upstream, report: &mut Report, created: Option<&Value>) {
    let name = "follow-up: a prompt is answered with 200 and the job (part 2)";
    let Some(job) = created else { return report.left_out(name, NO_WRITES) };
    let id = job["id"].as_str().unwrap_or_default();
    let response = upstream.follow_up(id, &json!({ "prompt": "Still change nothing." })).await;
    report.point(name, answered(&response, &[200]));
    let followed = response.json();
    fields(report, "follow-up", &followed);
    report.point(
        "follow-up: the job keeps its id",
        ensure(followed["id"] == id, || followed["id"].to_string()),
    );
    report.point(
        "follow-up: the job keeps its instant of creation",
        ensure(followed["createdAt"] == job["createdAt"], || followed["createdAt"].to_string()),
    );
    let unknown = upstream.follow_up(UNKNOWN_JOB, &json!({ "prompt": "x" })).await;
    report.point(
        "follow-up: an unknown job is 404 (part 2)",
        answered(&unknown, &[404]).and_then(|()| agent_error(&unknown)),
    );
}

/// An id is any text.
async fn odd_id(upstream: &Upstream, report: &mut Report) {
    let name = "get: a job is found by an id that a path must escape";
    if upstream.clock.is_none() {
        return report.left_out(name, "only the emulator makes such an id on demand");
    }
    let created = upstream.create(&json!({ "prompt": "emulator:odd-id" })).await.json();
    let id = created["id"].as_str().unwrap_or_default().to_owned();
    let found = upstream.job(&id).await;
    report.point(name, {
        answered(&found, &[200])
            .and_then(|()| ensure(id.contains(['/', '?', '#', '%', ' ']), || format!("{id} is not odd")))
            .and_then(|()| ensure(found.json()["id"] == id, || found.json()["id"].to_string()))
    });
}

async fn unknown_project(upstream: &Upstream, report: &mut Report) {
    let (job, views) = upstream.of_unknown_project().await;
    let refused = |status: u16| ensure((400..500).contains(&status), || format!("status {status}"));
    report.point("get: a job of an unknown project is refused (part 2)", refused(job.status));
    report.point("views: those of an unknown project are refused (part 2)", refused(views.status));
    let name = "create: a prompt that is not sent as JSON is refused (emulator)";
    if upstream.clock.is_none() {
        return report.left_out(name, "a tolerant platform would start a job");
    }
    report.point(name, refused(upstream.create_as("text/plain", "{\"prompt\":\"x\"}").await.status));
}

async fn bad_prompts(upstream: &Upstream, report: &mut Report, created: Option<&Value>) {
    let create = "create: a prompt has at least one character (part 2)";
    let follow_up = "follow-up: a prompt has at least one character (part 2)";
    let Some(job) = created else {
        report.left_out(create, NO_WRITES);
        return report.left_out(follow_up, NO_WRITES);
    };
    let empty = json!({ "prompt": "" });
    let response = upstream.create(&empty).await;
    report.point(create, answered(&response, &[400]).and_then(|()| agent_error(&response)));
    let response = upstream.follow_up(job["id"].as_str().unwrap_or_default(), &empty).await;
    report.point(follow_up, answered(&response, &[400]).and_then(|()| agent_error(&response)));
}

/// One point for each field of an agent job.
fn fields(report: &mut Report, operation: &str, job: &Value) {
    let source = &job["source"];
    for (point, finding) in [
        ("id is a text", text(job, "id")),
        ("status is active, completed, archived or failed", known_status(job)),
        ("source.repository is a text", text(source, "repository")),
        ("source.ref is a text or null", text_or_null(source, "ref")),
        ("model is a text", text(job, "model")),
        ("prLink is a URL or null", url_or_null(job, "prLink")),
        ("createdAt is an instant in ISO 8601", instant(job, "createdAt")),
        ("archivedAt is an instant in ISO 8601, or null", archived(job)),
    ] {
        report.point(&format!("{operation}: {point}"), finding);
    }
}

fn known_status(job: &Value) -> Finding {
    ensure(STATUSES.iter().any(|status| job["status"] == *status), || format!("status is {}", job["status"]))
}

fn without_pull_request_while_active(job: &Value) -> Finding {
    ensure(job["status"] != "active" || job["prLink"].is_null(), || format!("prLink is {}", job["prLink"]))
}

/// The value for a job that is not archived is not specified.
fn archived(job: &Value) -> Finding {
    if job["status"] == "archived" || job["archivedAt"].is_string() {
        instant(job, "archivedAt")
    } else {
        Ok(())
    }
}
