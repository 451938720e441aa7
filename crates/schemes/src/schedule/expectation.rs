//! Expected arrival time of a symbol that leaves on a path now. The expected arrival time is for schemes that code data
//! (Cui et al. 2012, 2015).

use strandcast_proto::policy::{PathView, SymbolsInFlight};
use strandcast_proto::time::Duration;

use crate::estimate::LossShare;

/// EDT in seconds of a path without a round-trip time.
const UNKNOWN: f64 = 0.5;

/// Expected times and loss of a path. Times are in seconds.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Expectation {
    /// p: probability that a symbol is lost, at most a half.
    pub loss: f64,
    /// Smoothed round-trip time. If the path has none, a third of the retransmission timeout.
    pub rtt: f64,
    /// EDT, expected delivery time: (RTT/2) (1 + p)/(1 - p). EDT is half a round trip, plus one round trip for each
    /// failed transmission. For a path without a round-trip time, it is 0.5 s.
    pub edt: f64,
    /// RT, expected response time: (1 - p) RTT + p RTO.
    pub rt: f64,
}

impl Expectation {
    /// Expected number of symbols in flight that will arrive.
    pub fn arriving(&self, there: SymbolsInFlight) -> f64 {
        (1.0 - self.loss) * (f64::from(there.sources) + f64::from(there.repairs))
    }

    /// Returns the expectation of `path`, by its estimated loss.
    pub fn of(path: &PathView) -> Self {
        let loss = path.est.loss.filter(|p| *p > 0.0).map_or(0.0, |p| p.min(LossShare::MOST));
        let rto = path.rto.as_secs_f64();
        let measured = path.srtt.map(|srtt| srtt.max(Duration::from_micros(1)).as_secs_f64());
        let rtt = measured.unwrap_or(rto / 3.0);
        let edt = measured.map_or(UNKNOWN, |rtt| rtt / 2.0 * (1.0 + loss) / (1.0 - loss));
        Expectation { loss, rtt, edt, rt: (1.0 - loss) * rtt + loss * rto }
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::fixture;

    use super::*;

    /// RTT 0.2 s, p 0.1 and RTO 1 s: EDT = 0.1 · 1.1/0.9 s, RT = 0.28 s.
    #[test]
    fn delivery_and_response_by_hand() {
        let mut path = fixture::path(0);
        path.srtt = Some(Duration::from_millis(200));
        path.est.loss = Some(0.1);
        let Expectation { edt, rt, .. } = Expectation::of(&path);
        assert!((edt - 0.122_222).abs() < 1e-6 && (rt - 0.28).abs() < 1e-12, "{edt} {rt}");
        path.est.loss = None;
        let without = Expectation::of(&path);
        assert_eq!((without.loss, without.edt, without.rt), (0.0, 0.1, 0.2), "half of the round-trip time");
    }

    #[test]
    fn a_path_without_a_sample_and_one_that_loses_most() {
        let mut path = fixture::path(0);
        path.srtt = None;
        let unknown = Expectation::of(&path);
        assert_eq!((unknown.edt, unknown.rtt), (0.5, 1.0 / 3.0), "RTO.Initial of 1 s");
        path.srtt = Some(Duration::from_millis(200));
        path.est.loss = Some(0.9);
        let worst = Expectation::of(&path);
        assert_eq!(worst.loss, 0.5);
        assert!((worst.edt - 0.3).abs() < 1e-12 && (worst.rt - 0.6).abs() < 1e-12, "{worst:?}");
    }
}
