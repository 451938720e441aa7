//! Effects of a SACK on each chunk and path (RFC 9260 §6.2.1): transmissions to which arrivals are credited, and the
//! data in flight afterwards.

use smallvec::SmallVec;

use super::RetransmissionQueue;
use super::copies::Divided;
use crate::policy::{AckInfo, PathId, PathSet, PathViews, Transmission};
use crate::time::{Duration, Instant};
use crate::tx::arrival_reports::ArrivalReports;
use crate::tx::needless::sent_again;
use crate::tx::outstanding::{Carries, ChunkState, Outstanding};
use crate::tx::path_ack::{AckOutcome, PathAck, higher, lower};
use crate::wire::chunk::{GapBlock, Sack};
use crate::wire::serial::Tsn;
use crate::work;

/// Number of gap blocks in a SACK above which a queue overflows. A lost tail or an early timeout causes fewer. A SACK
/// with more gap blocks has no room for all TSNs that arrived.
pub(crate) const MANY_GAPS: usize = 64;

impl RetransmissionQueue {
    /// Processes a SACK that arrived on `on`. The SACK's cumulative TSN must be neither old nor beyond the sent chunks.
    /// Acknowledged chunks are removed from flight. `reports` has the paths by which copies arrived. The caller returns
    /// the outcome to [`Self::recycle`].
    pub fn acknowledge(
        &mut self,
        ledger: &mut PathViews,
        now: Instant,
        sack: &Sack,
        on: PathId,
        reports: &ArrivalReports,
    ) -> AckOutcome {
        let mut outcome = core::mem::take(&mut self.outcome);
        let mut blocks = core::mem::take(&mut self.blocks);
        sack.read_ordered_gap_blocks(&mut blocks);
        self.begin(&mut outcome, ledger, sack, on, blocks.last().map_or(0, |b| b.end));
        let mut reading = SackContext { ledger, now, on, reports, outcome: &mut outcome };
        self.credit_all(&mut reading, sack.header.cumulative_tsn_ack, &blocks);
        self.note_duplicates(&mut outcome, sack);
        let many = blocks.len() > MANY_GAPS;
        self.blocks = blocks;
        if many {
            // Chunks for which such a list has no room arrived long before they are reported.
            outcome.paths.iter_mut().for_each(|a| a.late = None);
        }
        self.complete(ledger, &mut outcome);
        outcome
    }

    /// Keeps the memory of `outcome` for the next SACK.
    pub fn recycle(&mut self, mut outcome: AckOutcome) {
        outcome.deliveries.clear();
        self.outcome = outcome;
    }

    /// Stores the gap blocks of a SACK that was just [acknowledged](Self::acknowledge). Later they show whether the
    /// peer reneged.
    pub fn remember(&mut self, sack: &Sack) {
        self.outstanding.remember(sack.header.cumulative_tsn_ack, &mut self.blocks);
    }

    /// Creates one record per path slot for the SACK. `last_gap` is the end of the last gap block.
    fn begin(
        &mut self,
        outcome: &mut AckOutcome,
        ledger: &PathViews,
        sack: &Sack,
        on: PathId,
        last_gap: u16,
    ) {
        let cum_advanced = sack.header.cumulative_tsn_ack.is_after(self.cum_acked());
        (outcome.chunks, outcome.delivered) = (0, 0);
        (outcome.messages, outcome.spurious, outcome.needless) = (0, 0, 0);
        outcome.symbols.clear();
        outcome.paths.clear();
        for i in 0..self.flights.len() {
            let path = PathId(i as u8);
            self.prune(path);
            let earliest = self.earliest_on(path);
            let f = &mut self.flights[i];
            let settled = core::mem::take(&mut f.settled);
            outcome.paths.push(PathAck {
                info: AckInfo {
                    path,
                    return_path: on,
                    cum_tsn: sack.header.cumulative_tsn_ack,
                    cum_advanced,
                    pseudo_cum_advanced: settled.front,
                    rtx_pseudo_cum_advanced: false,
                    earliest_outstanding: None,
                    newly_acked: settled.bytes,
                    proven: settled.bytes,
                    newly_acked_chunks: settled.chunks,
                    newly_acked_again: 0,
                    flight_before: ledger.paths()[i].in_flight + settled.bytes,
                    all_acked: false,
                    rtt: None,
                    newest_sent: settled.newest,
                    newly_acked_range: None,
                    lowest_gap_acked: None,
                    highest_newly_acked: None,
                    highest_reported: sack.header.cumulative_tsn_ack + u32::from(last_gap),
                    paths_newly_acked: 0,
                    paths_gap_acked: 0,
                    dac_count: if ledger.peer_reports() { sack.header.flags.max(1) } else { 1 },
                    held: Duration::ZERO,
                    lateness: Duration::ZERO,
                },
                fronts: (f.originals.front().copied(), f.retransmitted.first().map(Outstanding::tsn)),
                earliest,
                settled_front: settled.front,
                alive: settled.chunks > 0,
                late: None,
                measured: None,
                payload: 0,
                overtaken_for: Duration::ZERO,
                seems_overtaken_for: Duration::ZERO,
                spurious: SmallVec::new(),
                needless_again: false,
            });
        }
    }

    /// Credits all chunks that this SACK covers and no earlier SACK covered.
    fn credit_all(&mut self, r: &mut SackContext<'_>, cum: Tsn, blocks: &[GapBlock]) {
        while let Some(first) = self.outstanding.front() {
            let tsn = first.info.tsn;
            if tsn.is_after(cum) {
                break;
            }
            self.credit(r, tsn);
            let chunk = self.outstanding.front().expect("front was there");
            r.outcome.chunks += 1;
            r.outcome.delivered += chunk.buffered();
            let message = chunk.end && chunk.carries == Carries::Message;
            r.outcome.messages += u64::from(message && chunk.state != ChunkState::Abandoned);
            if self.names_deliveries {
                r.outcome.deliveries.keep(&chunk.info);
            }
            let sent = chunk.info.transmissions.len();
            self.past.keep(tsn, chunk.user_data(), sent, chunk.needless, sent_again(&chunk.info));
            self.outstanding.drop_front();
        }
        let last = self.outstanding.next_tsn() - 1;
        for block in blocks {
            let (mut from, to) = (cum + u32::from(block.start), lower(cum + u32::from(block.end), last));
            while let Some(tsn) = self.outstanding.next_open(from, to) {
                self.hear_abandoned(r, tsn);
                self.credit(r, tsn);
                self.outstanding.cover(tsn);
                from = tsn + 1;
            }
        }
    }

    /// Handles the acknowledgement of chunk `tsn`, which was sent several times: only one of its transmissions in
    /// flight was needed.
    fn settle_copies(&mut self, r: &mut SackContext<'_>, tsn: Tsn) {
        let Some(chunk) = self.outstanding.get_mut(tsn) else { return };
        let sent = chunk.info.transmissions.len();
        let in_flight = chunk.info.transmissions.iter().filter(|t| t.in_flight).count();
        r.outcome.needless += chunk.needless.acknowledged(sent, in_flight) * chunk.user_data() as u64;
    }

    /// Counts the chunks that the peer reports as duplicates.
    fn note_duplicates(&mut self, outcome: &mut AckOutcome, sack: &Sack) {
        for tsn in sack.duplicates() {
            let (needless, again) = match self.outstanding.get_mut(tsn) {
                Some(chunk) => (chunk.duplicate(), sent_again(&chunk.info)),
                None => self.past.duplicate(tsn),
            };
            outcome.needless += needless;
            if let Some(first) = again.filter(|_| needless > 0) {
                Self::note_needless(outcome, first);
            }
        }
    }

    /// Handles an abandoned symbol that a gap block covers. The symbol arrived: FORWARD-TSN moves only the cumulative
    /// TSN, so a gap block proves the arrival. This arrival counts only for the coder.
    fn hear_abandoned(&self, r: &mut SackContext<'_>, tsn: Tsn) {
        let abandoned = self.outstanding.get(tsn).filter(|c| c.state == ChunkState::Abandoned);
        if let Some(header) = abandoned.and_then(|c| c.header) {
            r.outcome.symbols.push((header, None));
        }
    }

    /// Processes a TSN when the cumulative TSN or a gap block acknowledges it for the first time.
    fn credit(&mut self, r: &mut SackContext<'_>, tsn: Tsn) {
        let Some(chunk) = self.outstanding.get(tsn) else { return };
        work::count(1 + chunk.info.transmissions.len());
        let was_lost = match chunk.state {
            ChunkState::GapAcked | ChunkState::Abandoned => return,
            ChunkState::Lost(_) => true,
            ChunkState::InFlight => false,
        };
        let (len, again) = (chunk.info.len, !chunk.info.sent_once());
        if again {
            self.settle_copies(r, tsn);
        }
        let divided = if again { self.divide(r.ledger, tsn, r.reports) } else { Divided::One };
        let credited = self.land(r, tsn, again, divided);
        let info = &self.outstanding.get(tsn).expect("just seen").info;
        let last = info.path();
        let acks = &mut r.outcome.paths;
        acks[last.index()].info.newly_acked_again += u32::from(info.losses > 0);
        let one_path = !again || info.transmissions.iter().all(|t| t.path == last);
        if was_lost {
            acks[last.index()].credit(len);
            r.outcome.spurious += 1;
        }
        let by = if again && !was_lost { credited } else { PathSet::one(last) };
        for path in by.iter() {
            let known = one_path || divided == Divided::Known || r.reports.names(tsn, path);
            acks[path.index()].info.proven += if known { len } else { 0 };
        }
        // This proves an arrival of the only path on which it was, else of the return path of the SACK.
        if one_path {
            acks[last.index()].arrived(tsn);
        } else if divided == Divided::Known {
            credited.iter().for_each(|p| acks[p.index()].arrived(tsn));
        } else if info.on(r.on).is_some() {
            acks[r.on.index()].arrived(tsn);
        }
        let ack = &mut acks[last.index()];
        ack.alive |= one_path && !was_lost;
        if !again {
            ack.payload += len - 16;
            let timed = &mut self.flights[last.index()].timed;
            if *timed == Some(tsn) {
                *timed = None;
                ack.measured = Some(r.now - info.transmissions[0].at);
                ack.info.rtt = ack.measured;
            }
        }
        if let Some(header) = self.outstanding.get(tsn).and_then(|c| c.header) {
            r.outcome.symbols.push((header, by.iter().next()));
        }
        if self.names_deliveries {
            r.outcome.deliveries.name(tsn, by);
        }
        if again || was_lost {
            self.note_late(r, tsn, was_lost);
        }
        self.note_overtaken(r, tsn);
        self.outstanding.set_state(tsn, ChunkState::GapAcked);
    }

    /// Removes the arrived transmissions of chunk `tsn` from flight. Returns the paths to which the arrival is
    /// credited.
    fn land(&mut self, r: &mut SackContext<'_>, tsn: Tsn, again: bool, divided: Divided) -> PathSet {
        let mut credited = PathSet::default();
        let Some(chunk) = self.outstanding.get_mut(tsn) else { return credited };
        let (len, symbol) = (chunk.info.len, chunk.info.symbol);
        for t in chunk.info.transmissions.iter_mut().filter(|t| t.in_flight) {
            t.in_flight = false;
            if again {
                self.flights[t.path.index()].retransmitted.leave(tsn);
            }
            r.ledger.leave(t.path, len, symbol);
            let ack = &mut r.outcome.paths[t.path.index()];
            if again {
                if divided == Divided::Unknown || credited.contains(t.path) {
                    continue;
                }
                credited.insert(t.path);
            }
            ack.alive |= divided == Divided::Known;
            ack.credit(len);
            if !again || divided == Divided::Known {
                ack.info.newest_sent = ack.info.newest_sent.max(Some(t.at));
            }
        }
        credited
    }

    /// Handles the acknowledgement of chunk `tsn`, which had been declared lost or was retransmitted. `was_lost` is
    /// true if the chunk was declared lost and not retransmitted. A timeout that declared the chunk lost was spurious
    /// if only the chunk's first transmission can have caused the acknowledgement.
    fn note_late(&self, r: &mut SackContext<'_>, tsn: Tsn, was_lost: bool) {
        let Some(chunk) = self.outstanding.get(tsn) else { return };
        let timeout = |path: PathId| self.flights[path.index()].timeout;
        let [first, .., last] = &chunk.info.transmissions[..] else {
            // A chunk that was acknowledged before proves nothing about the timeout.
            let first = chunk.info.transmissions.first().filter(|_| was_lost && chunk.info.losses > 0);
            let late = first.filter(|t| timeout(t.path).is_some_and(|at| t.at <= at));
            if let Some(path) = late.map(|t| t.path) {
                r.outcome.paths[path.index()].late = Some(tsn);
            }
            return;
        };
        let Some(at) = timeout(first.path).filter(|at| first.at <= *at) else { return };
        let least = r.ledger.least_rtt();
        // Any transmission that was sent again since and could be answered by now may be the one that this answers.
        let answers = |t: &Transmission| t.at >= at && r.now - t.at >= least;
        if last.at >= at && !chunk.info.transmissions[1..].iter().any(answers) {
            r.outcome.paths[first.path.index()].late = Some(tsn);
        }
    }

    /// Completes the outcome of a SACK after all chunks are credited.
    fn complete(&mut self, ledger: &PathViews, outcome: &mut AckOutcome) {
        let acks = &mut outcome.paths;
        let highest = acks.iter().filter_map(|a| a.info.newly_acked_range).map(|r| r.1).reduce(higher);
        let newly = acks.iter().filter(|a| a.info.newly_acked > 0).count() as u8;
        let by_gaps = acks.iter().filter(|a| a.info.lowest_gap_acked.is_some()).count() as u8;
        for a in acks {
            let path = a.info.path;
            let (front_original, front_again) = a.fronts;
            a.info.pseudo_cum_advanced |= front_original.is_some_and(|t| !self.in_flight_on(t, path));
            a.info.rtx_pseudo_cum_advanced = front_again.is_some_and(|t| !self.in_flight_on(t, path));
            self.prune(path);
            a.info.earliest_outstanding = self.earliest_outstanding(path);
            a.info.all_acked = ledger.paths()[path.index()].in_flight == 0;
            a.info.highest_newly_acked = highest;
            (a.info.paths_newly_acked, a.info.paths_gap_acked) = (newly, by_gaps);
        }
    }
}

/// State while a SACK is being processed.
pub(super) struct SackContext<'a> {
    pub ledger: &'a mut PathViews,
    pub now: Instant,
    on: PathId,
    reports: &'a ArrivalReports,
    pub outcome: &'a mut AckOutcome,
}
