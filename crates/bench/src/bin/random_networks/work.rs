//! Several contests at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `work` for each of `tasks`, `jobs` at once. Returns the results in their order, or the first error.
#[allow(clippy::disallowed_methods, reason = "runs side by side share nothing, and each is of one thread")]
pub fn each<T: Sync, R: Send>(
    tasks: &[T],
    jobs: usize,
    work: impl Fn(&T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || -> Result<(), String> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(number) else { return Ok(()) };
            let came = work(task)?;
            done.lock().expect("no thread panics with it").push((number, came));
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a run does not panic"))
    })?;
    let mut done = done.into_inner().expect("no thread panics with it");
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, came)| came).collect())
}
