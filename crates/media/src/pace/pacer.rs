//! Time stamps from the program clock reference (ISO/IEC 13818-1 §2.4.2.1: the clock is linear between references).

use core::time::Duration;
use std::collections::VecDeque;

use crate::ts::{PACKET_LEN, Packet, Pcr};

/// A larger step between two references starts a new time base. (The standard allows 100 ms between them.)
const MAX_STEP: u64 = 2 * Pcr::HZ;

/// Configuration of a [`PcrPacer`] for streams without a clock.
#[derive(Debug, Clone, Copy)]
pub struct PaceConfig {
    /// Bytes buffered while waiting for a reference.
    pub look_ahead: usize,
    /// Bit rate to use if `look_ahead` holds fewer than two references; without it that is an error.
    pub fallback_bps: Option<u64>,
}

impl Default for PaceConfig {
    /// 8 MiB, no fallback.
    fn default() -> Self {
        PaceConfig { look_ahead: 8 << 20, fallback_bps: None }
    }
}

/// Reason why a stream cannot be paced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PaceError {
    /// Fewer than two references in the bytes examined.
    #[error("no pace: fewer than two PCRs{} in the first {looked_at} bytes; give the bit rate instead", on(*pid))]
    NoPcr {
        /// The PID that the program map names for the PCR, if it was read.
        pid: Option<u16>,
        /// Bytes examined.
        looked_at: usize,
    },
}

fn on(pid: Option<u16>) -> String {
    pid.map(|pid| format!(" on PID {pid}")).unwrap_or_default()
}

/// A packet and its due time.
#[derive(Debug, Clone, Copy)]
pub struct Paced {
    /// Time since the stream's first packet.
    pub at: Duration,
    /// The packet.
    pub packet: Packet,
}

/// Times each packet of a stored stream: packets are buffered until the next reference of the program's clock, then
/// interpolated between the two by their position.
///
/// Packets before the first and after the last reference have the adjacent rate. At a new time base
/// (`discontinuity_indicator`, a step back, or a step of more than two seconds) time continues at the last rate, as it
/// does when the references stop.
#[derive(Debug)]
pub struct PcrPacer {
    config: PaceConfig,
    /// The PID the references are taken from.
    pid: Option<u16>,
    /// `pid` is from the program map, not the first PID with a reference.
    named: bool,
    pending: VecDeque<Packet>,
    /// Position of the first pending packet, in packets.
    first: u64,
    state: State,
    ready: VecDeque<Paced>,
}

/// Positions count packets, times ticks of 27 MHz since the first packet.
#[derive(Debug, Clone, Copy)]
enum State {
    /// Fewer than two references of one time base have arrived; the last one and its position.
    Starting(Option<(u64, Pcr)>),
    /// The packet at `position` is due at `ticks`; later ones follow at `rate`.
    Running { position: u64, ticks: u64, pcr: Option<Pcr>, rate: Rate },
}

/// `ticks` for `packets` packets.
#[derive(Debug, Clone, Copy)]
struct Rate {
    ticks: u64,
    packets: u64,
}

impl Rate {
    /// Ticks for `packets` packets.
    fn over(self, packets: u64) -> u64 {
        let ticks = u128::from(packets) * u128::from(self.ticks) / u128::from(self.packets);
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

impl PcrPacer {
    /// A pacer at the beginning of a stream.
    pub fn new(config: PaceConfig) -> Self {
        PcrPacer {
            config,
            pid: None,
            named: false,
            pending: VecDeque::new(),
            first: 0,
            state: State::Starting(None),
            ready: VecDeque::new(),
        }
    }

    /// Sets the clock's PID from the program map. The default is the first PID with a reference.
    pub fn set_pcr_pid(&mut self, pid: u16) {
        if self.pid != Some(pid) {
            self.forget_reference();
        }
        self.pid = Some(pid);
        self.named = true;
    }

    /// Accepts the next packet.
    ///
    /// # Errors
    /// [`PaceError::NoPcr`] when the look-ahead is full and the rate is unknown.
    pub fn push(&mut self, packet: Packet) -> Result<(), PaceError> {
        let position = self.first + self.pending.len() as u64;
        self.pending.push_back(packet);
        let adaptation = packet.adaptation();
        if let Some(pcr) = adaptation.and_then(|a| a.pcr)
            && *self.pid.get_or_insert(packet.pid()) == packet.pid()
        {
            self.on_pcr(position, pcr, adaptation.is_some_and(|a| a.discontinuity));
        }
        if self.pending.len() * PACKET_LEN >= self.config.look_ahead {
            self.run_on()?;
        }
        Ok(())
    }

    /// Ends the stream: all packets are timed.
    ///
    /// # Errors
    /// [`PaceError::NoPcr`] if packets are buffered and the rate is unknown.
    pub fn finish(&mut self) -> Result<(), PaceError> {
        if self.pending.is_empty() { Ok(()) } else { self.run_on() }
    }

    /// The next timed packet.
    pub fn poll(&mut self) -> Option<Paced> {
        self.ready.pop_front()
    }

    fn on_pcr(&mut self, position: u64, pcr: Pcr, discontinuity: bool) {
        let step = |last: Pcr| Some(pcr.since(last)).filter(|&step| !discontinuity && step <= MAX_STEP);
        self.state = match self.state {
            State::Starting(None) => State::Starting(Some((position, pcr))),
            State::Starting(Some((at, last))) => match step(last) {
                // A repeated packet stops the clock for its length; the next reference corrects that.
                Some(0) => return,
                Some(ticks) => {
                    let rate = Rate { ticks, packets: position - at };
                    self.release(0, 0, rate);
                    State::Running { position, ticks: rate.over(position), pcr: Some(pcr), rate }
                }
                None => State::Starting(Some((position, pcr))),
            },
            State::Running { position: at, ticks, pcr: last, rate } => match last.map(step) {
                Some(Some(0)) => return,
                Some(Some(step)) => {
                    let rate = Rate { ticks: step, packets: position - at };
                    self.release(at, ticks, rate);
                    State::Running { position, ticks: ticks.saturating_add(step), pcr: Some(pcr), rate }
                }
                Some(None) | None => {
                    self.release(at, ticks, rate);
                    State::Running {
                        position,
                        ticks: ticks.saturating_add(rate.over(position - at)),
                        pcr: Some(pcr),
                        rate,
                    }
                }
            },
        };
    }

    /// Times the buffered packets by the last rate, or the fallback.
    fn run_on(&mut self) -> Result<(), PaceError> {
        let looked_at = self.pending.len() * PACKET_LEN;
        let (at, ticks, rate) = match (self.state, self.config.fallback_bps) {
            (State::Running { position, ticks, rate, .. }, _) => (position, ticks, rate),
            (State::Starting(_), Some(bps)) => {
                let rate = Rate { ticks: Pcr::HZ * 8 * PACKET_LEN as u64, packets: bps.max(1) };
                (0, 0, rate)
            }
            (State::Starting(_), None) => {
                return Err(PaceError::NoPcr { pid: self.pid.filter(|_| self.named), looked_at });
            }
        };
        self.release(at, ticks, rate);
        let position = self.first;
        self.state = State::Running {
            position,
            ticks: ticks.saturating_add(rate.over(position - at)),
            pcr: None,
            rate,
        };
        Ok(())
    }

    /// Later packets are placed by the last rate, not by the last reference.
    fn forget_reference(&mut self) {
        match &mut self.state {
            State::Starting(reference) => *reference = None,
            State::Running { pcr, .. } => *pcr = None,
        }
    }

    /// Releases all buffered packets from position `at`, due at `ticks`, onwards.
    fn release(&mut self, at: u64, ticks: u64, rate: Rate) {
        for packet in self.pending.drain(..) {
            let due = ticks.saturating_add(rate.over(self.first - at));
            self.first += 1;
            self.ready.push_back(Paced { at: duration(due), packet });
        }
    }
}

fn duration(ticks: u64) -> Duration {
    Duration::from_nanos(ticks.saturating_mul(1_000) / (Pcr::HZ / 1_000_000))
}
