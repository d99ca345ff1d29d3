//! The one way into long native work: the GIL is released and Ctrl-C is watched.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use kes_core::stop::Stop;
use pyo3::prelude::*;

/// How often Python is asked for signals and given results.
pub const PAUSE: Duration = Duration::from_millis(100);

/// Runs `work` on a thread of its own. On Ctrl-C the flag it is given is raised and, once it has
/// returned, the KeyboardInterrupt is too.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&Stop) -> T + Send) -> PyResult<T> {
    watched(py, |_| Ok(()), work)
}

/// The same, with `report` called now and then; its errors stop the work as Ctrl-C does.
pub fn watched<T: Send>(
    py: Python<'_>,
    mut report: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce(&Stop) -> T + Send,
) -> PyResult<T> {
    let stop = Stop::default();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let stop_flag = &stop;
            let worker = scope.spawn(move || sender.send(work(stop_flag)));
            let mut interrupt = None;
            loop {
                match receiver.recv_timeout(PAUSE) {
                    Ok(result) => return interrupt.map_or(Ok(result), Err),
                    Err(RecvTimeoutError::Timeout) => {
                        let looked = Python::attach(|py| py.check_signals().and_then(|()| report(py)));
                        if let (Err(error), None) = (looked, &interrupt) {
                            stop.raise();
                            interrupt = Some(error);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        let _panic = worker.join(); // looked at, so that it does not spread
                        return Err(crate::CoreError::new_err(
                            "internal error: please report this with the data that led to it",
                        ));
                    }
                }
            }
        })
    })
}
