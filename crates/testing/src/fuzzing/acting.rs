//! The default scheme with a loss policy that requests arrivals and acts at random. The actions are equal in each run.

use strandcast_proto::policy::{
    AckInfo, Act, ChunkInfo, Feedback, Flight, LossCause, LossPolicy, LossTrigger, Parts, PathId, PathSet,
    Policy, Retransmit, Scheme, View,
};
use strandcast_proto::rfc;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Duration;
use strandcast_proto::wire::serial::Tsn;

pub(super) fn scheme(seeds: &Seeds) -> Box<dyn Scheme> {
    let parts = rfc::scheme();
    let loss = Restless { random: seeds.stream("acts"), base: parts.loss };
    Box::new(Parts { loss: Box::new(loss), feedback: Box::new(AnyReturnPath), ..parts })
}

#[derive(Debug)]
struct Restless {
    random: Random,
    base: Box<dyn LossPolicy>,
}

impl Policy for Restless {
    fn hears_arrivals(&self) -> bool {
        true
    }

    fn acts(&self) -> bool {
        true
    }

    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        let path = PathId(self.random.below(5) as u8);
        match self.random.below(8) {
            0 => {
                let sent_before = view.now - Duration::from_millis(self.random.below(2000));
                Some(Act::Lose { path, sent_before, cause: LossCause::PathFailure })
            }
            // Two ends whose messages must all arrive have none in these groups.
            1 => Some(Act::Drop { group: 8 + self.random.below(3) }),
            2 | 3 => {
                let from = PathId(self.random.below(4) as u8);
                let chunk = flight.on(from).nth(self.random.below(4) as usize);
                Some(Act::Copy { tsn: chunk.map_or(Tsn(0), |c| c.tsn), to: path })
            }
            _ => None,
        }
    }
}

impl LossPolicy for Restless {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        self.base.misses(view, ack, chunk)
    }

    fn threshold(&self, path: PathId) -> u8 {
        self.base.threshold(path)
    }

    fn classify(&mut self, view: &View<'_>, chunk: &ChunkInfo, trigger: LossTrigger) -> LossCause {
        self.base.classify(view, chunk, trigger)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        self.base.retransmit(view, chunk, cause)
    }
}

/// Feedback that requests SACKs by other return paths every second.
#[derive(Debug)]
struct AnyReturnPath;

impl Policy for AnyReturnPath {}

impl Feedback for AnyReturnPath {
    fn return_paths(&mut self, view: &View<'_>) -> PathSet {
        let second = view.now.as_nanos() / 1_000_000_000;
        view.paths.iter().map(|p| p.id).filter(|p| second >> p.index() & 1 == 0).collect()
    }
}
