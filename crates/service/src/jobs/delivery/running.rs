//! The deliveries that run in this process, and the claims whose prompts were sent and have no recorded outcome yet.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;

use store::jobs::intents::Intent;

/// Clones share their state.
#[derive(Clone, Default)]
pub(in crate::jobs) struct RunningDeliveries(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The number of deliveries of each message: two may try to claim it.
    running: HashMap<String, usize>,
    /// The message and the claim.
    sent: HashSet<(String, i64)>,
}

/// A running delivery, until this is dropped.
pub(super) struct Running {
    deliveries: RunningDeliveries,
    message_id: String,
}

impl RunningDeliveries {
    pub(super) fn begin(&self, message_id: &str) -> Running {
        *self.0.lock().running.entry(message_id.to_owned()).or_default() += 1;
        Running { deliveries: self.clone(), message_id: message_id.to_owned() }
    }

    pub(super) fn is_running(&self, message_id: &str) -> bool {
        self.0.lock().running.contains_key(message_id)
    }

    /// Must be called before a claimed prompt is sent.
    pub(super) fn will_be_sent(&self, claimed: &Intent) {
        self.0.lock().sent.insert(key(claimed));
    }

    /// Whether a claimed prompt may have reached the platform.
    pub(super) fn may_have_been_sent(&self, claimed: &Intent) -> bool {
        self.0.lock().sent.contains(&key(claimed))
    }

    /// Must be called after the outcome of a claim was recorded.
    pub(super) fn is_recorded(&self, claimed: &Intent) {
        self.0.lock().sent.remove(&key(claimed));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.deliveries.0.lock();
        if let Some(count) = state.running.get_mut(&self.message_id) {
            *count -= 1;
            if *count == 0 {
                state.running.remove(&self.message_id);
            }
        }
    }
}

fn key(claimed: &Intent) -> (String, i64) {
    (claimed.message_id.clone(), claimed.claim)
}
