//! The one way to stop: a flag that all long work looks at, and what it returns when the flag is up.

use std::sync::atomic::{AtomicBool, Ordering};

/// The work was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// A flag that is down until somebody raises it, and stays up.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Tells everybody who looks at the flag to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Is it up?
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Nothing, as long as the flag is down. A look costs no more than reading a number.
    ///
    /// # Errors
    /// If it is up.
    #[inline]
    pub fn check(&self) -> Result<(), Stopped> {
        if self.is_raised() { Err(Stopped) } else { Ok(()) }
    }
}
