//! The end of a session.

use std::time::{Duration, Instant};

use strandcast_net::driver::Driver;
use strandcast_proto::association::CloseReason;
use tokio::runtime::Handle;

use super::{CLOSE_TIMEOUT, LAST, News, Session};
use crate::error::Error;
use crate::live::stop::stopped;
use crate::live::words::REFUSED;

/// Minimum time for writing after the application has requested the end.
const MIN_FLUSH: Duration = Duration::from_millis(100);

/// Reason for a sender that may connect again at once.
const CHANGED: &str = "the configuration of the stream has changed";

impl Session {
    /// Closes all associations after `outcome`. Waits until the queued data are written, and then reports the last
    /// summary.
    pub(super) async fn end(mut self, outcome: Result<(), Error>) -> Result<(), Error> {
        self.close(&outcome).await;
        if let Some(own) = self.door.own() {
            for event in own.end().await {
                self.reporter.report(News::Gate(event));
            }
        }
        let flushed = match outcome {
            Ok(()) => self.end_outputs().await,
            // In this case, the result is the error. An output that is not read must not delay the error.
            Err(_) => tokio::time::timeout(CLOSE_TIMEOUT, self.end_outputs()).await.unwrap_or(Ok(())),
        };
        self.output.give_up();
        let summary = self.summary.take().map(|summary| summary.with_outputs(self.output.now()));
        self.report_summary(summary);
        outcome.and(flushed)
    }

    /// Closes the associations.
    async fn close(&mut self, outcome: &Result<(), Error>) {
        self.diagnose();
        if let Some(next) = self.next.take() {
            match self.door.has_successor() {
                true => next.association.abort(CHANGED),
                false => next.association.abort(&format!("{REFUSED}the receiver ends")),
            }
            // Returns after the abort is sent.
            next.association.closed().await;
        }
        let Some(stream) = &self.stream else { return };
        match outcome {
            // The sender closes once everything is acknowledged.
            Ok(()) if stream.ended.is_some() => {}
            // The sender of this stream connects again.
            Ok(()) if self.door.has_successor() => stream.association.abort(CHANGED),
            Ok(()) => stream.association.shutdown(),
            Err(_) => stream.association.abort(&format!("{REFUSED}the receiver cannot write what it plays")),
        }
        let left = self.over.map(|over| over.saturating_duration_since(Instant::now()));
        let time = left.map_or(CLOSE_TIMEOUT, |left| left.min(CLOSE_TIMEOUT));
        // The session does not wait for a sender that does not answer.
        let _: Result<CloseReason, _> = tokio::time::timeout(time, stream.association.closed()).await;
    }

    /// Ends the outputs. Waits until all data are written, an output takes no data, or the application requests an
    /// immediate end.
    async fn end_outputs(&mut self) -> Result<(), Error> {
        let Session { output, stop, over, .. } = self;
        let patience = async {
            stopped(stop).await;
            let left = over.map_or(LAST, |over| over.saturating_duration_since(Instant::now()));
            tokio::time::sleep(left.max(MIN_FLUSH)).await;
        };
        tokio::select! {
            flushed = output.end(CLOSE_TIMEOUT) => flushed,
            () = patience => if output.is_clean() { Ok(()) } else { Err(output.unread()) },
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let open = self.stream.iter().map(|stream| &stream.association);
        let open: Vec<_> = open.chain(self.next.iter().map(|next| &next.association)).cloned().collect();
        // At the regular end of a session, the outputs are already closed.
        open.iter().for_each(|association| association.abort("the receiver has ended"));
        // The driver of a server also runs other streams.
        let driver = self.door.own().map(|own| own.listener.driver().clone());
        let its = driver.clone();
        let told = async move {
            for association in open {
                let _: Result<CloseReason, _> = tokio::time::timeout(LAST, association.closed()).await;
            }
            its.iter().for_each(Driver::stop);
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(told)),
            Err(_) => driver.iter().for_each(Driver::stop),
        }
    }
}
