//! What surrounds the runs of a batch.

/// What schemes from another language need around the runs that use them: nothing, unless an implementation says so.
/// Called from all threads that make runs.
pub trait RunHooks: Sync {
    /// Does all the work of a thread that makes runs.
    fn around_thread(&self, work: Box<dyn FnOnce() + Send + '_>) {
        work();
    }

    /// A run with this seed begins on this thread.
    fn before_run(&self, _seed: u64) {}

    /// Why no run is worth anything any more, in one line: something outside of the run failed.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// No hooks.
impl RunHooks for () {}
