//! Arrivals, their acknowledgement, and the effects of the acknowledgement at the sender.

use strandcast_proto::policy::{
    AckInfo, ChunkInfo, PathArrivals, PathId, PathState, PeerArrivals, PeerTime, ReportTrigger, RxInfo,
    Signal,
};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::serial::Tsn;

use super::model::{Chunk, Delivery, Flying, Image, Model, RECEIVER, SENDER};

impl Model {
    fn received_cum(&mut self) -> u32 {
        while self.received.contains(&(self.received_cum + 1)) {
            self.received_cum += 1;
        }
        self.received_cum
    }

    pub fn on_data(&mut self, seq: u32, path: PathId) {
        let highest = self.received.last().copied().unwrap_or(0);
        let new = self.received.insert(seq);
        let gap = self.received_cum() < self.received.last().copied().unwrap_or(0);
        self.packets += 1;
        let (_, _, packets, bytes) = self.arrived.get(&path).copied().unwrap_or((0, self.now, 0, 0));
        self.arrived.insert(path, (seq, self.now, packets + 1, bytes + 540));
        let rx = RxInfo {
            path,
            bytes: 540,
            tsns: Some((self.tsn(seq), self.tsn(seq))),
            new,
            duplicate: !new,
            gap,
            filled: new && seq < highest,
            immediate: false,
            packets_since_sack: self.packets,
        };
        if !self.ends[RECEIVER].is_open(path) {
            return;
        }
        self.ends[RECEIVER].signal(self.now, &Signal::Arrived(&rx));
        let rule = self.ends[RECEIVER].sack(self.now, &rx);
        let via = rule.via.unwrap_or(path);
        if rule.now || self.packets >= 2 {
            self.send_sack(via);
        } else {
            self.sack_timer = self.sack_timer.or(Some((self.now + Duration::from_millis(200), via)));
        }
    }

    pub fn send_sack(&mut self, via: PathId) {
        self.sack_timer = None;
        if !self.ends[RECEIVER].is_open(via) {
            return;
        }
        let cum = self.received_cum();
        let beyond = self.received.range(cum + 1..).copied().collect();
        let packets = core::mem::take(&mut self.packets);
        let (written, arrived) = (self.now, self.arrived.clone());
        let sack = Image { via, cum, beyond, packets, written, arrived };
        let reports = self.ends[RECEIVER].reports(self.now, ReportTrigger::Sack(via));
        self.launch(via, Flying::Sack { sack, reports });
    }

    /// Returns the first original and the first retransmission in flight on `path`.
    fn fronts(&self, path: PathId) -> (Option<u32>, Option<u32>) {
        let front = |again: bool| {
            let here =
                |c: &Chunk| c.info.on(path).is_some_and(|t| t.in_flight) && (c.info.losses > 0) == again;
            self.chunks.iter().find(|(_, c)| here(c)).map(|(seq, _)| *seq)
        };
        (front(false), front(true))
    }

    /// Passes the report of arrivals in `sack` to a scheme that requests it. If a newer report arrived before, the
    /// report has no paths.
    fn hear_arrivals(&mut self, sack: &Image) {
        if !self.ends[SENDER].driver.hears_arrivals() {
            return;
        }
        let overtaken = sack.written < self.last_report;
        self.last_report = self.last_report.max(sack.written);
        let time = |at: Instant| PeerTime((1 << 32) + at.as_nanos() / 1000);
        let said = |(path, (seq, at, packets, bytes)): (&PathId, &(u32, Instant, u64, u64))| {
            let on = self.chunks.get(seq).and_then(|c| c.info.on(*path));
            let (tsn, sent) = (self.tsn(*seq), on.map(|t| t.at));
            PathArrivals { path: *path, tsn, at: time(*at), sent, packets: *packets, bytes: *bytes }
        };
        let open = sack.arrived.iter().filter(|(path, _)| !overtaken && self.ends[SENDER].is_open(**path));
        let arrivals =
            PeerArrivals { written: time(sack.written), via: sack.via, paths: open.map(said).collect() };
        self.ends[SENDER].signal(self.now, &Signal::PeerArrivals(&arrivals));
    }

    pub fn on_sack(&mut self, sack: &Image) {
        self.hear_arrivals(sack);
        if sack.cum < self.cum {
            return;
        }
        let fronts: Vec<_> = (0..self.wires.len()).map(|i| self.fronts(PathId(i as u8))).collect();
        let mut acks = self.blank_acks(sack);
        let newly: Vec<u32> = self
            .chunks
            .iter()
            .filter(|(s, c)| sack.covers(**s) && c.delivery != Delivery::Acked)
            .map(|(s, _)| *s)
            .collect();
        let mut named = Vec::new();
        for seq in newly {
            let by = self.credit(seq, sack.via, &mut acks);
            let chunk = self.chunks[&seq].info.clone();
            named.extend(by.iter().map(|path| (Some(*path), chunk.clone())));
            if by.is_empty() {
                named.push((None, chunk));
            }
        }
        self.cum = sack.cum;
        self.chunks.retain(|seq, _| *seq > sack.cum);
        let highest = acks.iter().filter_map(|a| a.newly_acked_range).map(|r| r.1).reduce(later);
        let newly = acks.iter().filter(|a| a.newly_acked > 0).count() as u8;
        let by_gaps = acks.iter().filter(|a| a.lowest_gap_acked.is_some()).count() as u8;
        for (ack, before) in acks.iter_mut().zip(fronts) {
            let after = self.fronts(ack.path);
            ack.pseudo_cum_advanced = before.0.is_some() && before.0 != after.0;
            ack.rtx_pseudo_cum_advanced = before.1.is_some() && before.1 != after.1;
            ack.earliest_outstanding = after.0.into_iter().chain(after.1).min().map(|s| self.tsn(s));
            ack.all_acked = self.ends[SENDER].view(ack.path).in_flight == 0;
            ack.highest_newly_acked = highest;
            (ack.paths_newly_acked, ack.paths_gap_acked) = (newly, by_gaps);
            self.settle_path(ack);
        }
        self.deliver(&named, None);
        for ack in acks.iter().filter(|a| a.newly_acked > 0) {
            self.deliver(&named, Some(ack.path));
            self.ends[SENDER].signal(self.now, &Signal::Acked(ack));
        }
        self.ends[SENDER].driver.wake();
        for ack in acks.iter().filter(|_| highest.is_some()) {
            self.count_misses(ack);
        }
    }

    /// Signals the chunks that are credited to `path`, if the scheme requests this signal.
    fn deliver(&mut self, named: &[(Option<PathId>, ChunkInfo)], path: Option<PathId>) {
        let wanted = self.ends[SENDER].driver.hears_deliveries();
        for (_, chunk) in named.iter().filter(|(by, _)| wanted && *by == path) {
            self.ends[SENDER].signal(self.now, &Signal::Delivered { chunk, path });
        }
    }

    fn blank_acks(&self, sack: &Image) -> Vec<AckInfo> {
        let blank = |path: PathId| AckInfo {
            path,
            return_path: sack.via,
            cum_tsn: self.tsn(sack.cum),
            cum_advanced: sack.cum > self.cum,
            pseudo_cum_advanced: false,
            rtx_pseudo_cum_advanced: false,
            earliest_outstanding: None,
            newly_acked: 0,
            proven: 0,
            newly_acked_chunks: 0,
            newly_acked_again: 0,
            flight_before: self.ends[SENDER].view(path).in_flight,
            all_acked: false,
            rtt: None,
            newest_sent: None,
            newly_acked_range: None,
            lowest_gap_acked: None,
            highest_newly_acked: None,
            highest_reported: self.tsn(sack.beyond.last().copied().unwrap_or(sack.cum)),
            paths_newly_acked: 0,
            paths_gap_acked: 0,
            dac_count: sack.packets.clamp(1, 255) as u8,
            held: Duration::ZERO,
            lateness: Duration::ZERO,
        };
        (0..self.wires.len()).map(|i| blank(PathId(i as u8))).collect()
    }

    /// Handles one acknowledged chunk. Returns the paths to which it is credited.
    fn credit(&mut self, seq: u32, via: PathId, acks: &mut [AckInfo]) -> Vec<PathId> {
        let tsn = self.tsn(seq);
        let chunk = self.chunks.get_mut(&seq).expect("it is outstanding");
        let (len, once) = (chunk.info.len, chunk.info.sent_once());
        let mut by = Vec::new();
        for t in chunk.info.transmissions.iter_mut().filter(|t| t.in_flight) {
            t.in_flight = false;
            by.push(t.path);
            self.ends[SENDER].views.leave(t.path, len, chunk.info.symbol);
            let ack = &mut acks[t.path.index()];
            ack.newly_acked += len;
            ack.newly_acked_chunks += 1;
            ack.proven += if once { len } else { 0 };
            if once {
                ack.newest_sent = ack.newest_sent.max(Some(t.at));
            }
        }
        chunk.delivery = Delivery::Acked;
        self.lost.remove(&seq);
        let last = chunk.info.path();
        if chunk.info.sent_once() {
            acks[last.index()].rtt = Some(self.now - chunk.info.transmissions[0].at);
        }
        let one_path = chunk.info.transmissions.iter().all(|t| t.path == last);
        let proven = if one_path { Some(last) } else { chunk.info.on(via).map(|_| via) };
        if let Some(p) = proven {
            let range = &mut acks[p.index()].newly_acked_range;
            let (low, high) = range.unwrap_or((tsn, tsn));
            *range = Some((if tsn.is_before(low) { tsn } else { low }, later(high, tsn)));
            if tsn.is_after(acks[p.index()].cum_tsn) {
                // Chunks come in the order of their TSNs.
                acks[p.index()].lowest_gap_acked.get_or_insert(tsn);
            }
        }
        by
    }

    /// Updates round-trip time, T3 and errors of one path after a SACK.
    fn settle_path(&mut self, ack: &AckInfo) {
        let view = self.ends[SENDER].view_mut(ack.path);
        if let Some(rtt) = ack.rtt {
            view.latest_rtt = Some(rtt);
            view.min_rtt = Some(view.min_rtt.map_or(rtt, |m| m.min(rtt)));
            view.srtt = Some(view.srtt.map_or(rtt, |s| s * 7 / 8 + rtt / 8));
            view.rto = Duration::from_secs(1);
        }
        let t3 = &mut self.t3[ack.path.index()];
        if ack.all_acked {
            *t3 = None;
        } else if ack.pseudo_cum_advanced || ack.rtx_pseudo_cum_advanced {
            *t3 = Some(self.now + view.rto);
        }
        let failed = matches!(view.state, PathState::PotentiallyFailed | PathState::Inactive);
        if ack.newly_acked > 0 && failed {
            self.set_state(ack.path, PathState::Active);
        }
    }
}

fn later(a: Tsn, b: Tsn) -> Tsn {
    if a.is_after(b) { a } else { b }
}
