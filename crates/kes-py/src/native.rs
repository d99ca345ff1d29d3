//! The one entry to long native work: it releases the GIL and watches for Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::time::Duration;

use kes_core::stop::Stop;
use pyo3::prelude::*;

/// Time between checks for signals, and between batches of results.
pub const PAUSE: Duration = Duration::from_millis(100);

/// Runs `work` on a thread of its own. On Ctrl-C the flag it is given is raised and, once it has
/// returned, the KeyboardInterrupt is too.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&Stop) -> T + Send) -> PyResult<T> {
    watched(py, |_| Ok(true), work)
}

/// The same, with `report` called now and then. If it returns false, the work should end and return what it
/// has; its errors stop the work as Ctrl-C does.
pub fn watched<T: Send>(
    py: Python<'_>,
    mut report: impl FnMut(Python<'_>) -> PyResult<bool> + Send,
    work: impl FnOnce(&Stop) -> T + Send,
) -> PyResult<T> {
    let stop = &Stop::default();
    let (mut work, mut result) = (Some(work), None);
    watch(py, stop, &mut report, &mut || result = work.take().map(|work| work(stop)))?;
    result.ok_or_else(internal_error)
}

/// The part of [`watched`] that is compiled once for all results.
fn watch(
    py: Python<'_>,
    stop: &Stop,
    report: &mut (dyn FnMut(Python<'_>) -> PyResult<bool> + Send),
    work: &mut (dyn FnMut() + Send),
) -> PyResult<()> {
    py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            scope.spawn(move || sender.send(contained(work)));
            let mut interrupt = Ok(());
            loop {
                match receiver.recv_timeout(PAUSE) {
                    Ok(result) => return interrupt.and(result),
                    Err(_) => {
                        let looked = Python::attach(|py| py.check_signals().and_then(|()| report(py)));
                        if !matches!(looked, Ok(true)) {
                            stop.raise();
                            interrupt = interrupt.and(looked.map(|_| ()));
                        }
                    }
                }
            }
        })
    })
}

/// Does work of the core; a panic becomes an error that Python can handle.
pub fn contained<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| internal_error())
}

fn internal_error() -> PyErr {
    crate::CoreError::new_err("internal error: please report this with the data that led to it")
}
