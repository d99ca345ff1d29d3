//! One random stream per (seed, run), frozen by the tests below.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The random stream of one run. What it yields depends on seed and run only, on every platform
/// and in every later version: xoshiro256++ is a fixed algorithm, and the draws are our own.
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of run `run` under `seed`.
    pub fn new(seed: u64, run: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&scramble(seed).to_le_bytes());
        key[8..16].copy_from_slice(&scramble(run ^ 0x6b65_735f_7275_6e73).to_le_bytes());
        key[16..24].copy_from_slice(&scramble(seed.rotate_left(32) ^ run).to_le_bytes());
        key[24] = 1; // xoshiro must not start from zero
        let mut stream = Self(Xoshiro256PlusPlus::from_seed(key));
        for _ in 0..8 {
            stream.0.next_u64(); // let the key spread over the whole state
        }
        stream
    }

    /// A uniform integer in `0..bound`, without bias (Lemire's method). `bound` must be positive.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let mut wide = u128::from(self.0.next_u64()) * u128::from(bound);
        if (wide as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (wide as u64) < threshold {
                wide = u128::from(self.0.next_u64()) * u128::from(bound);
            }
        }
        (wide >> 64) as usize
    }
}

/// The finaliser of SplitMix64: neighbouring seeds and runs get unrelated keys.
fn scramble(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change here changes every published result: the stream is part of the file format. The values
    /// come from xoshiro256++ and Lemire's method written again in another language.
    #[test]
    fn the_stream_is_frozen() {
        let draws = |seed, run| -> Vec<usize> {
            let mut stream = Stream::new(seed, run);
            (0..6).map(|_| stream.below(1000)).collect()
        };
        assert_eq!(draws(0, 0), FROZEN[0]);
        assert_eq!(draws(0, 1), FROZEN[1]);
        assert_eq!(draws(7, 0), FROZEN[2]);
    }

    const FROZEN: [[usize; 6]; 3] =
        [[146, 54, 235, 347, 600, 819], [546, 385, 993, 283, 490, 564], [369, 873, 371, 996, 544, 562]];

    /// 60 000 draws below 6: each value 10 000 times, within five standard deviations.
    #[test]
    fn below_is_uniform() {
        let mut counts = [0i64; 6];
        for run in 0..100 {
            let mut stream = Stream::new(1, run);
            (0..600).for_each(|_| counts[stream.below(6)] += 1);
        }
        assert!(counts.iter().all(|c| (c - 10_000).abs() < 460), "{counts:?}");
    }
}
