//! Watches how long prompts are being sent while nothing is disturbed: a process judges the deliveries of others only after 45 s of regular
//! heartbeats, and under constant kills none has them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sqlx::AnyConnection;

/// No delivery lasts longer than this, whatever happened before.
const LONGEST: Duration = Duration::from_secs(60);

const INTERVAL: Duration = Duration::from_millis(500);

/// A claim of a prompt: its id and number.
type Claim = (String, i64);

/// The claims that are open now, with the time at which they were seen first, and those that were open for too long.
#[derive(Clone, Default)]
pub(crate) struct Sending(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    /// When the last disturbance ended; `None` while there are some.
    calm_since: Option<Instant>,
    since: HashMap<Claim, Instant>,
    too_long: HashMap<Claim, Duration>,
}

impl Sending {
    /// Watches the database until the process ends.
    pub(crate) fn watch(url: String) -> Self {
        let sending = Self::default();
        let seen = sending.clone();
        tokio::spawn(async move {
            loop {
                // The database server restarts now and then.
                if let Ok(mut ledger) = <AnyConnection as sqlx::Connection>::connect(&url).await {
                    while let Ok(open) = open_claims(&mut ledger).await {
                        seen.note(open);
                        tokio::time::sleep(INTERVAL).await;
                    }
                }
                tokio::time::sleep(INTERVAL).await;
            }
        });
        sending
    }

    fn note(&self, open: Vec<Claim>) {
        let (mut seen, now) = (self.0.lock().unwrap(), Instant::now());
        seen.since.retain(|claim, _| open.contains(claim));
        for claim in open {
            let since = *seen.since.entry(claim.clone()).or_insert(now);
            let lasts = seen.calm_since.map(|calm| now - calm.max(since));
            if let Some(lasts) = lasts.filter(|lasts| *lasts > LONGEST) {
                seen.too_long.insert(claim, lasts);
            }
        }
    }

    /// Begins or ends a time without disturbances.
    pub(crate) fn set_calm(&self, is_calm: bool) {
        self.0.lock().unwrap().calm_since = is_calm.then(Instant::now);
    }

    pub(crate) fn too_long(&self) -> Vec<String> {
        let seen = self.0.lock().unwrap();
        let text = |((id, claim), lasts): (&Claim, &Duration)| {
            format!("claim {claim} of {id} for {} s", lasts.as_secs())
        };
        seen.too_long.iter().map(text).collect()
    }
}

async fn open_claims(ledger: &mut AnyConnection) -> Result<Vec<Claim>, sqlx::Error> {
    sqlx::query_as("SELECT id, claim FROM messages WHERE state = 'sending'").fetch_all(ledger).await
}
