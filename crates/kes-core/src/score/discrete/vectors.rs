//! The widest vectors that this machine has, for counting the ones of bitmaps.
//!
//! What is passed to [`Vectors::dispatch`] is compiled for each kind of machine; what it computes is the same
//! on all of them.

use pulp::Arch;

#[cfg(target_arch = "x86_64")]
pulp::simd_type! {
    /// Machines that count the ones of eight words at once.
    struct Counting {
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
}

/// A kind of machine.
#[derive(Clone, Copy)]
pub struct Vectors {
    #[cfg(target_arch = "x86_64")]
    counting: Option<Counting>,
    arch: Arch,
}

impl Default for Vectors {
    /// This one.
    fn default() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            counting: Counting::try_new(),
            arch: Arch::new(),
        }
    }
}

impl Vectors {
    /// How many words in a row take as long as one by itself, about.
    pub fn lanes(self) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.counting.is_some() {
            return 8;
        }
        1
    }

    /// Does what `code` does, in the way that suits this machine. All of it must be inlined.
    #[inline(always)]
    pub fn dispatch(self, code: impl FnOnce()) {
        #[cfg(target_arch = "x86_64")]
        if let Some(counting) = self.counting {
            return counting.vectorize(code);
        }
        self.arch.dispatch(code);
    }
}
