//! One random stream per seed and run, and one per seed and task of improving, frozen by the tests below.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The random stream of one run, or of one task. What it yields depends on seed and number only, on
/// every platform and in every later version: xoshiro256++ is a fixed algorithm, and the draws are
/// our own.
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of run `run` under `seed`.
    pub fn new(seed: u64, run: u64) -> Self {
        Self::keyed(*b"kes_runs", seed, run)
    }

    /// The stream of task `task` of improving under `seed`: another than that of any run.
    pub fn of_task(seed: u64, task: u64) -> Self {
        Self::keyed(*b"kes_task", seed, task)
    }

    /// The stream of chain `chain` over models under `seed`.
    pub fn of_chain(seed: u64, chain: u64) -> Self {
        Self::keyed(*b"kes_chai", seed, chain)
    }

    /// Under one seed, the third word of the key distinguishes numbers, and the second purposes.
    fn keyed(purpose: [u8; 8], seed: u64, number: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&scramble(seed).to_le_bytes());
        key[8..16].copy_from_slice(&scramble(number ^ u64::from_be_bytes(purpose)).to_le_bytes());
        key[16..24].copy_from_slice(&scramble(seed.rotate_left(32) ^ number).to_le_bytes());
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

    /// A uniform number from 0 to 1, without 1: a multiple of `2^-53`.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (f64::EPSILON / 2.0)
    }
}

/// The finaliser of SplitMix64: neighbouring seeds and runs get unrelated keys.
pub(crate) fn scramble(z: u64) -> u64 {
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
    fn the_streams_are_frozen() {
        for (new, frozen) in [(Stream::new as fn(u64, u64) -> Stream, RUNS), (Stream::of_task, TASKS)] {
            for ((seed, number), expected) in [(0, 0), (0, 1), (7, 0)].into_iter().zip(frozen) {
                let mut stream = new(seed, number);
                assert_eq!([(); 6].map(|()| stream.below(1000)), expected);
            }
        }
    }

    const RUNS: [[usize; 6]; 3] =
        [[146, 54, 235, 347, 600, 819], [546, 385, 993, 283, 490, 564], [369, 873, 371, 996, 544, 562]];
    const TASKS: [[usize; 6]; 3] =
        [[539, 533, 3, 413, 113, 307], [145, 688, 559, 569, 52, 688], [512, 836, 320, 381, 100, 306]];

    /// The mean and variance of 100 000 numbers are 1/2 and 1/12, within five standard deviations.
    #[test]
    fn uniform_numbers_are_uniform() {
        let mut stream = Stream::of_chain(1, 2);
        let numbers: Vec<f64> = (0..100_000).map(|_| stream.uniform() - 0.5).collect();
        assert!(numbers.iter().all(|number| (-0.5..0.5).contains(number)));
        assert!((numbers.iter().sum::<f64>() / 1e5).abs() < 5.0 * (1.0f64 / 12e5).sqrt());
        let variance = numbers.iter().map(|number| number * number).sum::<f64>() / 1e5;
        assert!((variance - 1.0 / 12.0).abs() < 5.0 * (1.0f64 / 180e5).sqrt());
    }

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
