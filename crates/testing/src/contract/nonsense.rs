//! Signals and calls in random order and with random content. A policy may give any answer, but must not panic.

use smallvec::SmallVec;

use strandcast_proto::policy::fixture;
use strandcast_proto::policy::{
    AckInfo, Backlog, BlockView, Blocked, BlockedBy, ChunkInfo, HeartbeatInfo, Importance, LinkId,
    LinkSample, LossCause, LossTrigger, MOST_ACTS, MessageHead, PathArrivals, PathId, PathState,
    PeerArrivals, PeerTime, RepairOffer, Report, ReportTrigger, RxInfo, Scheme, Signal, Symbol, SymbolKind,
    SymbolsInFlight, Transmission,
};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::units::Rate;
use strandcast_proto::wire::serial::{StreamId, Tsn};

const STEPS: usize = 2000;
/// Number of path slots in the view. Every path that is named is one of them, which the core guarantees.
const SLOTS: u64 = 3;

/// Calls `scheme`, and sends it signals at random.
pub(super) fn run(seed: u64, scheme: &mut dyn Scheme) {
    let mut noise = Noise(Seeds::new(seed, 0).stream("policy contract: nonsense"));
    let mut picture = fixture::Picture::new(SLOTS as u8);
    let mut reports = Vec::new();
    for _ in 0..STEPS {
        noise.shake(&mut picture);
        noise.tell(scheme, &mut picture);
        let view = picture.view();
        let (ack, chunk, cause) = (noise.ack(), noise.chunk(), noise.cause());
        scheme.loss().misses(&view, &ack, &chunk);
        scheme.loss().threshold(noise.path());
        scheme.loss().classify(&view, &chunk, noise.trigger());
        scheme.loss().retransmit(&view, &chunk, cause);
        scheme.scheduler().next(&view, &noise.backlog());
        scheme.scheduler().penalise(&view);
        scheme.scheduler().next_symbol(&view, &noise.backlog());
        scheme.scheduler().next_repair(&view, &noise.offer());
        scheme.feedback().sack(&view, &noise.arrival());
        let path = noise.path();
        for trigger in [
            ReportTrigger::Data(path),
            ReportTrigger::Sack(path),
            ReportTrigger::HeartbeatAck(path),
            ReportTrigger::Tick,
        ] {
            scheme.feedback().reports(&view, trigger, &mut reports);
        }
        reports.clear();
        scheme.feedback().probe(&view);
        scheme.feedback().return_paths(&view);
        noise.act(scheme, &picture);
        scheme.poll_timeout();
        scheme.congestion().limit(PathId(noise.0.below(32) as u8));
    }
}

struct Noise(Random);

impl Noise {
    fn path(&mut self) -> PathId {
        PathId(self.0.below(SLOTS) as u8)
    }

    fn maybe(&mut self) -> bool {
        self.0.chance(0.5)
    }

    /// Draws zero, a small number, or a large number up to 2⁴⁰.
    fn bytes(&mut self) -> u64 {
        let shift = 24 + self.0.below(41);
        self.0.u64().checked_shr(shift as u32).unwrap_or(0)
    }

    fn tsn(&mut self) -> Tsn {
        Tsn(if self.maybe() { self.0.below(40) as u32 } else { self.0.u32() })
    }

    fn time(&mut self) -> Instant {
        Instant::from_nanos(self.bytes() << 10)
    }

    fn duration(&mut self) -> Duration {
        Duration::from_nanos(self.bytes())
    }

    fn cause(&mut self) -> LossCause {
        [LossCause::Congestion, LossCause::Wireless, LossCause::PathFailure][self.0.below(3) as usize]
    }

    fn trigger(&mut self) -> LossTrigger {
        use LossTrigger::{FastRetransmit, HeadOfLine, Timeout};
        [FastRetransmit, Timeout, HeadOfLine][self.0.below(3) as usize]
    }

    fn state(&mut self) -> PathState {
        use PathState::{Active, Closed, Inactive, PotentiallyFailed, Suspended, Unconfirmed};
        [Active, Closed, Inactive, PotentiallyFailed, Suspended, Unconfirmed][self.0.below(6) as usize]
    }

    fn shake(&mut self, picture: &mut fixture::Picture) {
        picture.now = self.time();
        picture.rwnd = self.bytes();
        picture.primary = self.path();
        picture.last_path_used = if self.maybe() { Some(self.path()) } else { None };
        picture.peer_reports = self.maybe();
        let (by, tsn, path, since) = (BlockedBy::SendBuffer, self.tsn(), self.path(), self.time());
        picture.blocked = self.maybe().then_some(Blocked { by, tsn, path, since });
        // As the core guarantees: in order, each number once.
        let mut number = self.few();
        picture.blocks.clear();
        for _ in 0..self.0.below(6) {
            number = number.wrapping_add(1 + self.0.below(3) as u32);
            picture.blocks.push(self.block(number));
        }
        let path = self.path().index();
        let p = &mut picture.paths[path];
        p.state = self.state();
        p.mtu = 500 + self.0.below(9000);
        p.srtt = if self.maybe() { Some(self.duration()) } else { None };
        p.rttvar = self.duration();
        p.min_rtt = p.srtt;
        p.latest_rtt = p.srtt;
        p.rto = self.duration();
        p.error_count = self.0.below(9) as u32;
        p.in_flight = self.bytes() / 4;
        p.in_flight_chunks = self.0.below(100) as u32;
        p.blocked = self.0.chance(0.2);
    }

    fn tell(&mut self, scheme: &mut dyn Scheme, picture: &mut fixture::Picture) {
        let path = self.path();
        match self.0.below(15) {
            0 => picture.signal(scheme, &Signal::Sent(&self.chunk())),
            1 => picture.signal(scheme, &Signal::Queued),
            2 | 3 => picture.signal(scheme, &Signal::Acked(&self.ack())),
            4 => picture.signal(scheme, &Signal::Lost { chunk: &self.chunk(), path, cause: self.cause() }),
            5 => {
                let (trigger, highest, cause) = (self.trigger(), self.tsn(), self.cause());
                picture.signal(scheme, &Signal::LossEvent { path, trigger, highest, cause });
            }
            6 => picture.signal(scheme, &Signal::Abandoned(&self.chunk())),
            7 => picture.signal(scheme, &Signal::Link(&self.link())),
            8 => picture.signal(scheme, &Signal::Arrived(&self.arrival())),
            9 => picture.signal(scheme, &Signal::Peer(&self.report())),
            10 => {
                let rtt = if self.maybe() { Some(self.duration()) } else { None };
                let info =
                    HeartbeatInfo { path, rtt, probe: self.maybe(), sent: self.time(), late: self.maybe() };
                picture.signal(scheme, &Signal::Heartbeat(&info));
            }
            11 => picture.signal(scheme, &Signal::PathChanged(path)),
            12 => {
                let path = self.maybe().then_some(path);
                picture.signal(scheme, &Signal::Delivered { chunk: &self.chunk(), path });
            }
            13 => picture.signal(scheme, &Signal::PeerArrivals(&self.arrivals())),
            _ => picture.signal(scheme, &Signal::Tick),
        }
    }

    /// Asks the scheme for actions on chunks of any kind. The method stops when the scheme returns no further action,
    /// or when the core would stop asking.
    fn act(&mut self, scheme: &mut dyn Scheme, picture: &fixture::Picture) {
        let first = self.tsn();
        let mut chunks: Vec<ChunkInfo> = (0..self.0.below(8)).map(|_| self.chunk()).collect();
        for (n, chunk) in chunks.iter_mut().enumerate() {
            chunk.tsn = first + n as u32;
            // The core's counters would not hold more.
            chunk.len %= 1 << 16;
        }
        let outstanding = fixture::Outstanding::new(&chunks);
        for _ in 0..MOST_ACTS {
            if scheme.act(&picture.view(), &outstanding.flight()).is_none() {
                break;
            }
        }
    }

    fn arrivals(&mut self) -> PeerArrivals {
        let paths = (0..SLOTS as u8).map(|i| self.path_arrivals(PathId(i))).collect();
        PeerArrivals { written: PeerTime(self.bytes()), via: self.path(), paths }
    }

    fn path_arrivals(&mut self, path: PathId) -> PathArrivals {
        PathArrivals {
            path,
            tsn: self.tsn(),
            at: PeerTime(self.bytes()),
            sent: if self.maybe() { Some(self.time()) } else { None },
            packets: self.bytes(),
            bytes: self.bytes(),
        }
    }

    fn chunk(&mut self) -> ChunkInfo {
        let mut transmissions = SmallVec::new();
        for _ in 0..self.0.below(4) {
            transmissions.push(Transmission {
                path: self.path(),
                at: self.time(),
                next_tsn: self.tsn(),
                in_flight: self.maybe(),
                misses: self.0.below(256) as u8,
                overtaken: self.maybe().then(|| self.time()),
                lost: None,
            });
        }
        ChunkInfo {
            tsn: self.tsn(),
            len: self.bytes() / 4,
            stream: StreamId(0),
            expires: if self.maybe() { Some(self.time()) } else { None },
            importance: self.importance(),
            group: self.group(),
            transmissions,
            losses: self.0.below(256) as u8,
            symbol: if self.0.chance(0.8) { Some(self.symbol()) } else { None },
        }
    }

    /// Draws a small number or any number.
    fn few(&mut self) -> u32 {
        if self.0.chance(0.9) { self.0.below(20) as u32 } else { self.0.u32() }
    }

    fn symbol(&mut self) -> Symbol {
        let source = self.maybe();
        let kind = if source { SymbolKind::Source(self.few() as u16) } else { SymbolKind::Repair };
        Symbol { block: self.few(), sources: self.few() as u16, kind }
    }

    fn block(&mut self, number: u32) -> BlockView {
        BlockView {
            number,
            sources: self.few() as u16,
            closed: self.maybe(),
            rank: self.few() as u16,
            sources_sent: self.few() as u16,
            repairs_sent: self.few(),
            in_flight: (0..self.0.below(SLOTS + 2))
                .map(|_| SymbolsInFlight { sources: self.few(), repairs: self.few() })
                .collect(),
        }
    }

    fn offer(&mut self) -> RepairOffer {
        RepairOffer {
            len: self.bytes(),
            first: self.few(),
            sources: self.few() as u16,
            sent_on: (0..self.0.below(SLOTS + 2)).map(|_| self.few()).collect(),
            expires: if self.maybe() { Some((self.time(), self.time())) } else { None },
        }
    }

    fn ack(&mut self) -> AckInfo {
        AckInfo {
            path: self.path(),
            return_path: self.path(),
            cum_tsn: self.tsn(),
            cum_advanced: self.maybe(),
            pseudo_cum_advanced: self.maybe(),
            rtx_pseudo_cum_advanced: self.maybe(),
            earliest_outstanding: if self.maybe() { Some(self.tsn()) } else { None },
            newly_acked: self.bytes() / 4,
            proven: self.0.u64(),
            newly_acked_chunks: self.0.u32(),
            newly_acked_again: 0,
            flight_before: self.bytes(),
            all_acked: self.maybe(),
            rtt: if self.maybe() { Some(self.duration()) } else { None },
            newest_sent: if self.maybe() { Some(self.time()) } else { None },
            newly_acked_range: if self.maybe() { Some((self.tsn(), self.tsn())) } else { None },
            highest_newly_acked: if self.maybe() { Some(self.tsn()) } else { None },
            highest_reported: self.tsn(),
            paths_newly_acked: self.0.below(4) as u8,
            dac_count: self.0.below(256) as u8,
            held: Duration::from_nanos(self.bytes()),
            lateness: Duration::from_nanos(self.bytes()),
            lowest_gap_acked: if self.maybe() { Some(self.tsn()) } else { None },
            paths_gap_acked: self.0.below(4) as u8,
        }
    }

    fn link(&mut self) -> LinkSample {
        LinkSample {
            link: LinkId(self.0.below(4) as u32),
            path: if self.maybe() { Some(self.path()) } else { None },
            tx_frames: self.bytes(),
            tx_retries: self.bytes(),
            tx_failed: self.bytes(),
            rx_frames: self.bytes(),
            rx_errors: self.bytes(),
            queued_bytes: if self.maybe() { Some(self.bytes()) } else { None },
            frame_bytes: if self.maybe() { Some(self.0.uniform(0.0, 3000.0)) } else { None },
            snr_db: if self.maybe() { Some(self.0.uniform(-30.0, 80.0)) } else { None },
            phy_rate: if self.maybe() { Some(Rate::from_bps(self.bytes() as f64)) } else { None },
            departure: if self.maybe() { Some((self.time(), self.bytes())) } else { None },
        }
    }

    fn arrival(&mut self) -> RxInfo {
        RxInfo {
            path: self.path(),
            bytes: self.bytes(),
            tsns: if self.maybe() { Some((self.tsn(), self.tsn())) } else { None },
            new: self.maybe(),
            duplicate: self.maybe(),
            gap: self.maybe(),
            filled: self.maybe(),
            immediate: self.maybe(),
            packets_since_sack: self.0.u32(),
        }
    }

    fn report(&mut self) -> Report {
        let mut payload = vec![0; self.0.below(40) as usize];
        self.0.fill(&mut payload);
        Report {
            kind: 0x100 + self.0.below(32) as u16,
            subject: if self.maybe() { Some(self.path()) } else { None },
            via: Some(self.path()),
            reliable: self.maybe(),
            payload: payload.into(),
        }
    }

    fn importance(&mut self) -> Importance {
        Importance::ALL[self.0.below(4) as usize]
    }

    fn group(&mut self) -> Option<u64> {
        if self.maybe() { Some(self.0.below(10)) } else { None }
    }

    fn head(&mut self) -> MessageHead {
        MessageHead {
            importance: self.importance(),
            next_len: self.bytes(),
            next_expires: if self.maybe() { Some(self.time()) } else { None },
            group: self.group(),
            bytes: self.bytes(),
        }
    }

    fn backlog(&mut self) -> Backlog {
        let heads = self.0.below(5);
        Backlog {
            bytes: self.bytes(),
            messages: self.0.below(1000) as usize,
            next_len: self.bytes(),
            rest: self.bytes(),
            begun: self.maybe(),
            next_expires: if self.maybe() { Some(self.time()) } else { None },
            retransmission: self.maybe(),
            tried: strandcast_proto::policy::PathSet::one(self.path()),
            next_importance: self.importance(),
            next_group: self.group(),
            heads: (0..heads).map(|_| self.head()).collect(),
        }
    }
}
