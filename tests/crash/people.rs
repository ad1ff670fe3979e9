//! Users who post prompts, some of them twice at once, and again without a response.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;

use super::random::Random;
use super::server::{Server, Visitor};

/// How often a user posts a form before giving up.
const PATIENCE: u32 = 40;

/// The users' records of their prompts, by text.
#[derive(Default)]
pub(crate) struct Book(Mutex<HashMap<String, Entry>>);

#[derive(Clone, Default)]
pub(crate) struct Entry {
    /// How often it was posted.
    pub(crate) posts: u64,
    /// The jobs in responses: one, or none without a response.
    pub(crate) jobs: Vec<String>,
    /// Unexpected responses.
    pub(crate) strange: Vec<String>,
}

pub(crate) struct People {
    tasks: JoinSet<()>,
    enough: Arc<AtomicBool>,
}

/// One of the users.
struct Person {
    name: u64,
    visitor: Visitor,
    random: Random,
    book: Arc<Book>,
    /// Accepted jobs that can have follow-ups.
    jobs: Vec<String>,
}

/// A completed form.
struct Form {
    /// The job to follow up; `None` for a new job.
    job: Option<String>,
    prompt: String,
    intent: String,
}

impl Book {
    pub(crate) fn entries(&self) -> HashMap<String, Entry> {
        self.0.lock().unwrap().clone()
    }

    fn note(&self, prompt: &str, note: impl FnOnce(&mut Entry)) {
        note(self.0.lock().unwrap().entry(prompt.to_owned()).or_default());
    }
}

impl People {
    pub(crate) fn begin(count: u64, seed: u64, server: &Server, book: &Arc<Book>) -> Self {
        let enough = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for name in 0..count {
            let (visitor, random) = (server.visitor(), Random::of(seed, 100 + name));
            let mut person = Person { name, visitor, random, book: book.clone(), jobs: Vec::new() };
            let enough = enough.clone();
            tasks.spawn(async move {
                for number in 0.. {
                    if enough.load(Ordering::SeqCst) {
                        break;
                    }
                    person.work(number).await;
                }
            });
        }
        Self { tasks, enough }
    }

    /// Waits until everyone has finished their current form.
    pub(crate) async fn end(mut self) {
        self.enough.store(true, Ordering::SeqCst);
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
    }
}

impl Person {
    async fn work(&mut self, number: u64) {
        let form = self.form(number);
        let gives_up = self.random.one_in(6);
        for attempt in 0..PATIENCE {
            let twice = self.random.one_in(3);
            let (first, second) =
                tokio::join!(self.post(&form), async { if twice { self.post(&form).await } else { None } });
            if let Some(job) = first.or(second) {
                self.remember(&form, &job);
                break;
            }
            if gives_up && attempt > 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20 + self.random.below(150))).await;
        }
    }

    fn form(&mut self, number: u64) -> Form {
        let follows_up = self.random.one_in(3) && !self.jobs.is_empty();
        let job = follows_up.then(|| self.jobs[self.random.below(self.jobs.len() as u64) as usize].clone());
        let prompt = format!("prompt {number} of person {}", self.name);
        Form { job, prompt, intent: self.random.intent() }
    }

    /// The job in the response to a form.
    async fn post(&self, form: &Form) -> Option<Value> {
        self.book.note(&form.prompt, |entry| entry.posts += 1);
        let mut pairs =
            vec![("project", "docs"), ("prompt", form.prompt.as_str()), ("intent", form.intent.as_str())];
        let endpoint = match &form.job {
            Some(job) => {
                pairs.push(("job", job));
                "/api/jobs/message"
            }
            None => "/api/jobs/create",
        };
        let response = self.visitor.call(endpoint, &pairs).await?;
        let status = response.status().as_u16();
        let body: Value = serde_json::from_str(&response.text().await.ok()?).ok()?;
        self.book.note(&form.prompt, |entry| match (status, body["id"].as_str()) {
            (200, Some(job)) => entry.jobs.push(job.to_owned()),
            // To be retried.
            (409 | 429 | 502..=504, _) => {}
            _ => entry.strange.push(format!("{status} {body}")),
        });
        (status == 200).then_some(body)
    }

    /// Remembers a started job for follow-ups.
    fn remember(&mut self, form: &Form, job: &Value) {
        if form.job.is_none() && !job["remote"].is_null() && self.jobs.len() < 20 {
            self.jobs.extend(job["id"].as_str().map(str::to_owned));
        }
    }
}
