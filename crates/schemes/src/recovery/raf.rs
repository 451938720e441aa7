//! Two miss indications instead of three while the number of losses grows (RAF-rtx of Cao et al. 2016, section 2.3).
//!
//! | paper | here |
//! |---|---|
//! | eqs 13-15 | `estimate::RetransmissionQueue` |
//! | rules 1-3: two misses while unreliable, else three, never one | [`RetransmissionAware::threshold`] |
//!
//! Everything else is as in RFC 9260. `ASSUMED`: the queue is sampled at certain SACKs. They are the SACKs for data of
//! the path that new data take.

use strandcast_keys::keys;
use strandcast_proto::policy::{
    AckInfo, ChunkInfo, LossCause, LossPolicy, LossTrigger, MissScope, PathId, Policy, Retransmit, Signal,
    View,
};
use strandcast_proto::rfc::RfcLoss;
use strandcast_proto::seeds::Seeds;

use super::chosen_path::followed;
use crate::estimate::RetransmissionQueue;
use crate::part::{LossPart, Others};

keys! {
    /// The keys of [`RetransmissionAware`].
    pub struct RafConfig {
        /// samples over which a jitter indicator is taken
        samples as "m": usize [1, 1000, "samples"] = 20,
    }
}

impl LossPart for RafConfig {
    fn build(&self, others: &Others, _: &Seeds) -> Box<dyn LossPolicy> {
        followed(others, RetransmissionAware::new(self.samples))
    }
}

/// RFC 9260's loss policy with a threshold that follows the retransmission queue.
#[derive(Debug)]
pub struct RetransmissionAware {
    rfc: RfcLoss,
    queue: RetransmissionQueue,
    /// Number of SACKs at which the path was unreliable.
    unreliable: u64,
}

impl RetransmissionAware {
    /// Makes the policy. The jitter of the queue is computed over the last `m` SACKs.
    pub fn new(m: usize) -> Self {
        RetransmissionAware { rfc: RfcLoss::default(), queue: RetransmissionQueue::new(m), unreliable: 0 }
    }
}

impl Policy for RetransmissionAware {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.rfc.on_signal(view, signal);
        match signal {
            Signal::Lost { chunk, .. } => self.queue.lost(chunk),
            Signal::Abandoned(chunk) => self.queue.abandoned(chunk),
            Signal::Acked(ack) => {
                self.queue.acked(ack.newly_acked_again);
                let path = view.paths.get(ack.path.index());
                if let Some(path) = path.filter(|p| view.last_path_used.is_none_or(|last| last == p.id)) {
                    self.queue.sample(path.limit.cwnd / path.mtu.max(1));
                    self.unreliable += u64::from(self.queue.unreliable());
                }
            }
            _ => {}
        }
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        out.push(("unreliable_sacks", self.unreliable));
    }
}

impl LossPolicy for RetransmissionAware {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        let misses = self.rfc.misses(view, ack, chunk);
        let waits = || chunk.on(ack.path).is_some_and(|t| t.in_flight && t.misses >= 2);
        // A chunk that has two misses is lost at the SACK that finds the path unreliable. This is so even if the SACK
        // reports nothing beyond the chunk.
        if misses == 0 && self.queue.unreliable() && waits() { 1 } else { misses }
    }

    fn miss_scope(&self, view: &View<'_>, ack: &AckInfo) -> MissScope {
        if self.queue.unreliable() { MissScope::ALL } else { self.rfc.miss_scope(view, ack) }
    }

    fn threshold(&self, _: PathId) -> u8 {
        if self.queue.unreliable() { 2 } else { 3 }
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.rfc.classify(view, chunk, trigger)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        self.rfc.retransmit(view, chunk, cause)
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk, loss_of};

    use super::*;

    const P0: PathId = PathId(0);

    /// A SACK that does not cover chunk 5. `again` chunks of the retransmission queue have arrived.
    fn sack(policy: &mut RetransmissionAware, picture: &Picture, again: u32) -> AckInfo {
        let ack = AckInfo { newly_acked_again: again, ..ack(0, 4, (6, 6), 10 * MTU) };
        policy.on_signal(&picture.view(), &Signal::Acked(&ack));
        ack
    }

    fn lose(policy: &mut RetransmissionAware, picture: &Picture, tsn: u32) {
        let chunk = ChunkInfo { losses: 1, ..chunk(tsn, &[0]) };
        policy.on_signal(&picture.view(), &loss_of(&chunk));
    }

    fn fixture() -> (RetransmissionAware, Picture) {
        let mut picture = Picture::new(2);
        picture.paths[0].limit.cwnd = 20 * MTU;
        (RetransmissionAware::new(20), picture)
    }

    /// Rules 1 to 3 of section 2.3 with Q = 0, 1, 0, 3 (eqs 13-15: 0, 1/2, -1/3, 2/3).
    #[test]
    fn two_misses_while_the_queue_grows_else_three() {
        let (mut policy, picture) = fixture();
        let mut thresholds = vec![policy.threshold(P0)];
        sack(&mut policy, &picture, 0);
        thresholds.push(policy.threshold(P0));
        lose(&mut policy, &picture, 1);
        sack(&mut policy, &picture, 0);
        thresholds.push(policy.threshold(P0));
        sack(&mut policy, &picture, 1);
        thresholds.push(policy.threshold(P0));
        (2..5).for_each(|tsn| lose(&mut policy, &picture, tsn));
        sack(&mut policy, &picture, 0);
        thresholds.push(policy.threshold(P0));
        assert_eq!(thresholds, [3, 3, 2, 3, 2]);
    }

    #[test]
    fn a_chunk_with_two_misses_is_lost_when_the_path_turns_unreliable() {
        let (mut policy, picture) = fixture();
        sack(&mut policy, &picture, 0);
        let with = |misses| {
            let mut open = chunk(9, &[0]);
            open.transmissions[0].misses = misses;
            open
        };
        let steady = sack(&mut policy, &picture, 0);
        assert_eq!(policy.misses(&picture.view(), &steady, &with(2)), 0, "nothing beyond TSN 9 arrived");
        lose(&mut policy, &picture, 1);
        let growing = sack(&mut policy, &picture, 0);
        let view = picture.view();
        assert_eq!(policy.misses(&view, &growing, &with(2)), 1);
        assert_eq!(policy.misses(&view, &growing, &with(1)), 0, "rule 3: never with one");
        let mut again = with(0);
        again.transmissions.push(again.transmissions[0]);
        assert_eq!(policy.misses(&view, &growing, &again), 0);
    }

    #[test]
    fn acknowledgements_of_a_former_path_are_no_samples() {
        let (mut policy, mut picture) = fixture();
        sack(&mut policy, &picture, 0);
        lose(&mut policy, &picture, 1);
        picture.last_path_used = Some(PathId(1));
        sack(&mut policy, &picture, 0);
        assert_eq!(policy.threshold(P0), 3);
        picture.last_path_used = Some(P0);
        sack(&mut policy, &picture, 0);
        assert_eq!(policy.threshold(P0), 2);
    }
}
