//! Independent pieces of work on threads: the one pool behind runs, improving and exact search.
//!
//! Threads take the pieces in their order, each thread with a state of its own, and the results are put
//! back into that order: nothing depends on how many threads there are. The calling thread gets the
//! results and does no pieces itself, so that at every `pause` it can pass results on, watch a clock or
//! raise the flag. Threads live as long as the call: a pool that is kept hangs after a fork.
//!
//! Threads for which there is no piece can be [`Helpers`] of those that have one.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::order;
use crate::stop::{Stop, Stopped};

/// For callers that have nothing to do meanwhile.
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
    let slots: Vec<_> =
        states.iter_mut().take(pieces).map(|state| Mutex::new((state, Vec::with_capacity(1)))).collect();
    let piece = |thread: usize, piece: usize| {
        let mut slot = slots[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let (state, done) = &mut *slot;
        let result = stop.check().map_err(E::from).and_then(|()| work(state, piece));
        let is_done = result.is_ok();
        done.push((piece, result));
        is_done
    };
    if let Err(panic) = do_pieces(slots.len(), pieces, &piece, pause, &mut meanwhile) {
        resume_unwind(panic);
    }
    let mut results: Vec<Option<T>> = (0..pieces).map(|_| None).collect();
    let mut end = Ok(());
    for slot in slots {
        let (_, done) = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (piece, result) in done {
            match result {
                Ok(result) => results[piece] = Some(result),
                Err(error) => end = end.and(Err(error)),
            }
        }
    }
    (results, end)
}

/// Calls `piece(thread, 0), ..., piece(thread, pieces - 1)`, each on one of the threads, until one of them returns
/// false or panics; then the first panic is returned. Not generic, so that it is compiled once.
fn do_pieces(
    threads: usize,
    pieces: usize,
    piece: &(dyn Fn(usize, usize) -> bool + Sync),
    pause: Duration,
    meanwhile: &mut dyn FnMut(usize),
) -> std::thread::Result<()> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        // Nothing is ever sent: when all senders are dropped, all threads are done.
        let (sender, receiver) = channel::<()>();
        let spawn = |thread: usize| {
            let (next, done, sender) = (&next, &done, sender.clone());
            scope.spawn(move || {
                let _sender = sender;
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= pieces {
                        return Ok(());
                    }
                    match catch_unwind(AssertUnwindSafe(|| piece(thread, at))) {
                        Ok(true) => _ = done.fetch_add(1, Ordering::Relaxed),
                        failed => {
                            next.store(pieces, Ordering::Relaxed); // no thread need start another piece
                            return failed.map(|_| ());
                        }
                    }
                }
            })
        };
        let threads: Vec<_> = (0..threads).map(spawn).collect();
        drop(sender);
        while receiver.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            meanwhile(done.load(Ordering::Relaxed));
        }
        threads.into_iter().try_for_each(|thread| thread.join().flatten())
    })
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

/// Number of polls for the last pieces before going to sleep: mostly they come sooner than a thread wakes up.
const LOOKS: usize = 1 << 10;

/// Idle threads that take on shared work, for as long as [`with_helpers`] lasts.
pub struct Helpers<J> {
    calls: Vec<Sender<Call<J>>>,
}

/// Numbered pieces, taken by the first thread that is free.
type Pieces<J> = Arc<Mutex<Vec<(usize, J)>>>;

/// Pieces, and where to send those that are done.
type Call<J> = (Pieces<J>, Sender<(usize, J)>);

/// Work that helpers have started.
#[must_use = "the work has to be finished"]
pub struct Shared<J> {
    all: usize,
    pieces: Pieces<J>,
    done: Receiver<(usize, J)>,
}

/// Calls `body` with as many helpers as there are states.
///
/// # Panics
/// If the body does, or a piece of work.
pub fn with_helpers<S: Send, J: Send, R>(
    states: &mut [S],
    work: impl Fn(&mut S, &mut J) + Sync,
    body: impl FnOnce(&Helpers<J>) -> R,
) -> R {
    std::thread::scope(|scope| {
        let calls = states.iter_mut().map(|state| {
            let ((sender, receiver), work) = (channel::<Call<J>>(), &work);
            scope.spawn(move || {
                for (pieces, done) in receiver {
                    while let Some((number, mut piece)) = next_of(&pieces) {
                        work(state, &mut piece);
                        let _ = done.send((number, piece)); // unless the caller has failed
                    }
                }
            });
            sender
        });
        let helpers = Helpers { calls: calls.collect() };
        body(&helpers)
    })
}

fn next_of<P>(pieces: &Mutex<Vec<P>>) -> Option<P> {
    pieces.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

impl<J: Send> Helpers<J> {
    /// Number of helpers.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Has the helpers begin with pieces of work, the last first.
    pub fn share(&self, pieces: Vec<J>) -> Shared<J> {
        let all = pieces.len();
        let pieces = Arc::new(Mutex::new(pieces.into_iter().enumerate().collect::<Vec<_>>()));
        let (sender, done) = channel();
        for call in self.calls.iter().take(all) {
            // A helper that has failed is noticed at the end.
            let _ = call.send((pieces.clone(), sender.clone()));
        }
        Shared { all, pieces, done }
    }
}

impl<J> Shared<J> {
    /// Has `own` do the pieces that no helper comes to first, and returns all of them in order.
    ///
    /// # Panics
    /// If a piece of work does.
    pub fn finish(self, mut own: impl FnMut(&mut J)) -> Vec<J> {
        let Self { all, pieces, done: helped } = self;
        let mut done = Vec::with_capacity(all);
        while let Some((number, mut piece)) = next_of(&pieces) {
            own(&mut piece);
            done.push((number, piece));
        }
        let mut looks = 0..LOOKS;
        while done.len() < all && looks.next().is_some() {
            helped.try_recv().map_or_else(|_| std::hint::spin_loop(), |piece| done.push(piece));
        }
        done.extend(helped.iter().take(all - done.len()));
        assert_eq!(done.len(), all, "a helper failed");
        order::sort_by(&mut done, |a, b| a.0.cmp(&b.0));
        done.into_iter().map(|(_, piece)| piece).collect()
    }
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

    /// Raising the flag ends the work, and what was done until then is returned.
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
    fn shared_pieces_are_all_done_and_come_in_order_whoever_does_them() {
        for helpers in 0..4 {
            let mut done = vec![0; helpers];
            let squared = |done: &mut usize, piece: &mut usize| {
                *done += 1;
                *piece *= *piece;
            };
            let own = with_helpers(&mut done, squared, |helpers| {
                let mut own = 0;
                for pieces in [0, 1, 5, 300] {
                    let shared =
                        helpers.share((0..pieces).collect()).finish(|piece| squared(&mut own, piece));
                    assert_eq!(shared, (0..pieces).map(|i| i * i).collect::<Vec<_>>());
                }
                own
            });
            assert_eq!(own + done.iter().sum::<usize>(), 306);
        }
    }

    #[test]
    fn a_helper_that_panics_fails_who_called_it() {
        let work = |(): &mut (), piece: &mut bool| assert!(!*piece, "the piece that fails");
        let caught = catch_unwind(AssertUnwindSafe(|| {
            with_helpers(&mut [()], work, |helpers| {
                helpers.share(vec![true; 2]).finish(|_| std::thread::sleep(Duration::from_millis(200)))
            })
        }));
        assert!(caught.is_err());
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
