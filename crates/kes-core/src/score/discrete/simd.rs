//! The widest SIMD instructions of this processor, for counting the ones of bitmaps.
//!
//! Code passed to [`Simd::dispatch`] is compiled once for each level; the results are the same on all of
//! them. AArch64 has one level only, which all code is compiled for.

#[cfg(target_arch = "x86_64")]
pulp::simd_type! {
    /// 512 bits, with an instruction that counts the ones of eight words at once.
    struct Avx512Popcnt {
        popcnt: "popcnt",
        bmi1: "bmi1",
        bmi2: "bmi2",
        avx2: "avx2",
        avx512f: "avx512f",
        avx512bw: "avx512bw",
        avx512dq: "avx512dq",
        avx512vl: "avx512vl",
        avx512vpopcntdq: "avx512vpopcntdq",
    }

    /// 512 bits.
    struct Avx512 {
        popcnt: "popcnt",
        bmi1: "bmi1",
        bmi2: "bmi2",
        avx2: "avx2",
        avx512f: "avx512f",
        avx512bw: "avx512bw",
        avx512dq: "avx512dq",
        avx512vl: "avx512vl",
    }

    /// 256 bits.
    struct Avx2 {
        popcnt: "popcnt",
        bmi1: "bmi1",
        bmi2: "bmi2",
        avx2: "avx2",
    }
}

/// The levels that this processor supports.
#[derive(Clone, Copy)]
pub struct Simd {
    #[cfg(target_arch = "x86_64")]
    avx512_popcnt: Option<Avx512Popcnt>,
    #[cfg(target_arch = "x86_64")]
    avx512: Option<Avx512>,
    #[cfg(target_arch = "x86_64")]
    avx2: Option<Avx2>,
}

impl Default for Simd {
    /// Detects the levels.
    fn default() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx512_popcnt: Avx512Popcnt::try_new(),
            #[cfg(target_arch = "x86_64")]
            avx512: Avx512::try_new(),
            #[cfg(target_arch = "x86_64")]
            avx2: Avx2::try_new(),
        }
    }
}

impl Simd {
    /// About how many words of a bitmap take as long as a single one.
    pub fn lanes(self) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.avx512_popcnt.is_some() {
            return 8;
        }
        1
    }

    /// Runs `code` with the widest instructions. All of it must be inlined.
    #[inline(always)]
    pub fn dispatch(self, code: impl FnOnce()) {
        #[cfg(target_arch = "x86_64")]
        if let Some(level) = self.avx512_popcnt {
            return level.vectorize(code);
        } else if let Some(level) = self.avx512 {
            return level.vectorize(code);
        } else if let Some(level) = self.avx2 {
            return level.vectorize(code);
        }
        code();
    }
}
