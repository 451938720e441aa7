//! Framer, continuity check, marks, clock and packer, which process an input in this order.

use core::time::Duration;
use std::collections::VecDeque;

use super::schedule::Schedule;
use crate::MediaTime;
use crate::pace::{Governor, PaceClock, PaceConfig, PaceError, PcrPacer};
use crate::pack::{End, Outgoing, PackConfig, Packer};
use crate::ts::{
    ContinuityChecker, ContinuityCounts, Framer, FramerCounts, Marker, Marks, Packet, Program, TsError,
};

/// Duration of a stored input that is kept ready.
const READ_AHEAD: Duration = Duration::from_millis(500);

/// Reason why an input cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The input is not a transport stream.
    #[error(transparent)]
    Ts(#[from] TsError),
    /// The input lacks a clock for pacing.
    #[error(transparent)]
    Pace(#[from] PaceError),
}

/// Statistics of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngestStats {
    /// Packets, stray bytes, losses of sync.
    pub framing: FramerCounts,
    /// Gaps and duplicates in the input itself.
    pub continuity: ContinuityCounts,
    /// Messages and bytes polled so far.
    pub packed: End,
}

/// Turns an input into messages. A stored input is paced by its own clock. Packets of a live input get their time when
/// they arrive.
#[derive(Debug)]
pub struct Ingest {
    framer: Framer,
    continuity: ContinuityChecker,
    marker: Marker,
    clock: Clock,
    packer: Packer,
    /// Detects a live input that runs faster than its clock.
    governor: Option<Governor>,
}

#[derive(Debug)]
enum Clock {
    Arrival,
    Pcr {
        pacer: PcrPacer,
        /// Marks of the packets that the pacer buffers.
        marks: VecDeque<Marks>,
        schedule: Schedule,
    },
}

impl Clock {
    fn paced(pace: PaceConfig, schedule: Schedule) -> Self {
        Clock::Pcr { pacer: PcrPacer::new(pace), marks: VecDeque::new(), schedule }
    }

    /// Returns whether the input is live, so that packets arrive when they are produced.
    fn is_live(&self) -> bool {
        match self {
            Clock::Arrival => true,
            Clock::Pcr { schedule, .. } => schedule.is_live(),
        }
    }
}

impl Ingest {
    /// Creates the state for a stored input whose first packet is due at `origin`.
    pub fn paced(origin: MediaTime, pace: PaceConfig, pack: PackConfig) -> Self {
        Self::new(Clock::paced(pace, Schedule::stored(origin)), pack)
    }

    /// Creates the state for a live input that waits until it is read, such as a pipe. It is paced from its first
    /// packet on. Packets that are late by at most `tolerance` are sent at once. A packet that is later than that
    /// delays all later packets.
    pub fn paced_live(tolerance: Duration, pace: PaceConfig, pack: PackConfig) -> Self {
        Self::new(Clock::paced(pace, Schedule::live(tolerance)), pack)
    }

    /// Creates the state for a live input.
    pub fn live(pack: PackConfig) -> Self {
        Self::new(Clock::Arrival, pack)
    }

    /// Creates the state for a live input that waits until it is read, such as a pipe. If the input runs ahead of its
    /// own clock by more than `credit`, that clock paces it from then on. Pacing is then as with [`Ingest::paced_live`]
    /// and the tolerance `credit`. The input was not read for the time `waited`. It may therefore also be ahead by that
    /// time.
    pub fn pipe(credit: Duration, waited: Duration, pack: PackConfig) -> Self {
        Ingest { governor: Some(Governor::new(credit, waited)), ..Self::live(pack) }
    }

    /// Permits any bytes before the first packet of the stream.
    pub fn wait_for_stream(&mut self) {
        self.framer.wait_for_stream();
    }

    /// Kind of an input that is not a transport stream, if that is known.
    pub fn looks_like(&self) -> Option<&'static str> {
        self.framer.looks_like()
    }

    /// Distance between two packets of the input: 188, 192 or 204 bytes. `None` before the first packet.
    pub fn stride(&self) -> Option<usize> {
        self.framer.stride()
    }

    /// Clock by which the input is paced, once the clock is known. `None` for a live input that is not paced.
    pub fn paced_by(&self) -> Option<PaceClock> {
        match &self.clock {
            Clock::Arrival => None,
            Clock::Pcr { pacer, .. } => pacer.clock(),
        }
    }

    /// Sets the maximum size of later messages in bytes ([`Packer::limit`]).
    pub fn limit_messages(&mut self, bytes: usize) {
        self.packer.limit(bytes);
    }

    fn new(clock: Clock, pack: PackConfig) -> Self {
        Ingest {
            framer: Framer::new(),
            continuity: ContinuityChecker::new(),
            marker: Marker::new(),
            clock,
            packer: Packer::new(pack),
            governor: None,
        }
    }

    /// Accepts bytes that arrived at `now`. A stored input may be read arbitrarily far ahead.
    ///
    /// # Errors
    /// [`IngestError`] if the input cannot be sent; it then yields no further messages.
    pub fn push(&mut self, now: MediaTime, bytes: &[u8]) -> Result<(), IngestError> {
        self.framer.push(bytes);
        self.drain(now)
    }

    /// Ends the input at `now`: buffered messages are released, then the message that ends the stream.
    ///
    /// # Errors
    /// [`IngestError`] if the input had no stream or no clock.
    pub fn finish(&mut self, now: MediaTime) -> Result<(), IngestError> {
        self.framer.finish();
        self.drain(now)?;
        if let Clock::Pcr { pacer, .. } = &mut self.clock {
            pacer.finish()?;
        }
        self.pack_paced(now);
        let end = match &self.clock {
            Clock::Arrival => now,
            Clock::Pcr { schedule, .. } => schedule.end(now),
        };
        self.packer.finish(end);
        Ok(())
    }

    /// Stops the sender at `now`. Messages that were not polled are dropped, and the message that ends the stream is
    /// due.
    pub fn stop(&mut self, now: MediaTime) {
        self.packer.stop(now);
    }

    /// Returns whether a stored input should be read further at `now`. The input should be read further if less than
    /// half a second of it is ready.
    pub fn wants_input(&self, now: MediaTime) -> bool {
        matches!(self.clock, Clock::Arrival) || self.packer.last_at().is_none_or(|at| at < now + READ_AHEAD)
    }

    /// The next message that is due at `now`, in order of send times. With [`MediaTime::MAX`], all messages are due.
    pub fn poll(&mut self, now: MediaTime) -> Option<Outgoing> {
        if self.packer.next_at()? <= now { self.packer.poll() } else { None }
    }

    /// Time of the next call of [`Ingest::handle_timeout`] and [`Ingest::poll`].
    pub fn poll_timeout(&self) -> Option<MediaTime> {
        let held = if self.clock.is_live() { self.packer.poll_timeout() } else { None };
        self.packer.next_at().into_iter().chain(held).min()
    }

    /// Releases messages of a live input whose holding time has passed at `now`.
    pub fn handle_timeout(&mut self, now: MediaTime) {
        if self.clock.is_live() {
            self.packer.handle_timeout(now);
        }
    }

    /// Number of the stream in its messages.
    pub fn session(&self) -> u32 {
        self.packer.session()
    }

    /// Statistics until now.
    pub fn stats(&self) -> IngestStats {
        IngestStats {
            framing: self.framer.counts(),
            continuity: self.continuity.counts(),
            packed: self.packer.totals(),
        }
    }

    /// The input's first program, once its map has been read.
    pub fn program(&self) -> Option<Program> {
        self.marker.program()
    }

    fn drain(&mut self, now: MediaTime) -> Result<(), IngestError> {
        while let Some(packet) = self.framer.poll()? {
            self.take(now, packet)?;
        }
        self.pack_paced(now);
        Ok(())
    }

    fn take(&mut self, now: MediaTime, packet: Packet) -> Result<(), PaceError> {
        self.continuity.check(&packet);
        if let Some(governor) = self.governor.take_if(|governor| governor.is_ahead(now, &packet)) {
            self.clock = Clock::paced(PaceConfig::default(), Schedule::live(governor.credit()));
        }
        let mark = self.marker.mark(&packet);
        match &mut self.clock {
            Clock::Arrival => self.packer.push(now, &packet, mark),
            Clock::Pcr { pacer, marks, .. } => {
                if let Some(pid) = self.marker.program().and_then(|p| p.pcr_pid) {
                    pacer.set_pcr_pid(pid);
                }
                marks.push_back(mark);
                pacer.push(packet)?;
            }
        }
        Ok(())
    }

    /// Packs the packets that the pacer has timed at `now`.
    fn pack_paced(&mut self, now: MediaTime) {
        let Clock::Pcr { pacer, marks, schedule } = &mut self.clock else { return };
        while let Some(paced) = pacer.poll() {
            let mark = marks.pop_front().expect("every packet pushed into the pacer left its marks");
            self.packer.push(schedule.send_at(now, paced.at), &paced.packet, mark);
        }
    }
}
