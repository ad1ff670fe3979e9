//! A clock that jumped ahead is not trusted until it is corrected, regular heartbeats prove it, or a person confirms it.

use super::*;
use model::audit::Actor;

const DAY: i64 = 86_400;
const MINUTE: i64 = 60;

#[tokio::test]
async fn clock_jump_is_stored_until_the_clock_is_corrected() {
    let ledger = Ledger::new().await;
    let record = async |at: Timestamp| {
        let seen = ledger.store.clock_jump(at).await.unwrap();
        let recorded = ledger.store.record_clock(at).await.unwrap();
        assert_eq!(seen, recorded, "{at}");
        recorded
    };
    assert_eq!(record(NOON).await, None, "the first heartbeat");
    let last = NOON.plus_seconds(DAY);
    assert_eq!(record(last).await, None, "a day is no jump");
    let ahead = last.plus_seconds(500 * DAY);
    assert_eq!(record(ahead).await, Some(last));
    assert_eq!(record(ahead.plus_seconds(2)).await, Some(last));
    assert_eq!(record(ahead.plus_seconds(400 * DAY)).await, Some(last), "a second jump");
    assert_eq!(record(last.plus_seconds(10 * MINUTE)).await, None, "it is set right");
    assert_eq!(record(last.plus_seconds(-100 * DAY)).await, None, "an early clock removes nothing");
    assert_eq!(
        record(last).await,
        Some(last.plus_seconds(-100 * DAY)),
        "and the corrected clock has to be confirmed"
    );
}

#[tokio::test]
async fn regular_heartbeats_for_a_day_prove_the_clock() {
    let ledger = Ledger::new().await;
    let record = async |at: Timestamp| ledger.store.record_clock(at).await.unwrap();
    record(NOON).await;
    let mut now = NOON.plus_seconds(500 * DAY);
    assert_eq!(record(now).await, Some(NOON));
    for _ in 0..100 {
        now = now.plus_seconds(10 * MINUTE);
        assert_eq!(record(now).await, Some(NOON));
    }
    now = now.plus_seconds(20 * MINUTE);
    assert_eq!(record(now).await, Some(NOON), "a gap");
    for _ in 0..143 {
        now = now.plus_seconds(10 * MINUTE);
        assert_eq!(record(now).await, Some(NOON), "{now}");
    }
    assert_eq!(record(now.plus_seconds(10 * MINUTE)).await, None, "a day after the gap");
}

#[tokio::test]
async fn confirmed_clock_is_trusted_and_the_confirmation_is_audited_once() {
    let ledger = Ledger::new().await;
    let by = Actor::command_line();
    ledger.store.record_clock(NOON).await.unwrap();
    assert!(!ledger.store.trust_clock(Authority::Test(&by, NOON)).await.unwrap(), "the clock is trusted");
    let ahead = NOON.plus_seconds(500 * DAY);
    // With or without a heartbeat that detected the jump.
    for _ in 0..2 {
        assert!(
            ledger.store.trust_clock(Authority::Test(&by, ahead)).await.unwrap()
                || ledger.store.clock_jump(ahead).await.unwrap().is_none()
        );
    }
    assert_eq!(ledger.store.record_clock(ahead).await.unwrap(), None);
    let later = ahead.plus_seconds(2 * DAY);
    assert_eq!(ledger.store.record_clock(later).await.unwrap(), Some(ahead));
    assert!(ledger.store.trust_clock(Authority::Test(&by, later)).await.unwrap());
    assert_eq!(ledger.store.record_clock(later).await.unwrap(), None);
    let recorded: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM audit WHERE action = 'clock_confirm'")
        .fetch_one(&ledger.store.pool)
        .await
        .unwrap();
    assert_eq!(recorded, 2);
}
