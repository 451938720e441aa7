//! Views, chunks and acknowledgements for tests of single policies.

use bytes::Bytes;
use smallvec::SmallVec;

use crate::policy::{
    AckInfo, ChunkInfo, Flight, LinkId, LossCause, PathId, PathState, PathView, PathViews, Queued, Scheme,
    Signal, Transmission, View, Waiting,
};
use crate::time::{Duration, Instant};
use crate::tx::{Carries, ChunkState, Outgoing, QueuedMessage, RetransmissionQueue, SendQueue};
use crate::wire::serial::{Ppid, Ssn, StreamId, Tsn};

/// Maximum DATA chunk (PMDCS) in bytes of the paths of a fixture.
pub const MTU: u64 = 1000;

/// State of paths from which a test builds views.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Present time.
    pub now: Instant,
    /// Views of the paths.
    pub paths: Vec<PathView>,
    /// Receive window of the peer in bytes.
    pub rwnd: u64,
    /// The primary path.
    pub primary: PathId,
    /// The path that was used last.
    pub last_path_used: Option<PathId>,
    /// True if the peer is a Strandcast peer.
    pub peer_reports: bool,
    /// The buffer that prevents new data.
    pub blocked: Option<crate::policy::Blocked>,
    /// Coded blocks that the receiver does not have yet.
    pub blocks: Vec<crate::policy::BlockView>,
}

impl Picture {
    /// Creates a state of `n` active paths: MTU 1000 bytes, RTT 100 ms, RTO 1 s, nothing in flight, no window.
    pub fn new(n: u8) -> Self {
        Picture {
            now: Instant::from_millis(1000),
            paths: (0..n).map(path).collect(),
            rwnd: 1 << 20,
            primary: PathId(0),
            last_path_used: None,
            peer_reports: true,
            blocked: None,
            blocks: Vec::new(),
        }
    }

    /// Returns the view that policies receive.
    pub fn view(&self) -> View<'_> {
        View {
            now: self.now,
            paths: &self.paths,
            rwnd: self.rwnd,
            in_flight: self.paths.iter().map(|p| p.in_flight).sum(),
            last_path_used: self.last_path_used,
            primary: self.primary,
            peer_reports: self.peer_reports,
            blocked: self.blocked,
            blocks: &self.blocks,
        }
    }

    /// Passes a signal to `scheme`. The call also refreshes estimates and limits as the core does.
    pub fn signal(&mut self, scheme: &mut dyn Scheme, signal: &Signal<'_>) {
        scheme.observe(&self.view(), signal);
        for p in &mut self.paths {
            scheme.estimate(p.id, &mut p.est);
        }
        scheme.react(&self.view(), signal);
        for p in &mut self.paths {
            p.limit = scheme.congestion().limit(p.id);
            p.limit.cwnd = p.limit.cwnd.max(p.mtu);
        }
    }
}

/// Returns an active path: MTU 1000 bytes, RTT 100 ms, RTO 1 s, nothing in flight, no window.
pub fn path(id: u8) -> PathView {
    let rtt = Duration::from_millis(100);
    PathView {
        id: PathId(id),
        state: PathState::Active,
        mtu: MTU,
        srtt: Some(rtt),
        rttvar: rtt / 8,
        latest_rtt: Some(rtt),
        ack_delay: Duration::ZERO,
        min_rtt: Some(rtt),
        rto: Duration::from_secs(1),
        error_count: 0,
        in_flight: 0,
        in_flight_chunks: 0,
        last_sent: None,
        link: LinkId(u32::from(id)),
        tariff: Default::default(),
        blocked: false,
        est: Default::default(),
        limit: Default::default(),
    }
}

/// Returns a chunk of one MTU that is in flight on `paths` and was sent once on each. On several paths, all
/// transmissions but the first are copies.
pub fn chunk(tsn: u32, paths: &[u8]) -> ChunkInfo {
    let sent = |p: &u8| Transmission::new(PathId(*p), Instant::from_millis(900), Tsn(tsn).next());
    ChunkInfo {
        tsn: Tsn(tsn),
        len: MTU,
        stream: StreamId(0),
        expires: None,
        importance: Default::default(),
        group: None,
        transmissions: paths.iter().map(sent).collect::<SmallVec<_>>(),
        losses: 0,
        symbol: None,
    }
}

/// Returns the signal that the last transmission of `chunk` was lost by congestion.
pub fn loss_of(chunk: &ChunkInfo) -> Signal<'_> {
    Signal::Lost { chunk, path: chunk.path(), cause: LossCause::Congestion }
}

/// Returns a SACK that newly acknowledges the TSNs `low..=high`, all sent on `path`. The returned SACK moves the
/// cumulative TSN to `cum`. Before the SACK, `flight` bytes were in flight.
pub fn ack(path: u8, cum: u32, (low, high): (u32, u32), flight: u64) -> AckInfo {
    let chunks = high - low + 1;
    let newly_acked = u64::from(chunks) * MTU;
    AckInfo {
        path: PathId(path),
        return_path: PathId(path),
        cum_tsn: Tsn(cum),
        cum_advanced: cum >= low,
        pseudo_cum_advanced: cum >= low,
        rtx_pseudo_cum_advanced: false,
        earliest_outstanding: (newly_acked < flight).then_some(Tsn(cum).next()),
        newly_acked,
        proven: newly_acked,
        newly_acked_chunks: chunks,
        newly_acked_again: 0,
        flight_before: flight,
        all_acked: newly_acked >= flight,
        rtt: Some(Duration::from_millis(100)),
        newest_sent: None,
        newly_acked_range: Some((Tsn(low), Tsn(high))),
        lowest_gap_acked: (high > cum).then_some(Tsn(low.max(cum + 1))),
        highest_newly_acked: Some(Tsn(high)),
        highest_reported: Tsn(high),
        paths_newly_acked: 1,
        paths_gap_acked: u8::from(high > cum),
        dac_count: 1,
        held: Duration::ZERO,
        lateness: Duration::ZERO,
    }
}

/// Outstanding chunks and waiting data, for tests of parts that act.
#[derive(Debug)]
pub struct Outstanding {
    sent: RetransmissionQueue,
    waiting: SendQueue,
}

impl Outstanding {
    /// Creates a state in which the given chunks have consecutive TSNs. The chunks are in flight on the paths of their
    /// transmissions.
    pub fn new<'a>(chunks: impl IntoIterator<Item = &'a ChunkInfo>) -> Self {
        let mut chunks = chunks.into_iter().peekable();
        let mut queue = RetransmissionQueue::new(chunks.peek().map_or(Tsn(0), |c| c.tsn), false);
        let mut ledger = PathViews::default();
        for i in 0..crate::path::MAX_PATHS {
            ledger.put(path(i as u8));
            queue.open(PathId(i as u8));
        }
        for info in chunks {
            let (first, again) = match info.transmissions.split_first() {
                Some((first, again)) => (SmallVec::from_slice(&[*first]), again),
                None => (SmallVec::new(), &[][..]),
            };
            queue.push(&mut ledger, outgoing(ChunkInfo { transmissions: first, ..info.clone() }));
            for sent in again {
                queue.push_again(&mut ledger, info.tsn, *sent);
            }
        }
        Outstanding { sent: queue, waiting: SendQueue::default() }
    }

    /// Adds a message for each element of `waiting`, in this order. An element is the message's number of counted
    /// bytes. No part of these messages was sent.
    #[must_use]
    pub fn behind<'a>(mut self, waiting: impl IntoIterator<Item = &'a Waiting>) -> Self {
        for run in waiting {
            self.waiting.push(QueuedMessage {
                id: run.message,
                stream: StreamId(0),
                ssn: None,
                ppid: Ppid(0),
                unordered: true,
                expires: run.expires,
                importance: run.importance,
                group: run.group,
                payload: Bytes::from(vec![0; run.bytes.saturating_sub(16) as usize]),
                sent: 0,
            });
        }
        self
    }

    /// Returns the view for parts that act. A message of any length fits one chunk here.
    pub fn flight(&self) -> Flight<'_> {
        Flight::new(&self.sent, Queued { messages: &self.waiting, max: usize::MAX, beside: 16 })
    }
}

fn outgoing(info: ChunkInfo) -> Outgoing {
    Outgoing {
        message: u64::from(info.tsn.0),
        info,
        state: ChunkState::InFlight,
        requeued: None,
        needless: Default::default(),
        carries: Carries::Message,
        header: None,
        payload: Bytes::new(),
        ssn: Ssn(0),
        ppid: Ppid(0),
        unordered: false,
        begin: true,
        end: true,
    }
}
