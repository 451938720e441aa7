//! The progress bar.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use strandcast_lab::batch::{Job, ProgressObserver};

/// Number of steps of the progress bar for each run.
const PARTS: f64 = 1000.0;

/// A progress bar over all runs, and the user's request to end the runs.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Completed parts of each run.
    done: Mutex<Vec<u64>>,
    stop: AtomicBool,
}

impl Progress {
    /// Makes a progress bar for `runs` runs. The bar is shown if standard error is a terminal and `quiet` is false.
    pub(crate) fn new(runs: usize, quiet: bool) -> Self {
        let bar = ProgressBar::new(runs as u64 * PARTS as u64);
        let shown = stderr().is_terminal() && !quiet;
        bar.set_draw_target(if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() });
        let style = ProgressStyle::with_template("{wide_bar} {msg} {percent} %, {eta} left");
        bar.set_style(style.expect("the template is valid"));
        bar.set_message(format!("0/{runs}"));
        Progress { bar, done: Mutex::new(vec![0; runs]), stop: AtomicBool::new(false) }
    }

    /// Asks all runs to end soon.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns whether all runs were asked to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl ProgressObserver for Progress {
    fn progress(&self, job: &Job, done: f64) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let mut all = self.done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(mine) = all.get_mut(job.index) {
            *mine = (done.clamp(0.0, 1.0) * PARTS) as u64;
        }
        let whole = all.iter().filter(|parts| **parts >= PARTS as u64).count();
        self.bar.set_position(all.iter().sum());
        self.bar.set_message(format!("{whole}/{}", all.len()));
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_adds_runs_up_until_it_is_stopped() {
        let progress = Progress::new(2, true);
        let job = |index| Job { index, seed: 1, scheme: None };
        assert!(progress.progress(&job(0), 1.0).is_continue());
        assert!(progress.progress(&job(1), 0.25).is_continue());
        assert_eq!(progress.bar.position(), 1250);
        assert_eq!(progress.bar.message(), "1/2");
        progress.stop();
        assert!(progress.progress(&job(1), 0.5).is_break());
    }
}
