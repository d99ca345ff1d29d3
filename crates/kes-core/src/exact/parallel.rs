//! Independent pieces of work on threads, with results in their order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::stop::{Stop, Stopped};

/// Does `work(state, 0), ..., work(state, pieces - 1)` on `threads` threads, each with a state of its
/// own, and returns the results in order, which do not depend on the number of threads.
///
/// # Errors
/// If `stop` is raised meanwhile, or by any piece of work.
pub fn map<S, T: Send, E: Send + From<Stopped>>(
    pieces: usize,
    threads: usize,
    stop: &Stop,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<T, E>)>> = Mutex::new(Vec::with_capacity(pieces));
    let keep_working = || {
        let mut state = state();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return;
            }
            let result = stop.check().map_err(E::from).and_then(|()| work(&mut state, piece));
            let failed = result.is_err();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((piece, result));
            if failed {
                next.store(pieces, Ordering::Relaxed); // nobody need start another piece
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(pieces) {
            scope.spawn(keep_working);
        }
        keep_working();
    });
    let mut results = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|&(piece, _)| piece);
    results.into_iter().map(|(_, result)| result).collect()
}

/// [`map`] over a list, cut into chunks of `size`; the results are strung together.
///
/// # Errors
/// As [`map`].
pub fn map_chunks<I: Sync, S, T: Send, E: Send + From<Stopped>>(
    items: &[I],
    size: usize,
    threads: usize,
    stop: &Stop,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &[I]) -> Result<Vec<T>, E> + Sync,
) -> Result<Vec<T>, E> {
    let chunks: Vec<&[I]> = items.chunks(size).collect();
    let results = map(chunks.len(), threads, stop, state, |state, piece| work(state, chunks[piece]))?;
    let mut all = Vec::with_capacity(results.iter().map(Vec::len).sum());
    results.into_iter().for_each(|part| all.extend(part));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_one_failure_fails_all() {
        let stop = Stop::default();
        let square = |_: &mut (), i: usize| Ok::<_, Stopped>(i * i);
        for threads in [1, 2, 5] {
            let squares = map(100, threads, &stop, || (), square).unwrap();
            assert_eq!(squares, (0..100).map(|i| i * i).collect::<Vec<_>>());
        }
        let numbers: Vec<usize> = (0..1000).collect();
        let copied = map_chunks(&numbers, 7, 3, &stop, || (), |(), part| Ok::<_, Stopped>(part.to_vec()));
        assert_eq!(copied, Ok(numbers));
        let failing = |_: &mut (), i: usize| if i == 50 { Err(Stopped) } else { Ok(i) };
        assert_eq!(map(100, 2, &stop, || (), failing), Err(Stopped));
        stop.raise();
        assert_eq!(map(3, 1, &stop, || (), square), Err(Stopped));
    }
}
