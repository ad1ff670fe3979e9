//! Turns of receivers outside, such as webhooks and code hosts. Each has at most one, in a task of its own, so that a slow receiver delays no other.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;

/// Clones share their state.
pub struct Turns<K>(Arc<Mutex<State<K>>>);

struct State<K> {
    /// The receivers that have a turn or may get one soon.
    receivers: HashMap<K, Receiver>,
    /// The number of turns that began.
    begun: u64,
}

#[derive(Clone, Copy, Default)]
struct Receiver {
    has_turn: bool,
    /// The number of its last turn; 0 if it had none.
    last: u64,
}

/// The turn of one receiver, until this is dropped.
pub struct Turn<K: Eq + Hash> {
    turns: Turns<K>,
    receiver: K,
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State { receivers: HashMap::new(), begun: 0 })))
    }
}

impl<K: Clone + Eq + Hash> Turns<K> {
    /// Gives turns to receivers that wait for one and have none, those first whose last turn began the longest ago. At most `most` have a turn at
    /// once.
    pub fn begin(&self, waiting: impl IntoIterator<Item = K>, most: usize) -> Vec<Turn<K>> {
        let mut state = self.0.lock();
        let known = |receiver: K| {
            let before = state.receivers.get(&receiver).copied().unwrap_or_default();
            (receiver, before)
        };
        let mut waiting: Vec<(K, Receiver)> = waiting.into_iter().map(known).collect();
        waiting.sort_by_key(|(_, receiver)| receiver.last);
        let with_turn = state.receivers.iter().filter(|(_, receiver)| receiver.has_turn);
        let mut receivers: HashMap<K, Receiver> =
            with_turn.map(|(key, receiver)| (key.clone(), *receiver)).collect();
        let mut room = most.saturating_sub(receivers.len());
        let mut turns = Vec::new();
        for (key, mut receiver) in waiting {
            // A receiver is listed once.
            if receivers.contains_key(&key) {
                continue;
            }
            if room > 0 {
                room -= 1;
                state.begun += 1;
                receiver = Receiver { has_turn: true, last: state.begun };
                turns.push(Turn { turns: self.clone(), receiver: key.clone() });
            }
            receivers.insert(key, receiver);
        }
        state.receivers = receivers;
        turns
    }
}

impl<K: Eq + Hash> Turn<K> {
    pub fn receiver(&self) -> &K {
        &self.receiver
    }
}

impl<K: Eq + Hash> Drop for Turn<K> {
    fn drop(&mut self) {
        if let Some(receiver) = self.turns.0.lock().receivers.get_mut(&self.receiver) {
            receiver.has_turn = false;
        }
    }
}

impl<K> Clone for Turns<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(turns: &Turns<u32>, waiting: &[u32], most: usize) -> Vec<Turn<u32>> {
        turns.begin(waiting.iter().copied(), most)
    }

    fn receivers(turns: &[Turn<u32>]) -> Vec<u32> {
        turns.iter().map(|turn| *turn.receiver()).collect()
    }

    #[test]
    fn receiver_has_one_turn_at_a_time() {
        let turns = Turns::default();
        let first = begun(&turns, &[1, 2, 2], 9);
        assert_eq!(receivers(&first), [1, 2]);
        assert_eq!(receivers(&begun(&turns, &[1, 2, 3], 9)), [3]);
        drop(first);
        assert_eq!(receivers(&begun(&turns, &[1, 2], 9)), [1, 2]);
    }

    #[test]
    fn receivers_without_a_recent_turn_are_first() {
        let turns = Turns::default();
        drop(begun(&turns, &[1, 2, 3], 2));
        let two = begun(&turns, &[1, 2, 3], 2);
        assert_eq!(receivers(&two), [3, 1]);
        assert!(begun(&turns, &[1, 2, 3], 2).is_empty(), "two have a turn");
        drop(two);
        assert_eq!(receivers(&begun(&turns, &[1, 2, 3], 2)), [2, 3]);
    }
}
