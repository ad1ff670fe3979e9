//! The emulator on a port, as `docket emulator` serves it, and its faults.

use std::net::SocketAddr;
use std::time::Duration;

use base::clock::Clock;
use docket_emulator::{DEFAULT_PER_HOUR, DEFAULT_PROJECTS, DEFAULT_SEED, Emulator, EmulatorConfig};
use model::time::Timestamp;
use reqwest::Client;
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};
use web::process::listen;

use super::http_client;
use super::secrets::KEY;

/// An emulator whose jobs stay active until [`EmulatedUpstream::finish_jobs`].
pub(crate) struct EmulatedUpstream {
    address: SocketAddr,
    clock: Clock,
    http: Client,
    _stop: DropGuard,
}

impl EmulatedUpstream {
    pub(crate) async fn start() -> Self {
        let clock = Clock::frozen("2025-03-10T10:00:00Z".parse::<Timestamp>().unwrap());
        Self::with(clock, 5, DEFAULT_PER_HOUR).await
    }

    /// An emulator with a site of `pages` pages, which accepts `per_hour` calls per hour.
    pub(crate) async fn with(clock: Clock, pages: u32, per_hour: usize) -> Self {
        let (key, projects) = (KEY.to_owned(), DEFAULT_PROJECTS.to_owned());
        let config = EmulatorConfig { key, projects, pages, per_hour, seed: DEFAULT_SEED, code_host: None };
        let emulator = {
            let clock = clock.clone();
            Emulator::new(config, docket_emulator::Clock::new(move || clock.now().as_millis()))
        };
        let listener = listen::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(listen::serve(
            listener,
            emulator.service(),
            listen::Connections::unlimited(),
            stop.clone(),
        ));
        let http = http_client().pool_max_idle_per_host(0).build().unwrap();
        Self { address, clock, http, _stop: stop.drop_guard() }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Finishes every job.
    pub(crate) fn finish_jobs(&self) {
        self.clock.advance(Duration::from_secs(120));
    }

    /// From now on every request gets this fault and no other.
    pub(crate) async fn fail_all(&self, fault: &Value) {
        self.http.delete(self.faults()).bearer_auth(KEY).send().await.unwrap();
        self.fail_next(&json!("until-cleared"), fault).await;
    }

    /// The next `times` requests get this fault, after those planned before.
    pub(crate) async fn fail_next(&self, times: &Value, fault: &Value) {
        let order = json!({ "times": times, "fault": fault });
        let response = self.http.post(self.faults()).bearer_auth(KEY).json(&order).send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200, "{}", response.text().await.unwrap());
    }

    /// The response to a page-view request, sent directly.
    pub(crate) async fn views(&self, project: &str, query: &str) -> Value {
        let url = format!("{}/v1/analytics/{project}/views?{query}", self.url());
        let response = self.http.get(url).bearer_auth(KEY).send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200, "{query}");
        response.json().await.unwrap()
    }

    /// The number of requests per operation.
    pub(crate) async fn requests(&self) -> Value {
        let response = self.http.get(self.faults()).bearer_auth(KEY).send().await.unwrap();
        response.json::<Value>().await.unwrap()["requests"].take()
    }

    fn faults(&self) -> String {
        format!("{}/__emulator/faults", self.url())
    }
}
