//! Windows and rates of all paths. Each path has one model. This module translates events of an association or a TCP
//! connection into events of the models.

use core::fmt;

use strandcast_proto::policy::{
    AckInfo, ChunkInfo, CongestionControl, Limit, LossCause, LossTrigger, Moves, PathId, PathState, PathView,
    Policy, Signal, View,
};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::units::Rate;
use strandcast_proto::wire::Tsn;

use super::model::{Ack, Model, Start};
use super::rate::Sampler;
use crate::congestion::InitialWindow;

/// Greatest window in bytes.
const MOST_WINDOW: f64 = (1u64 << 36) as f64;
/// Least pacing rate in bytes per second. The least pacing rate ensures that a timer is always set.
const MIN_RATE: f64 = 100.0;
/// Times without a departure after which a path counts as unused although it could have sent. They are a share of a
/// round trip, and a least time. Both times must have passed.
const UNUSED_SHARE: u32 = 8;
const UNUSED: Duration = Duration::from_millis(2);

/// Number of bytes of a full packet that the window does not count. They matter if the transport paces whole packets.
#[derive(Copy, Clone, Debug)]
pub struct Headers(f64);

impl Headers {
    /// Length of SCTP's common header and the headers of UDP and IPv4.
    pub const SCTP: Headers = Headers(40.0);
    /// The transport paces the bytes that count in the window.
    pub const NONE: Headers = Headers(0.0);
}

/// Function that makes the model of a path.
type Begin<M> = Box<dyn Fn(Start) -> M + Send>;

/// One model per path.
pub struct Paced<M> {
    initial: InitialWindow,
    headers: Headers,
    begin: Begin<M>,
    /// Models by path slot; `None` while the slot is closed.
    paths: Vec<Option<Path<M>>>,
}

impl<M: Model> fmt::Debug for Paced<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paced").field("paths", &self.paths).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Path<M> {
    model: M,
    /// Bytes of a full packet.
    packet: f64,
    sampler: Sampler,
    state: PathState,
    /// Number whose acknowledgement ends the repair of losses.
    recovery: Option<Tsn>,
    /// Time at which the next packet may leave by the pacing rate.
    next: Instant,
    /// Time since which window and rate have allowed a packet. `None` if they do not allow a packet.
    free: Option<Instant>,
}

impl<M: Model> Path<M> {
    fn new(model: M, now: Instant) -> Self {
        let (packet, state) = (1.0, PathState::Unconfirmed);
        Path { model, packet, sampler: Sampler::new(), state, recovery: None, next: now, free: None }
    }

    /// Records whether window and rate allow another packet now.
    fn note_room(&mut self, now: Instant, seen: &PathView) {
        let room = seen.in_flight as f64 + seen.mtu as f64 <= self.model.cwnd();
        self.free = if room { self.free.or(Some(now)).map(|since| since.max(self.next)) } else { None };
    }

    fn on_sent(&mut self, view: &View<'_>, chunk: &ChunkInfo) {
        let (now, seen) = (view.now, &view[chunk.path()]);
        let several = view.paths.iter().filter(|p| p.state != PathState::Closed).count() > 1;
        let holdoff = seen.srtt.unwrap_or_default() / UNUSED_SHARE + UNUSED;
        let before = seen.in_flight.saturating_sub(chunk.len);
        if several && self.free.is_some_and(|since| now > since + holdoff) {
            self.sampler.mark_limited(before);
        }
        if before == 0 && self.sampler.is_limited() {
            self.model.on_restart(now, &self.sampler);
        }
        let packet = (chunk.tsn, chunk.len, chunk.sent_once());
        self.sampler.on_sent(now, packet, seen.in_flight, seen.in_flight_chunks);
        let gap = self.model.pacing().map_or(0.0, |rate| chunk.len as f64 / rate.max(MIN_RATE));
        self.next = self.next.max(now) + Duration::from_secs_f64(gap);
        self.free = None;
        self.note_room(now, seen);
    }

    /// Records that the application queued data when no data waited.
    fn on_queued(&mut self, seen: &PathView) {
        if !seen.blocked && seen.in_flight + seen.mtu <= seen.limit.cwnd {
            self.sampler.mark_limited(seen.in_flight);
        }
    }

    fn on_acked(&mut self, now: Instant, seen: &PathView, ack: &AckInfo) {
        let passed =
            ack.earliest_outstanding.is_none_or(|t| self.recovery.is_some_and(|end| t.is_after(end)));
        if self.recovery.is_some_and(|end| passed || !ack.cum_tsn.is_before(end)) {
            self.recovery = None;
            self.model.on_recovered();
        }
        let mut sample = self.sampler.finish(now, self.model.min_rtt());
        // If an acknowledgement was held for as long as a round trip, its rate shows a pause of the source.
        sample.limited |= seen.srtt.is_some_and(|srtt| 2 * ack.held > srtt);
        sample.rtt = sample.rtt.map(|rtt| {
            self.model.min_rtt().map_or(rtt, |least| least.clamp(rtt.saturating_sub(ack.held), rtt))
        });
        let told = Ack {
            now,
            sample: &sample,
            in_flight_before: ack.flight_before,
            in_flight: seen.in_flight,
            window_limited: ack.window_limited(seen),
            srtt: seen.srtt,
            queue: seen.est.queue,
        };
        self.model.on_ack(&told, &mut self.sampler);
        self.note_room(now, seen);
    }

    fn on_loss_event(&mut self, trigger: LossTrigger, highest: Tsn) {
        match trigger {
            LossTrigger::HeadOfLine => self.model.on_penalty(),
            LossTrigger::Timeout => {
                self.recovery = Some(highest);
                self.model.on_timeout();
            }
            LossTrigger::FastRetransmit => {
                if self.recovery.replace(highest).is_none() {
                    self.model.on_recovery();
                }
            }
        }
    }

    fn limit(&self, headers: Headers, packet: f64) -> Limit {
        let cwnd = self.model.cwnd().clamp(packet, MOST_WINDOW) as u64;
        let rate = self.model.pacing().map(|rate| rate.max(MIN_RATE) * (packet + headers.0) / packet);
        Limit { cwnd, ssthresh: None, pacing: rate.map(Rate::from_bytes_per_s) }
    }
}

impl<M: Model> Paced<M> {
    /// Makes the state, with models that `begin` makes.
    pub fn new(
        initial: InitialWindow,
        headers: Headers,
        begin: impl Fn(Start) -> M + Send + 'static,
    ) -> Self {
        Paced { initial, headers, begin: Box::new(begin), paths: Vec::new() }
    }

    fn of(&mut self, path: PathId) -> Option<&mut Path<M>> {
        self.paths.get_mut(path.index())?.as_mut()
    }

    /// Stores the state and packet size of a path that has changed, or that appears for the first time.
    fn meet(&mut self, view: &View<'_>, id: PathId) {
        let Some(seen) = view.paths.get(id.index()) else { return };
        if self.paths.len() <= id.index() {
            self.paths.resize_with(id.index() + 1, || None);
        }
        let slot = &mut self.paths[id.index()];
        if seen.state == PathState::Closed {
            *slot = None;
            return;
        }
        let packet = seen.mtu.max(1) as f64;
        let start =
            Start { now: view.now, window: self.initial.bytes(packet), packet, salt: u64::from(id.0) };
        let failed = |p: &Path<M>| p.state == PathState::Inactive;
        if seen.state == PathState::Active && slot.as_ref().is_some_and(failed) {
            // After a failure, the path may lead through another network, to which the old state does not apply.
            *slot = None;
        }
        let path = slot.get_or_insert_with(|| Path::new((self.begin)(start), view.now));
        (path.state, path.packet) = (seen.state, packet);
        path.model.set_packet(packet);
    }
}

impl<M: Model> Policy for Paced<M> {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        for i in self.paths.len()..view.paths.len() {
            self.meet(view, PathId(i as u8));
        }
        match signal {
            Signal::PathChanged(path) => self.meet(view, *path),
            Signal::Sent(chunk) => {
                if let Some(path) = self.of(chunk.path()) {
                    path.on_sent(view, chunk);
                }
            }
            Signal::Queued => {
                for (path, seen) in self.paths.iter_mut().zip(view.paths) {
                    if let Some(path) = path {
                        path.on_queued(seen);
                    }
                }
            }
            Signal::Delivered { chunk, path: Some(id) } => {
                if let Some(path) = self.of(*id) {
                    let at = chunk.on(*id).map(|t| t.at);
                    path.sampler.on_delivered(view.now, (chunk.tsn, chunk.len), at);
                }
            }
            Signal::Lost { chunk, path: id, cause } => {
                let Some(path) = self.of(*id) else { return };
                let Some(at) = chunk.on(*id).map(|t| t.at) else { return };
                let spared = *cause != LossCause::Congestion;
                if let Some(lost) = path.sampler.on_lost(chunk.tsn, at, spared) {
                    path.model.on_lost(view.now, &lost, &path.sampler);
                }
            }
            Signal::Acked(ack) => {
                let Some(seen) = view.paths.get(ack.path.index()) else { return };
                if let Some(path) = self.of(ack.path) {
                    path.on_acked(view.now, seen, ack);
                }
            }
            Signal::Spurious { path, before: Some(_), .. } => {
                if let Some(path) = self.of(*path) {
                    path.recovery = None;
                    path.model.on_spurious();
                }
            }
            Signal::LossEvent { path: id, trigger, highest, cause } => {
                let spared = *trigger == LossTrigger::FastRetransmit && *cause == LossCause::Wireless;
                if let Some(path) = self.of(*id).filter(|_| !spared) {
                    path.on_loss_event(*trigger, *highest);
                }
            }
            _ => {}
        }
    }

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        Moves::by(signal)
    }

    fn hears_deliveries(&self) -> bool {
        true
    }
}

impl<M: Model> CongestionControl for Paced<M> {
    fn limit(&self, id: PathId) -> Limit {
        let path = self.paths.get(id.index()).and_then(Option::as_ref);
        path.map_or(Limit::default(), |path| path.limit(self.headers, path.packet))
    }

    fn gauges(&self, id: PathId, out: &mut Vec<(&'static str, f64)>) {
        if let Some(path) = self.paths.get(id.index()).and_then(Option::as_ref) {
            path.model.gauges(out);
        }
    }
}
