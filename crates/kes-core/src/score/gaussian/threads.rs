//! The same work on several threads, each with its part.

/// The results of `part(0), ..., part(threads - 1)`, in order.
pub fn on_threads<T: Send>(threads: usize, part: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let part = &part;
        let others: Vec<_> = (1..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        let mut results = vec![part(0)];
        for other in others {
            match other.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}
