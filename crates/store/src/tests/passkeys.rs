//! Tests of the challenges for passkeys.

use super::*;
use crate::accounts::passkeys::ChallengeLimits;

async fn put(ledger: &Ledger, requester: &str, n: i64) {
    let limits = ChallengeLimits { per_requester: 2, in_all: 3 };
    let (now, until) = (NOON.plus_seconds(n), NOON.plus_seconds(300 + n));
    ledger
        .store
        .put_passkey_challenge(&n.to_string(), requester, requester, limits, until, now)
        .await
        .unwrap();
}

async fn take(ledger: &Ledger, n: i64, at: i64) -> Option<String> {
    ledger.store.take_passkey_challenge(&n.to_string(), NOON.plus_seconds(at)).await.unwrap()
}

#[tokio::test]
async fn oldest_challenges_beyond_the_limits_are_deleted() {
    let ledger = Ledger::new().await;
    for (n, requester) in [(1, "a"), (2, "b"), (3, "a"), (4, "a"), (5, "c")] {
        put(&ledger, requester, n).await;
    }
    assert_eq!(take(&ledger, 1, 6).await, None, "the oldest beyond the limit of its client");
    assert_eq!(take(&ledger, 2, 6).await, None, "the oldest beyond the total limit");
    for (n, requester) in [(3, "a"), (4, "a"), (5, "c")] {
        assert_eq!(take(&ledger, n, 6).await.as_deref(), Some(requester));
        assert_eq!(take(&ledger, n, 6).await, None, "usable once");
    }
}

#[tokio::test]
async fn expired_challenge_is_rejected_and_deleted_with_the_next() {
    let ledger = Ledger::new().await;
    put(&ledger, "a", 0).await;
    assert_eq!(take(&ledger, 0, 300).await, None);
    put(&ledger, "b", 300).await;
    assert_eq!(take(&ledger, 0, 1).await, None, "it is stored after its expiry");
}
