//! Share of the packets that are lost on a path, for schemes that code data. A sample is the number of packets found
//! lost in a round trip, divided by the number of packets sent in it. The share is a moving average in which a new
//! sample has the weight 1/8. The share begins at 0 and is at most [`LossShare::MOST`].
//!
//! Copies and retransmissions are counted like other packets. Every loss that the loss policy finds is counted,
//! whatever its cause. Losses after a timeout are included. A period ends with the first acknowledgement that arrives
//! at least a round trip after the period began. A period in which nothing was sent continues.

use strandcast_proto::policy::{
    Estimate, LossTrigger, Moves, PathEstimator, PathId, PathState, Policy, Signal, View,
};
use strandcast_proto::time::Instant;

/// Weight of a round trip in the average.
const GAIN: f64 = 0.125;

/// The loss rate of each path, in [`Estimate::loss`].
#[derive(Debug, Default)]
pub struct LossShare {
    /// Shares by path slot.
    paths: Vec<Share>,
}

/// State of one path.
#[derive(Clone, Debug, Default)]
struct Share {
    rate: f64,
    /// Number of packets since the period began.
    sent: u32,
    lost: u32,
    /// End of the period.
    due: Option<Instant>,
}

impl Share {
    fn close(&mut self) {
        let sample = f64::from(self.lost.min(self.sent)) / f64::from(self.sent);
        self.rate += GAIN * (sample - self.rate);
        (self.sent, self.lost) = (0, 0);
    }
}

impl LossShare {
    /// Greatest loss rate that the estimator reports.
    pub const MOST: f64 = 0.5;

    fn of(&mut self, path: PathId) -> &mut Share {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, Share::default);
        }
        &mut self.paths[path.index()]
    }

    fn on_acked(&mut self, view: &View<'_>, path: PathId) {
        let Some(srtt) = view.paths.get(path.index()).and_then(|p| p.srtt) else { return };
        let share = self.of(path);
        let due = *share.due.get_or_insert(view.now + srtt);
        if view.now >= due && share.sent > 0 {
            share.close();
            share.due = Some(view.now + srtt);
        }
    }
}

impl Policy for LossShare {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(chunk) => self.of(chunk.path()).sent += 1,
            Signal::Lost { path, .. } => self.of(*path).lost += 1,
            Signal::Spurious { path, chunks, trigger: LossTrigger::FastRetransmit, .. } => {
                let share = self.of(*path);
                share.lost = share.lost.saturating_sub(*chunks);
            }
            Signal::Acked(ack) => self.on_acked(view, ack.path),
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed) =>
            {
                *self.of(*path) = Share::default();
            }
            _ => {}
        }
    }

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        Moves::by(signal)
    }
}

impl PathEstimator for LossShare {
    fn estimate(&self, path: PathId, out: &mut Estimate) {
        out.loss = Some(self.paths.get(path.index()).map_or(0.0, |share| share.rate.min(Self::MOST)));
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk, loss_of};
    use strandcast_proto::time::Duration;

    use super::*;

    fn rate(share: &LossShare) -> f64 {
        let mut out = Estimate::default();
        share.estimate(PathId(0), &mut out);
        out.loss.expect("it is always known")
    }

    /// A round trip of 100 ms in which `sent` packets are sent. `lost` of these packets are lost.
    fn round(share: &mut LossShare, picture: &mut Picture, sent: u32, lost: u32) {
        let view = picture.view();
        (0..sent).for_each(|tsn| share.on_signal(&view, &Signal::Sent(&chunk(tsn, &[0]))));
        (0..lost).for_each(|tsn| share.on_signal(&view, &loss_of(&chunk(tsn, &[0]))));
        share.on_signal(&view, &Signal::Acked(&ack(0, 0, (0, 0), MTU)));
        picture.now += Duration::from_millis(100);
    }

    /// p ← p + (lost/sent - p)/8, once per round trip, starting from 0.
    #[test]
    fn an_eighth_of_each_round_trip() {
        let (mut share, mut picture) = (LossShare::default(), Picture::new(1));
        assert_eq!(rate(&share), 0.0);
        round(&mut share, &mut picture, 4, 1);
        assert_eq!(rate(&share), 0.0, "the first round trip is not over");
        round(&mut share, &mut picture, 4, 1);
        assert_eq!(rate(&share), 0.25 / 8.0, "2 of 8");
        round(&mut share, &mut picture, 10, 0);
        assert_eq!(rate(&share), 0.25 / 8.0 * 7.0 / 8.0);
    }

    #[test]
    fn several_acknowledgements_of_a_round_trip_are_one_sample() {
        let (mut share, mut picture) = (LossShare::default(), Picture::new(1));
        round(&mut share, &mut picture, 8, 0);
        picture.now += Duration::from_millis(1);
        round(&mut share, &mut picture, 8, 8);
        let once = rate(&share);
        picture.now = picture.now + Duration::from_millis(50) - Duration::from_millis(100);
        round(&mut share, &mut picture, 8, 8);
        assert_eq!((once, rate(&share)), (0.5 / 8.0, 0.5 / 8.0));
    }

    #[test]
    fn it_stays_at_a_half_and_forgets_closed_paths() {
        let (mut share, mut picture) = (LossShare::default(), Picture::new(1));
        (0..40).for_each(|_| round(&mut share, &mut picture, 2, 4));
        assert_eq!(rate(&share), LossShare::MOST);
        picture.paths[0].state = PathState::Closed;
        share.on_signal(&picture.view(), &Signal::PathChanged(PathId(0)));
        assert_eq!(rate(&share), 0.0);
    }

    #[test]
    fn without_anything_sent_nothing_is_learnt() {
        let (mut share, mut picture) = (LossShare::default(), Picture::new(1));
        round(&mut share, &mut picture, 2, 1);
        round(&mut share, &mut picture, 0, 0);
        let once = rate(&share);
        (0..5).for_each(|_| round(&mut share, &mut picture, 0, 0));
        assert_eq!((once, rate(&share)), (0.5 / 8.0, 0.5 / 8.0));
    }
}
