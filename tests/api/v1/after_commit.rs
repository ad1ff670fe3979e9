//! The database fails after a prompt was committed and sent: the answer is the job, never an error, and the same key sends nothing again.

use serde_json::Value;

use super::{ALL_SCOPES, Script};
use crate::helpers::{
    Browser, New, PausedUpstream, Settings, TestApp, TestResponse, intent, json, until, with_batch,
};

/// What cannot be used after the platform has the prompt, each for itself and all at once.
const LOST: [&[&str]; 8] = [
    &["messages"],
    &["drafts"],
    &["sessions"],
    &["job_paths"],
    &["job_tags"],
    &["job_events"],
    &["jobs"],
    &["messages", "jobs", "users", "job_events", "drafts", "sessions", "listed_jobs", "audit"],
];

/// How a prompt is submitted.
#[derive(Clone, Copy, Debug)]
enum By {
    Api,
    Tool,
    Function,
    Form,
}

/// People and a script of an app, with a job to follow up.
struct Scene {
    upstream: PausedUpstream,
    app: TestApp,
    script: Script,
    olga: Browser,
    job: Value,
}

impl Scene {
    async fn set() -> Self {
        let upstream = PausedUpstream::start().await;
        let settings = Settings {
            upstream_url: Some(upstream.url()),
            timeout: std::time::Duration::from_secs(2),
            ..Settings::default()
        };
        let app = TestApp::with(settings).await;
        let (script, olga) = (Script::with(&app, &[("scopes", ALL_SCOPES)]).await, app.operator().await);
        let job = olga.created("The first").await;
        Self { upstream, app, script, olga, job }
    }

    /// The id of the job in the answer to a prompt.
    async fn submit(&self, by: By, follows: bool, (prompt, key): (&str, &str)) -> String {
        let job = self.job["id"].as_str().unwrap();
        let path = if follows {
            format!("/projects/docs/jobs/{job}/messages")
        } else {
            "/projects/docs/jobs".to_owned()
        };
        match by {
            By::Api => {
                let answer = self.script.post(&path, key, &json!({ "prompt": prompt })).await;
                assert!([201, 202].contains(&answer.status), "{}", answer.text);
                answer.json()["id"].as_str().unwrap().to_owned()
            }
            By::Tool => {
                let mut arguments = json!({"project": "docs", "prompt": prompt, "idempotency_key": key});
                if follows {
                    arguments["job"] = json!(job);
                }
                let tool = if follows { "send_follow_up" } else { "start_job" };
                let result = self.script.call(tool, arguments).await;
                assert_ne!(result["isError"], true, "{result}");
                result["structuredContent"]["id"].as_str().unwrap().to_owned()
            }
            By::Function => {
                let answer = self.function(follows, prompt, key).await;
                assert_eq!(answer.status, 200, "{}", answer.text);
                answer.json()["id"].as_str().unwrap().to_owned()
            }
            By::Form => {
                let (endpoint, fields) = self.fields(follows, prompt, key);
                let answer = self.olga.submit(endpoint, &fields, Some("/p/docs/jobs/new")).await;
                assert!([302, 303].contains(&answer.status), "{} {}", answer.status, answer.text);
                answer.location().strip_prefix("/p/docs/jobs/").unwrap().to_owned()
            }
        }
    }

    fn fields<'a>(
        &'a self,
        follows: bool,
        prompt: &'a str,
        key: &'a str,
    ) -> (&'static str, Vec<(&'a str, &'a str)>) {
        let mut fields = vec![("project", "docs"), ("prompt", prompt), ("intent", key)];
        if !follows {
            return ("/api/jobs/create", fields);
        }
        fields.push(("job", self.job["id"].as_str().unwrap()));
        ("/api/jobs/message", fields)
    }

    async fn function(&self, follows: bool, prompt: &str, key: &str) -> TestResponse {
        let (endpoint, fields) = self.fields(follows, prompt, key);
        self.olga.post(endpoint, &fields).await
    }

    /// Once the platform has the prompt, these tables do not exist any more.
    async fn lose(&self, tables: &[&str], prompt: &str) {
        until("the platform has it", async || (self.upstream.posts_of(prompt) == 1).then_some(())).await;
        self.rename(tables, "", "_lost").await;
        self.upstream.resume();
    }

    async fn rename(&self, tables: &[&str], from: &str, to: &str) {
        for table in tables {
            self.app.ledger().execute(format!("ALTER TABLE {table}{from} RENAME TO {table}{to}")).await;
        }
    }

    /// The prompts that reached the platform.
    async fn is_sent_once(&self, by: By, follows: bool) {
        for (number, tables) in LOST.iter().enumerate() {
            let (prompt, key) = (format!("{by:?} {follows} {number}"), intent());
            self.upstream.pause();
            let (id, ()) =
                tokio::join!(self.submit(by, follows, (&prompt, &key)), self.lose(tables, &prompt));
            self.rename(tables, "_lost", "").await;
            let job = json!({ "id": id });
            until("its outcome is recorded", async || {
                let job = self.olga.job(&job).await;
                let last = job["follow_ups"].as_array().unwrap().last().cloned();
                let state = if follows { last.unwrap()["state"].clone() } else { job["state"].clone() };
                [json!("active"), json!("accepted")].contains(&state).then_some(())
            })
            .await;
            assert_eq!(self.submit(by, follows, (&prompt, &key)).await, id, "{prompt} without {tables:?}");
            assert_eq!(self.upstream.posts_of(&prompt), 1, "{prompt} without {tables:?}");
        }
    }
}

#[tokio::test]
async fn job_of_the_api_is_the_answer_although_the_database_fails() {
    let scene = Scene::set().await;
    for follows in [false, true] {
        scene.is_sent_once(By::Api, follows).await;
    }
}

#[tokio::test]
async fn job_of_a_tool_is_the_answer_although_the_database_fails() {
    let scene = Scene::set().await;
    for follows in [false, true] {
        scene.is_sent_once(By::Tool, follows).await;
    }
}

#[tokio::test]
async fn job_of_a_page_is_the_answer_although_the_database_fails() {
    let scene = Scene::set().await;
    for follows in [false, true] {
        scene.is_sent_once(By::Function, follows).await;
    }
}

#[tokio::test]
async fn plain_form_leads_to_its_job_although_the_database_fails() {
    let scene = Scene::set().await;
    for follows in [false, true] {
        scene.is_sent_once(By::Form, follows).await;
    }
}

#[tokio::test]
async fn started_batch_is_the_answer_although_it_cannot_be_read() {
    let scene = Scene::set().await;
    let batch = New::batch("Improve {{page}}", "page\n/a\n/b\n").id(&scene.olga).await;
    // The row of the batch is in another project as soon as it is started, so that it is not found.
    scene
        .app
        .ledger()
        .also("UPDATE OF started_at ON batches", "UPDATE batches SET project = 'lost' WHERE id = NEW.id")
        .await;
    let answer = with_batch(&scene.olga, "start", &batch).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let started = answer.json();
    assert_eq!(
        (&started["id"], &started["waiting"], &started["total"]),
        (&json!(batch), &json!(2), &json!(2))
    );
    assert!(started["started_at"].is_string() && started["preview"].is_null(), "{started}");
    until("both are sent", async || (scene.upstream.prompts().len() == 3).then_some(())).await;
}

/// A batch is prepared although its draft cannot be removed.
#[tokio::test]
async fn draft_that_cannot_be_removed_hides_no_prepared_batch() {
    let scene = Scene::set().await;
    scene.app.ledger().refuse("DELETE ON drafts", "1 = 1").await;
    let batch = New::batch("Improve {{page}}", "page\n/a\n").post(&scene.olga).await;
    assert_eq!((batch.status, &batch.json()["total"]), (200, &json!(1)), "{}", batch.text);
    let job = scene.olga.create("Fix typos", &intent()).await;
    assert_eq!((job.status, &job.json()["state"]), (200, &json!("active")), "{}", job.text);
    scene.app.ledger().allow().await;
}
