//! Bitmaps of the cases in each state, and lists of those in rare states.

/// Words of a cache line, and of the widest vectors: bitmaps are filled up with empty words to a multiple of this.
pub const LINE: usize = 8;

/// The cases in a rare state are listed as well, in 16 bits each, if there are no more cases than this in all
pub const CASES_IN_LISTS: usize = 1 << u16::BITS;
/// and, in that state, than so many for each word of a bitmap, so that a list is twice as large at most.
const FEW_PER_WORD: usize = 8;

/// Number of words from an address to the start of a cache line. Bitmaps begin there, as vectors that
/// straddle two lines take twice as long to load.
#[inline(always)]
pub fn words_to_line(address: *const u64) -> usize {
    address.align_offset(LINE * size_of::<u64>()).min(LINE - 1)
}

/// For every variable and state, the cases in that state, one bit a case.
pub struct Bitmaps {
    /// Words per bitmap.
    pub words: usize,
    /// Those of each variable; empty where it has too many states.
    pub states: Vec<States>,
}

/// The bitmaps of a variable, state after state.
#[derive(Default)]
pub struct States {
    bits: Vec<u64>,
    /// The start of the first: at a cache line.
    start: usize,
    /// The state of the most cases.
    commonest: usize,
    /// The cases in each state, where they are few.
    few: Vec<Option<Box<[u16]>>>,
}

impl States {
    /// Takes over the bitmaps of the states, each of so many words, the first at `start`.
    pub fn new(bits: Vec<u64>, start: usize, words: usize, arity: usize) -> Self {
        let state = |s: usize| &bits[start + s * words..start + (s + 1) * words];
        let size = |s: usize| state(s).iter().map(|word| word.count_ones() as usize).sum();
        let sizes: Vec<usize> = (0..arity).map(size).collect();
        let are_listed = 64 * words <= CASES_IN_LISTS;
        let few = |s: usize| {
            let is_rare = are_listed && sizes[s] <= FEW_PER_WORD * words;
            is_rare.then(|| ones(state(s)).map(|case| case as u16).collect())
        };
        let few = (0..arity).map(few).collect();
        let commonest = (0..arity).max_by_key(|&s| sizes[s]).unwrap_or(0);
        Self { bits, start, commonest, few }
    }
}

/// The places of the ones of a bitmap.
pub fn ones(bitmap: &[u64]) -> impl Iterator<Item = usize> {
    bitmap.iter().enumerate().flat_map(|(at, &word)| ones_of_word(word).map(move |bit| 64 * at + bit))
}

/// The places of the ones of a word.
#[inline]
pub fn ones_of_word(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (at < u64::BITS).then_some(at as usize)
    })
}

impl Bitmaps {
    /// The bitmap of variable `v` in state `s`.
    #[inline]
    pub fn state(&self, v: usize, s: usize) -> &[u64] {
        let States { bits, start, .. } = &self.states[v];
        &bits[start + s * self.words..start + (s + 1) * self.words]
    }

    /// The state of variable `v` with the most cases.
    #[inline]
    pub fn commonest(&self, v: usize) -> usize {
        self.states[v].commonest
    }

    /// The cases of variable `v` in state `s`, if they are listed.
    #[inline]
    pub fn few(&self, v: usize, s: usize) -> Option<&[u16]> {
        self.states[v].few[s].as_deref()
    }

    /// Whether `v` has bitmaps.
    #[inline]
    pub fn has(&self, v: usize) -> bool {
        !self.states[v].bits.is_empty()
    }
}
