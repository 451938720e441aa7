//! Opens the displays that the options of statistics request.

use strandcast::live::Role;

use super::many::Many;
use super::metrics::Metrics;
use super::monitor::Monitor;
use super::stats::Stats;
use crate::args::StatsArgs;
use crate::error::CliError;
use crate::signals::{Reopen, Stop, watch, watch_and_reopen};

impl StatsArgs {
    /// Opens the statistics and the metrics.
    ///
    /// # Errors
    /// As [`Stats::open`] and [`Metrics::open`].
    pub(crate) fn monitor(&self, role: Role) -> Result<Monitor, CliError> {
        let metrics = Metrics::open(self.metrics.as_deref(), role)?;
        Ok(Monitor::new(role, Stats::open(self.stats.as_ref())?, metrics))
    }

    /// Opens the statistics and the metrics of a server.
    ///
    /// # Errors
    /// As [`Stats::open`] and [`Metrics::open`].
    pub(crate) fn many(&self) -> Result<Many, CliError> {
        let metrics = Metrics::open(self.metrics.as_deref(), Role::Receive)?;
        Ok(Many::new(Stats::open(self.stats.as_ref())?, metrics))
    }

    /// Watches for signals. SIGHUP reopens the file of statistics. Without such a file, or after its terminal was
    /// closed, SIGHUP ends the command.
    ///
    /// # Errors
    /// Returns an error if the system refuses to register the signals.
    pub(crate) fn signals(&self) -> Result<(Stop, Reopen), CliError> {
        match &self.stats {
            Some(Some(_)) => watch_and_reopen(),
            Some(None) | None => Ok((watch()?, Reopen::never())),
        }
    }
}
