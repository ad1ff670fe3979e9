//! Stateless pseudo-random numbers: each depends only on the seed and its purpose. Must not use the standard hasher, whose results may change between
//! Rust versions.

/// A seed, derived step by step for a single random number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seed(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Seed {
    pub(super) fn new(seed: u64) -> Self {
        Self(mix(seed.wrapping_add(GOLDEN)))
    }

    /// The derived seed of the `n`-th item.
    pub(super) fn nth(self, n: u64) -> Self {
        Self(mix(self.0 ^ n.wrapping_add(1).wrapping_mul(GOLDEN)))
    }

    /// The derived seed of this name (FNV-1a).
    pub(super) fn named(self, name: &str) -> Self {
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        self.nth(hash)
    }

    /// A number in `0.0..1.0`.
    pub(super) fn unit(self) -> f64 {
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn between(self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    /// Four independent numbers in `0.0..1.0`, coarse (16 bits) and cheap.
    pub(super) fn quarters(self) -> [f64; 4] {
        [0, 16, 32, 48].map(|shift| f64::from((self.0 >> shift) as u16) / 65_536.0)
    }
}

/// The finalizer of SplitMix64.
fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_derivation_gives_the_same_number() {
        let way = |seed: u64| Seed::new(seed).named("docs").nth(7).unit();
        assert_eq!(way(1), way(1));
        assert_ne!(way(1), way(2));
        assert_ne!(Seed::new(1).named("docs"), Seed::new(1).named("handbook"));
        assert_ne!(Seed::new(1).nth(0), Seed::new(1).nth(1));
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let tenths = (0..10_000).fold([0; 10], |mut tenths, n| {
            tenths[(Seed::new(3).nth(n).unit() * 10.0) as usize] += 1;
            tenths
        });
        assert!(tenths.iter().all(|count| (850..1150).contains(count)), "{tenths:?}");
    }

    #[test]
    fn quarters_are_uncorrelated() {
        let mean = (0..10_000)
            .map(|n| Seed::new(3).nth(n).quarters())
            .map(|[a, b, c, d]| (a - 0.5) * (b - 0.5) + (c - 0.5) * (d - 0.5))
            .sum::<f64>()
            / 10_000.0;
        assert!(mean.abs() < 0.01, "{mean}");
    }
}
