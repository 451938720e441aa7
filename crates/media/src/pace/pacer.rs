//! Due times of packets from the program clock reference (PCR). Between two references the clock is linear (ISO/IEC
//! 13818-1 §2.4.2.1).

use core::time::Duration;
use std::collections::VecDeque;

use crate::ts::{PACKET_LEN, Packet, Pcr, PesHeader};

/// A larger step between two references starts a new time base. (The standard allows 100 ms between them.)
const MAX_STEP: u64 = 2 * Pcr::HZ;
/// Maximum step between two time stamps, and between two references of a stream whose references are rare. A larger
/// step starts a new time base.
const SPARSE_STEP: u64 = 10 * Pcr::HZ;
/// Maximum number of clocks that are tried.
const MOST_CLOCKS: usize = 32;

/// Configuration of a [`PcrPacer`] for streams without a clock.
#[derive(Debug, Clone, Copy)]
pub struct PaceConfig {
    /// Bytes buffered while waiting for a reference.
    pub look_ahead: usize,
    /// Bit rate that replaces the clock of the stream.
    pub rate_bps: Option<u64>,
}

impl Default for PaceConfig {
    /// Returns a look-ahead of 8 MiB and no rate.
    fn default() -> Self {
        PaceConfig { look_ahead: 8 << 20, rate_bps: None }
    }
}

/// Clock by which a stream is paced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaceClock {
    /// The PCR that the program map names, or the first one.
    Pcr,
    /// The PCR that the program map names, with references up to ten seconds apart.
    SparsePcr,
    /// The PCR of another PID, because the PID of the program map has no usable PCR.
    OtherPcr(u16),
    /// Time stamps of the video or audio of a PID, because there is no usable PCR.
    Stamps(u16),
    /// A given bit rate.
    Rate(u64),
}

impl core::fmt::Display for PaceClock {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            PaceClock::Pcr => f.write_str("its PCR"),
            PaceClock::SparsePcr => f.write_str("its PCR, which comes less often than every 2 s"),
            PaceClock::OtherPcr(pid) => {
                write!(f, "the PCR of PID {pid}, since the PID of the program map has none that counts")
            }
            PaceClock::Stamps(pid) => {
                write!(f, "the time stamps (DTS) of PID {pid}, since no PCR of it can be used")
            }
            PaceClock::Rate(bps) => write!(f, "the rate of {bps} bit/s"),
        }
    }
}

/// Reason why a stream cannot be paced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PaceError {
    /// The examined bytes contain no clock.
    #[error(
        "no pace: neither two PCRs{} that differ nor two time stamps in the first {looked_at} bytes; --rate gives the \
         bit rate",
        on(*pid)
    )]
    NoPcr {
        /// The PID that the program map names for the PCR, if it was read.
        pid: Option<u16>,
        /// Bytes examined.
        looked_at: usize,
    },
}

fn on(pid: Option<u16>) -> String {
    pid.map(|pid| format!(" on PID {pid} or another one")).unwrap_or_default()
}

/// A packet and its due time.
#[derive(Debug, Clone, Copy)]
pub struct Paced {
    /// Time since the stream's first packet.
    pub at: Duration,
    /// The packet.
    pub packet: Packet,
}

/// Computes the due time of each packet of a stored stream. Packets are buffered until the next reference of the
/// program's clock. The times of the packets are interpolated between the two references by their position.
///
/// Packets before the first and after the last reference use the adjacent rate. A new time base begins with
/// `discontinuity_indicator`, with a step back, or with a step of more than two seconds. Time then continues at the
/// last rate, as it does when the references stop. If the look-ahead of a stream contains no such references, another
/// clock paces the stream ([`PaceClock`]).
#[derive(Debug)]
pub struct PcrPacer {
    config: PaceConfig,
    /// The clock, once it is known.
    clock: Option<PaceClock>,
    /// PID of the references.
    pid: Option<u16>,
    /// True if `pid` is from the program map instead of the first PID with a reference.
    named: bool,
    pending: VecDeque<Packet>,
    /// Position of the first pending packet, in packets.
    first: u64,
    state: State,
    ready: VecDeque<Paced>,
}

/// Positions count packets. Times count ticks of 27 MHz since the first packet.
#[derive(Debug, Clone, Copy)]
enum State {
    /// Fewer than two references of one time base have arrived. The last reference and its position are stored.
    Starting(Option<(u64, Pcr)>),
    /// The packet at `position` is due at `ticks`. Later packets follow at `rate`.
    Running { position: u64, ticks: u64, pcr: Option<Pcr>, rate: Rate },
}

/// A rate of `ticks` for `packets` packets.
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
    /// Creates a pacer at the beginning of a stream.
    pub fn new(config: PaceConfig) -> Self {
        PcrPacer {
            config,
            clock: None,
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

    /// The clock by which the stream is paced, once it is known.
    pub fn clock(&self) -> Option<PaceClock> {
        self.clock
    }

    /// Accepts the next packet.
    ///
    /// # Errors
    /// [`PaceError::NoPcr`] when the look-ahead is full and the rate is unknown.
    pub fn push(&mut self, packet: Packet) -> Result<(), PaceError> {
        let position = self.first + self.pending.len() as u64;
        self.pending.push_back(packet);
        if self.clock.is_none()
            && let Some(bps) = self.config.rate_bps
        {
            self.clock = Some(PaceClock::Rate(bps));
        }
        if let Some((reference, new_base)) = self.reference(&packet) {
            self.on_reference(position, reference, new_base);
        }
        let known = matches!(self.clock, Some(PaceClock::Rate(_)));
        if known || self.pending.len() * PACKET_LEN >= self.config.look_ahead {
            self.run_on()?;
        }
        Ok(())
    }

    /// The reference of the stream's clock in a packet, and whether it begins a new time base.
    fn reference(&mut self, packet: &Packet) -> Option<(Pcr, bool)> {
        match self.clock {
            Some(PaceClock::Rate(_)) => None,
            Some(PaceClock::Stamps(pid)) => {
                stamp(packet).filter(|_| packet.pid() == pid).map(|at| (at, false))
            }
            Some(PaceClock::OtherPcr(pid)) => pcr(packet).filter(|_| packet.pid() == pid),
            None | Some(PaceClock::Pcr | PaceClock::SparsePcr) => {
                let found = pcr(packet)?;
                (*self.pid.get_or_insert(packet.pid()) == packet.pid()).then_some(found)
            }
        }
    }

    /// Ends the stream: all packets get their due times.
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

    fn on_reference(&mut self, position: u64, pcr: Pcr, discontinuity: bool) {
        let most = match self.clock {
            Some(PaceClock::SparsePcr | PaceClock::Stamps(_)) => SPARSE_STEP,
            _ => MAX_STEP,
        };
        let step = |last: Pcr| Some(pcr.since(last)).filter(|&step| !discontinuity && step <= most);
        if matches!(self.clock, Some(PaceClock::Stamps(_)))
            && let State::Starting(Some((_, last))) | State::Running { pcr: Some(last), .. } = self.state
            && (1..most).contains(&last.since(pcr))
        {
            // Presentation times go back if frames are sent in another order than they are shown.
            return;
        }
        self.state = match self.state {
            State::Starting(None) => State::Starting(Some((position, pcr))),
            State::Starting(Some((at, last))) => match step(last) {
                // A repeated packet stops the clock for the duration of the packet. The next reference corrects this.
                Some(0) => return,
                Some(ticks) => {
                    let rate = Rate { ticks, packets: position - at };
                    self.clock.get_or_insert(PaceClock::Pcr);
                    self.release_until(position, (0, 0), rate);
                    State::Running { position, ticks: rate.over(position), pcr: Some(pcr), rate }
                }
                None => State::Starting(Some((position, pcr))),
            },
            State::Running { position: at, ticks, pcr: last, rate } => match last.map(step) {
                Some(Some(0)) => return,
                Some(Some(step)) => {
                    let rate = Rate { ticks: step, packets: position - at };
                    self.release_until(position, (at, ticks), rate);
                    State::Running { position, ticks: ticks.saturating_add(step), pcr: Some(pcr), rate }
                }
                Some(None) | None => {
                    self.release_until(position, (at, ticks), rate);
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

    /// Times the buffered packets by the last rate, or by another clock.
    fn run_on(&mut self) -> Result<(), PaceError> {
        let looked_at = self.pending.len() * PACKET_LEN;
        if let (State::Starting(_), None) = (self.state, self.clock) {
            self.find_clock();
        }
        let (at, ticks, rate) = match (self.state, self.clock) {
            (State::Running { position, ticks, rate, .. }, _) => (position, ticks, rate),
            (State::Starting(_), Some(PaceClock::Rate(bps))) => {
                let rate = Rate { ticks: Pcr::HZ * 8 * PACKET_LEN as u64, packets: bps.max(1) };
                (0, 0, rate)
            }
            (State::Starting(_), _) => {
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

    /// Looks for another clock in the buffered packets, and uses it for their due times. The buffered packets are the
    /// whole stream so far.
    fn find_clock(&mut self) {
        let own = self.pid;
        let mut candidates: Vec<PaceClock> = own.map(|_| PaceClock::SparsePcr).into_iter().collect();
        let mut add = |clock| {
            if !candidates.contains(&clock) {
                candidates.push(clock);
            }
        };
        let others = self.pending.iter().filter(|packet| pcr(packet).is_some() && Some(packet.pid()) != own);
        others.for_each(|packet| add(PaceClock::OtherPcr(packet.pid())));
        let stamped = self.pending.iter().filter(|packet| stamp(packet).is_some());
        stamped.for_each(|packet| add(PaceClock::Stamps(packet.pid())));
        for clock in candidates.into_iter().take(MOST_CLOCKS) {
            (self.clock, self.state) = (Some(clock), State::Starting(None));
            let mut references = Vec::new();
            for (n, position) in (self.first..).take(self.pending.len()).enumerate() {
                let packet = self.pending[n];
                references.extend(self.reference(&packet).map(|(at, new_base)| (position, at, new_base)));
            }
            for (position, at, new_base) in references {
                self.on_reference(position, at, new_base);
            }
            if matches!(self.state, State::Running { .. }) {
                return;
            }
        }
        (self.clock, self.state) = (None, State::Starting(None));
    }

    /// Discards the last reference. Later packets are placed by the last rate alone.
    fn forget_reference(&mut self) {
        match &mut self.state {
            State::Starting(reference) => *reference = None,
            State::Running { pcr, .. } => *pcr = None,
        }
    }

    /// Releases the buffered packets from position `at` to position `until`. The packet at position `at` is due at
    /// `ticks`.
    fn release_until(&mut self, until: u64, (at, ticks): (u64, u64), rate: Rate) {
        while self.first <= until {
            let Some(packet) = self.pending.pop_front() else { return };
            let due = ticks.saturating_add(rate.over(self.first - at));
            self.first += 1;
            self.ready.push_back(Paced { at: duration(due), packet });
        }
    }

    /// Releases all buffered packets from position `at` on. The packet at this position is due at `ticks`.
    fn release(&mut self, at: u64, ticks: u64, rate: Rate) {
        self.release_until(u64::MAX, (at, ticks), rate);
    }
}

/// The PCR of a packet, and whether it begins a new time base.
fn pcr(packet: &Packet) -> Option<(Pcr, bool)> {
    let adaptation = packet.adaptation()?;
    Some((adaptation.pcr?, adaptation.discontinuity))
}

/// The time stamp of a packet in which a frame begins. The time stamp is the decoding time or, without a decoding time,
/// the presentation time.
fn stamp(packet: &Packet) -> Option<Pcr> {
    let pes = PesHeader::parse(packet.payload()).filter(|_| packet.unit_start())?;
    // Time stamps have 33 bits and count ticks of 90 kHz, like the base of a PCR.
    pes.dts.or(pes.pts).map(|stamp| Pcr::from_ticks(stamp * 300))
}

fn duration(ticks: u64) -> Duration {
    Duration::from_nanos(ticks.saturating_mul(1_000) / (Pcr::HZ / 1_000_000))
}
