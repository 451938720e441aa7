//! The congestion control and its view of the subflows. The view is updated in place. The scheduler gets every signal
//! that the congestion control gets.

use core::time::Duration;

use strandcast_proto::policy::{
    AckInfo, Backlog, ChunkInfo, CongestionControl, Estimate, Limit, LinkId, LossCause, LossTrigger, PathId,
    PathState, PathView, Signal, Transmission, View,
};
use strandcast_proto::time::Instant;
use strandcast_proto::wire::serial::{StreamId, Tsn};

use super::config::Config;
use super::schedule::{Choice, Scene, Scheduling, tsn};
use super::scoreboard::{Record, Scoreboard, SegmentInfo};
use super::subflow::{LossEvent, Progress, Subflow};

/// The windows of all subflows.
#[derive(Debug)]
pub(super) struct Windows {
    congestion: Box<dyn CongestionControl>,
    /// Scheduler of the subflows. The scheduler is `None` for TCP, which has only one subflow.
    pub(super) scheduling: Option<Scheduling>,
    paths: Vec<PathView>,
    last_path_used: Option<PathId>,
    /// Contents of the signal `Sent`. The contents are stored so that no allocation is needed.
    chunk: ChunkInfo,
    /// True if the congestion control requests signals about each segment.
    hears_deliveries: bool,
}

fn no_chunk() -> ChunkInfo {
    let transmissions = Default::default();
    ChunkInfo {
        tsn: Tsn(0),
        len: 0,
        stream: StreamId(0),
        expires: None,
        importance: Default::default(),
        group: None,
        transmissions,
        losses: 0,
        symbol: None,
    }
}

impl Windows {
    pub(super) fn new(congestion: Box<dyn CongestionControl>, scheduling: Option<Scheduling>) -> Self {
        let hears_deliveries = congestion.hears_deliveries();
        let (paths, chunk) = (Vec::new(), no_chunk());
        Windows { congestion, scheduling, paths, last_path_used: None, chunk, hears_deliveries }
    }

    /// Returns whether the congestion control requests [`Signal::Delivered`] and [`Signal::Lost`].
    pub(super) fn hears_deliveries(&self) -> bool {
        self.hears_deliveries
    }

    /// Adds the last subflow, which is new.
    pub(super) fn add(&mut self, at: &Scene<'_>) {
        let id = PathId(self.paths.len() as u8);
        self.paths.push(PathView {
            id,
            state: PathState::Active,
            mtu: u64::from(at.config.segment),
            srtt: None,
            rttvar: Duration::ZERO,
            latest_rtt: None,
            ack_delay: Duration::ZERO,
            min_rtt: None,
            rto: Duration::ZERO,
            in_flight: 0,
            in_flight_chunks: 0,
            last_sent: None,
            link: LinkId(u32::from(id.0)),
            error_count: 0,
            tariff: Default::default(),
            blocked: false,
            est: Estimate::default(),
            limit: Limit::default(),
        });
        self.measure(id.0, &at.subflows[id.index()], at.config);
        self.tell(at, &Signal::PathChanged(id));
    }

    pub(super) fn remove(&mut self, at: &Scene<'_>, id: u8) {
        let path = &mut self.paths[usize::from(id)];
        path.state = PathState::Closed;
        (path.in_flight, path.in_flight_chunks) = (0, 0);
        self.tell(at, &Signal::PathChanged(PathId(id)));
    }

    /// Copies the values of a subflow that have changed to the view.
    pub(super) fn measure(&mut self, id: u8, subflow: &Subflow, config: &Config) {
        let path = &mut self.paths[usize::from(id)];
        path.srtt = subflow.rto.srtt;
        path.rttvar = subflow.rto.rttvar;
        path.latest_rtt = subflow.rto.latest;
        path.min_rtt = subflow.rto.least;
        path.rto = subflow.rto.value();
        path.in_flight = subflow.in_flight(config);
        path.in_flight_chunks = subflow.board.len();
        path.last_sent = subflow.last_sent;
    }

    pub(super) fn path(&self, id: u8) -> &PathView {
        &self.paths[usize::from(id)]
    }

    pub(super) fn cwnd(&self, index: usize) -> u64 {
        self.paths[index].limit.cwnd
    }

    pub(super) fn gauges(&self, id: u8) -> Vec<(&'static str, f64)> {
        let mut out = Vec::new();
        self.congestion.gauges(PathId(id), &mut out);
        out
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let scheduler = self.scheduling.as_ref().and_then(Scheduling::poll_timeout);
        self.congestion.poll_timeout().into_iter().chain(scheduler).min()
    }

    pub(super) fn tick(&mut self, at: &Scene<'_>) {
        if self.poll_timeout().is_some_and(|due| due <= at.now) {
            self.tell(at, &Signal::Tick);
        }
    }

    pub(super) fn tell_queued(&mut self, at: &Scene<'_>) {
        self.tell(at, &Signal::Queued);
    }

    pub(super) fn tell_sent(&mut self, at: &Scene<'_>, id: u8, ordinal: u64) {
        let path = PathId(id);
        let Record { len, transmissions, .. } = *at.subflows[path.index()].board.record(ordinal);
        self.last_path_used = Some(path);
        let segment = SegmentInfo { ordinal, sent: at.now, len, transmissions };
        self.tell_of(at, path, segment, |chunk| Signal::Sent(chunk));
    }

    /// Signals the outcome of one segment.
    fn tell_of(
        &mut self,
        at: &Scene<'_>,
        path: PathId,
        segment: SegmentInfo,
        signal: impl for<'a> FnOnce(&'a ChunkInfo) -> Signal<'a>,
    ) {
        let mut chunk = core::mem::replace(&mut self.chunk, no_chunk());
        chunk.tsn = tsn(segment.ordinal);
        chunk.len = u64::from(segment.len);
        chunk.losses = (segment.transmissions - 1).min(255) as u8;
        chunk.transmissions.clear();
        let next_tsn = tsn(segment.ordinal + 1);
        let transmission = Transmission {
            path,
            at: segment.sent,
            next_tsn,
            in_flight: true,
            misses: 0,
            overtaken: None,
            lost: None,
        };
        for _ in 0..segment.transmissions.min(2) {
            chunk.transmissions.push(transmission);
        }
        self.tell(at, &signal(&chunk));
        self.chunk = chunk;
    }

    pub(super) fn tell_lost(&mut self, at: &Scene<'_>, id: u8, lost: &[SegmentInfo]) {
        let path = PathId(id);
        for segment in lost {
            self.tell_of(at, path, *segment, |chunk| Signal::Lost {
                chunk,
                path,
                cause: LossCause::Congestion,
            });
        }
    }

    /// Signals the segments that an acknowledgement newly covers, and then their total.
    pub(super) fn tell_delivered(
        &mut self,
        at: &Scene<'_>,
        id: u8,
        delivered: &[SegmentInfo],
        progress: Option<&Progress>,
        flight_before: u64,
    ) {
        let path = PathId(id);
        for segment in delivered {
            self.tell_of(at, path, *segment, |chunk| Signal::Delivered { chunk, path: Some(path) });
        }
        let (Some(first), Some(last)) = (delivered.first(), delivered.last()) else { return };
        let rtt = progress.and_then(|progress| progress.rtt);
        let again = delivered.iter().filter(|segment| segment.transmissions > 1).count() as u32;
        let sum = Sum {
            bytes: delivered.iter().map(|segment| u64::from(segment.len)).sum(),
            segments: delivered.len() as u32,
            again,
            newest_sent: delivered.iter().map(|segment| segment.sent).max(),
            range: (tsn(first.ordinal), tsn(last.ordinal)),
        };
        let mut info = info(&at.subflows[path.index()].board, path, flight_before, rtt, sum);
        (info.cum_advanced, info.pseudo_cum_advanced) = (progress.is_some(), progress.is_some());
        self.tell(at, &Signal::Acked(&info));
    }

    /// Signals an acknowledgement. `grows` is true if the acknowledgement ended fast recovery and the window grows
    /// nevertheless.
    pub(super) fn tell_acked(&mut self, at: &Scene<'_>, id: u8, progress: &Progress, grows: bool) {
        let path = PathId(id);
        let board: &Scoreboard = &at.subflows[path.index()].board;
        let taken = progress.taken;
        let sum = Sum {
            bytes: taken.bytes,
            segments: taken.segments,
            again: taken.retransmissions,
            newest_sent: taken.newest_sent,
            range: (tsn(board.first() - u64::from(taken.segments)), tsn(board.first().wrapping_sub(1))),
        };
        let info = info(board, path, progress.flight_before, progress.rtt, sum);
        if grows {
            // An empty acknowledgement ends recovery, so that the window treats the real one as following it.
            let empty =
                AckInfo { newly_acked: 0, proven: 0, newly_acked_chunks: 0, newly_acked_again: 0, ..info };
            self.tell(at, &Signal::Acked(&empty));
        }
        self.tell(at, &Signal::Acked(&info));
    }

    pub(super) fn tell_loss(&mut self, at: &Scene<'_>, id: u8, event: LossEvent, trigger: LossTrigger) {
        self.paths[usize::from(id)].in_flight = event.flight;
        let (path, highest) = (PathId(id), tsn(event.highest));
        self.tell(at, &Signal::LossEvent { path, trigger, highest, cause: LossCause::Congestion });
    }

    /// Passes a signal to the congestion control, applies the limits that it sets, and passes the signal to the
    /// scheduler.
    fn tell(&mut self, at: &Scene<'_>, signal: &Signal<'_>) {
        let view = View {
            now: at.now,
            in_flight: self.paths.iter().map(|p| p.in_flight).sum(),
            paths: &self.paths,
            rwnd: at.rwnd,
            last_path_used: self.last_path_used,
            primary: PathId(0),
            peer_reports: false,
            blocked: None,
            blocks: &[],
        };
        self.congestion.on_signal(&view, signal);
        for path in self.paths.iter_mut().filter(|p| p.state != PathState::Closed) {
            path.limit = self.congestion.limit(path.id);
        }
        if let Some(scheduling) = &mut self.scheduling {
            scheduling.hear(at, &self.paths, signal);
        }
    }

    /// Asks the scheduler for the subflow of the data in `backlog`.
    pub(super) fn choose(&mut self, at: &Scene<'_>, backlog: &Backlog) -> Option<Choice> {
        self.scheduling.as_mut()?.choose(at, &self.paths, backlog)
    }

    /// Returns a subflow that the scheduler penalises because data wait.
    pub(super) fn penalty(&mut self, at: &Scene<'_>) -> Option<PathId> {
        self.scheduling.as_mut()?.penalty(at, &self.paths)
    }
}

/// Totals of the segments that an acknowledgement newly covers.
#[derive(Copy, Clone, Debug)]
struct Sum {
    bytes: u64,
    segments: u32,
    /// Number of these segments that were sent more than once.
    again: u32,
    newest_sent: Option<Instant>,
    /// TSNs of the first and the last of these segments.
    range: (Tsn, Tsn),
}

/// Returns the contents of an acknowledgement for a policy.
fn info(board: &Scoreboard, path: PathId, flight_before: u64, rtt: Option<Duration>, sum: Sum) -> AckInfo {
    AckInfo {
        path,
        return_path: path,
        cum_tsn: tsn(board.first().wrapping_sub(1)),
        cum_advanced: true,
        pseudo_cum_advanced: true,
        rtx_pseudo_cum_advanced: sum.again > 0,
        earliest_outstanding: (!board.is_empty()).then(|| tsn(board.first())),
        newly_acked: sum.bytes,
        proven: sum.bytes,
        newly_acked_chunks: sum.segments,
        newly_acked_again: sum.again,
        flight_before,
        all_acked: board.is_empty(),
        rtt,
        newest_sent: sum.newest_sent,
        newly_acked_range: Some(sum.range),
        lowest_gap_acked: None,
        highest_newly_acked: Some(sum.range.1),
        highest_reported: sum.range.1,
        paths_newly_acked: 1,
        paths_gap_acked: 0,
        dac_count: 1,
        held: Duration::ZERO,
        lateness: Duration::ZERO,
    }
}
