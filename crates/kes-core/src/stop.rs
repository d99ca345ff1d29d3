//! The stop flag, which all long work checks, and the error that it returns once the flag is raised.

use std::sync::atomic::{AtomicBool, Ordering};

/// The work was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// A flag that stays raised once it is raised.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Raises the flag: all work that checks it stops.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns an error if the flag is raised. As cheap as reading an integer.
    ///
    /// # Errors
    /// If it is raised.
    #[inline]
    pub fn check(&self) -> Result<(), Stopped> {
        if self.is_raised() { Err(Stopped) } else { Ok(()) }
    }
}
