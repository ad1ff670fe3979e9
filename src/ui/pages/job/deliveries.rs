//! The deliveries of one prompt with their outcomes, derived from the job's timeline.

use leptos::prelude::*;

use crate::ui::components::page_room::escaped_len;
use crate::ui::components::time::ago;
use model::job::{DeliveryState, Job, TimelineEntry, TimelineState};
use model::time::Timestamp;

/// The most deliveries of a prompt that are shown: the queue can send one again and again.
const SHOWN_MAX: usize = 10;

/// One delivery of a prompt.
#[derive(Debug, PartialEq)]
struct Delivery<'a> {
    sent_at: Timestamp,
    /// When and how it ended, with the reason; `None` while it is being sent.
    end: Option<DeliveryEnd<'a>>,
}

#[derive(Debug, PartialEq)]
struct DeliveryEnd<'a> {
    at: Timestamp,
    state: DeliveryState,
    reason: Option<&'a str>,
}

/// The deliveries of the job's first prompt (0) or of one of its follow-ups; empty before the first.
pub(super) fn of(job: &Job, message: u32) -> AnyView {
    let deliveries = read(&job.history, message);
    let Some(last) = deliveries.last() else { return ().into_any() };
    let mut summary = match deliveries.len() {
        1 => "Sent".to_owned(),
        several => format!("Sent {several} times"),
    };
    if let Some(DeliveryEnd { at, .. }) = last.end {
        summary.push_str(", ");
        summary.push_str(&duration(last.sent_at, at));
    }
    let hidden = deliveries.len().saturating_sub(SHOWN_MAX);
    let note = (hidden > 0)
        .then(|| view! { <p class="faint">{format!("The last {SHOWN_MAX} of {}.", deliveries.len())}</p> });
    let entries = deliveries[hidden..].iter().map(delivery).collect_view();
    view! {
        <details class="deliveries">
            <summary>{summary}</summary>
            {note}
            {entries}
        </details>
    }
    .into_any()
}

/// The size of [`of`] as HTML, at most.
pub(super) fn size(job: &Job, message: u32) -> usize {
    let one = |delivery: &Delivery<'_>| {
        let reason = delivery.end.as_ref().and_then(|end| end.reason);
        512 + reason.map_or(0, escaped_len)
    };
    512 + read(&job.history, message).iter().rev().take(SHOWN_MAX).map(one).sum::<usize>()
}

fn delivery(Delivery { sent_at, end }: &Delivery) -> AnyView {
    let end = match end {
        None => view! { <span>"on its way"</span> }.into_any(),
        Some(DeliveryEnd { at, state, reason }) => {
            let reason = reason.map(|reason| view! { <span class="soft">{reason.to_owned()}</span> });
            view! { <span>{outcome(*state)} " " {ago(*at)}</span> {reason} }.into_any()
        }
    };
    view! { <p><span>"Sent " {ago(*sent_at)} ", "</span> {end}</p> }.into_any()
}

fn outcome(state: DeliveryState) -> &'static str {
    match state {
        DeliveryState::Accepted => "accepted",
        DeliveryState::Rejected => "not accepted",
        DeliveryState::Cancelled => "cancelled",
        DeliveryState::Unknown => "outcome unknown since",
        DeliveryState::Queued | DeliveryState::Sending => "waiting since",
    }
}

/// The deliveries of one message, oldest first.
fn read(history: &[TimelineEntry], message: u32) -> Vec<Delivery<'_>> {
    let mut deliveries: Vec<Delivery> = Vec::new();
    for entry in history.iter().filter(|entry| entry.message == message) {
        let TimelineState::Delivery(state) = entry.state else { continue };
        match (state, deliveries.last_mut()) {
            (DeliveryState::Sending, _) => deliveries.push(Delivery { sent_at: entry.at, end: None }),
            // Only the first entry after it is about the delivery. Later ones are about the agent's work.
            (_, Some(last)) if last.end.is_none() => {
                last.end = Some(DeliveryEnd { at: entry.at, state, reason: entry.detail.as_deref() });
            }
            _ => {}
        }
    }
    deliveries
}

fn duration(from: Timestamp, to: Timestamp) -> String {
    let millis = (to.as_millis() - from.as_millis()).max(0);
    if millis < 1_000 { format!("{millis} ms") } else { format!("{} s", (millis + 500) / 1_000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: i64, message: u32, state: &str, detail: Option<&str>) -> TimelineEntry {
        TimelineEntry {
            at: Timestamp::from_millis(at),
            message,
            state: TimelineState::from(state),
            detail: detail.map(str::to_owned),
        }
    }

    #[test]
    fn every_delivery_has_its_own_end() {
        let history = [
            entry(1, 0, "queued", None),
            entry(2, 0, "sending", None),
            entry(3, 0, "unknown", Some("no answer")),
            entry(4, 0, "queued", None),
            entry(5, 0, "sending", None),
            entry(6, 0, "accepted", None),
            entry(7, 0, "completed", None),
            entry(8, 1, "sending", None),
        ];
        let at = Timestamp::from_millis;
        let end = |millis, state, reason| Some(DeliveryEnd { at: at(millis), state, reason });
        let first = Delivery { sent_at: at(2), end: end(3, DeliveryState::Unknown, Some("no answer")) };
        let second = Delivery { sent_at: at(5), end: end(6, DeliveryState::Accepted, None) };
        assert_eq!(read(&history, 0), [first, second]);
        assert_eq!(read(&history, 1), [Delivery { sent_at: at(8), end: None }]);
        assert_eq!(read(&history, 2), []);
    }
}
