//! Seeded randomness.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

pub(crate) struct Random(StdRng);

impl Random {
    /// One of several independent generators for a seed.
    pub(crate) fn of(seed: u64, who: u64) -> Self {
        Self(StdRng::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(who)))
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.random_range(0..end)
    }

    pub(crate) fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// A new intent's id.
    pub(crate) fn intent(&mut self) -> String {
        format!("{:032x}", self.0.random::<u128>())
    }
}
