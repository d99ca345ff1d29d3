//! Independent pieces of work on threads: the one pool behind runs, improving and exact search.
//!
//! Threads take the pieces in their order, each thread with a state of its own, and the results are put
//! back into that order: nothing depends on how many threads there are. The calling thread gets the
//! results and does no pieces itself, so that it can look up at every `pause` to hand on what there is,
//! watch a clock or raise the flag. Threads live as long as the call: a pool that is kept hangs after a
//! fork.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::stop::{Stop, Stopped};

/// For those who have nothing to do meanwhile.
const RARELY: Duration = Duration::from_secs(3600);

/// Does `work(state, 0), ..., work(state, pieces - 1)` on as many threads as there are states, until
/// `stop` is raised or a piece fails, and returns the results of the pieces done, and why others were
/// not. The calling thread calls `meanwhile` with the number of pieces done whenever a `pause` has passed.
///
/// # Panics
/// If a piece does; then in the calling thread, once all others have stopped.
pub fn share_out<S: Send, T: Send, E: Send + From<Stopped>>(
    states: &mut [S],
    pieces: usize,
    stop: &Stop,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
    pause: Duration,
    mut meanwhile: impl FnMut(usize),
) -> (Vec<Option<T>>, Result<(), E>) {
    let next = AtomicUsize::new(0);
    let (mut results, mut end) = ((0..pieces).map(|_| None).collect::<Vec<_>>(), Ok(Ok(())));
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for state in states.iter_mut().take(pieces) {
            let (next, work, sender) = (&next, &work, sender.clone());
            scope.spawn(move || {
                loop {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if piece >= pieces {
                        return;
                    }
                    let result = catch_unwind(AssertUnwindSafe(|| {
                        stop.check()?;
                        work(state, piece)
                    }));
                    if !matches!(result, Ok(Ok(_))) {
                        next.store(pieces, Ordering::Relaxed); // nobody need start another piece
                    }
                    let _ = sender.send((piece, result)); // the receiver outlives all senders
                }
            });
        }
        drop(sender);
        let (mut done, mut due) = (0, Instant::now() + pause);
        loop {
            match receiver.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok((piece, Ok(Ok(result)))) => {
                    results[piece] = Some(result);
                    done += 1;
                }
                Ok((_, failed)) => end = failed.map(|failed| failed.map(|_| ())),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    meanwhile(done);
                    due = Instant::now() + pause;
                }
            }
        }
    });
    (results, end.unwrap_or_else(|panic| resume_unwind(panic)))
}

/// The results of all pieces, in order.
///
/// # Errors
/// If `stop` is raised meanwhile, or by any piece of work.
pub fn map<S: Send, T: Send, E: Send + From<Stopped>>(
    states: &mut [S],
    pieces: usize,
    stop: &Stop,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (results, end) = share_out(states, pieces, stop, work, RARELY, |_| ());
    end.map(|()| results.into_iter().flatten().collect())
}

/// [`map`] over a list, cut into chunks of `size`; the results are strung together.
///
/// # Errors
/// As [`map`].
pub fn map_chunks<I: Sync, S: Send, T: Send, E: Send + From<Stopped>>(
    states: &mut [S],
    items: &[I],
    size: usize,
    stop: &Stop,
    work: impl Fn(&mut S, &[I]) -> Result<Vec<T>, E> + Sync,
) -> Result<Vec<T>, E> {
    let chunks: Vec<&[I]> = items.chunks(size).collect();
    let results = map(states, chunks.len(), stop, |state, piece| work(state, chunks[piece]))?;
    Ok(results.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(done: &mut usize, i: usize) -> Result<usize, Stopped> {
        *done += 1;
        Ok(i * i)
    }

    #[test]
    fn results_come_in_order_and_one_failure_fails_all() {
        let stop = Stop::default();
        for threads in [1, 2, 5] {
            let mut done = vec![0; threads];
            let squares = map(&mut done, 100, &stop, square).unwrap();
            assert_eq!(squares, (0..100).map(|i| i * i).collect::<Vec<_>>());
            assert_eq!(done.iter().sum::<usize>(), 100);
        }
        let numbers: Vec<usize> = (0..1000).collect();
        let copied = map_chunks(&mut [(); 3], &numbers, 7, &stop, |(), part| Ok::<_, Stopped>(part.to_vec()));
        assert_eq!(copied, Ok(numbers));
        let failing = |_: &mut (), i: usize| if i == 50 { Err(Stopped) } else { Ok(i) };
        assert_eq!(map(&mut [(); 2], 100, &stop, failing), Err(Stopped));
        stop.raise();
        assert_eq!(map(&mut [0], 3, &stop, square), Err(Stopped));
    }

    /// Whoever raises the flag meanwhile ends the work, and what was done until then is there.
    #[test]
    fn the_calling_thread_hears_how_much_is_done_and_can_end_it() {
        let stop = Stop::default();
        let slow = |(): &mut (), i: usize| {
            std::thread::sleep(Duration::from_millis(1));
            Ok::<_, Stopped>(i)
        };
        let mut heard = Vec::new();
        let pause = Duration::from_millis(5);
        let (results, end) = share_out(&mut [(); 2], 100_000, &stop, slow, pause, |done| {
            heard.push(done);
            if heard.len() == 3 {
                stop.raise();
            }
        });
        let done = results.iter().flatten().count();
        assert_eq!(end, Err(Stopped));
        assert!(heard.is_sorted() && heard[2] <= done && done <= heard[2] + 100, "{heard:?}, then {done}");
        assert!(results.iter().enumerate().all(|(i, result)| result.is_none_or(|result| result == i)));
    }

    #[test]
    fn a_panic_ends_the_work_and_reaches_the_caller_only() {
        let stop = Stop::default();
        let mut done = [0; 2];
        let work = |done: &mut usize, i: usize| {
            assert_ne!(i, 3, "the piece that fails");
            square(done, i)
        };
        let caught = catch_unwind(AssertUnwindSafe(|| map(&mut done, 1_000_000, &stop, work)));
        assert!(caught.unwrap_err().downcast_ref::<String>().unwrap().contains("the piece that fails"));
        assert!(done.iter().sum::<usize>() < 1_000_000, "the others went on");
        assert!(!stop.is_raised());
    }
}
