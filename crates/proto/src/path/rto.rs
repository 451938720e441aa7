//! Retransmission timeout (RTO) of a path (RFC 9260 §6.3.1).

use crate::config::TransportConfig;
use crate::policy::PathView;
use crate::time::Duration;

/// Clock granularity G: minimum of the variation of the round-trip time.
const GRANULARITY: Duration = Duration::from_millis(1);

/// Applies a measured round-trip time (rules C2 and C3, with alpha = 1/8 and beta = 1/4).
pub(crate) fn sample(view: &mut PathView, config: &TransportConfig, rtt: Duration) {
    sample_held(view, config, rtt, rtt);
}

/// Applies the round-trip time of an acknowledgement that the peer may have delayed. As far as is known, the path
/// itself took `rtt`. The answer took `measured` in total, and timers must allow this time.
pub(crate) fn sample_held(view: &mut PathView, config: &TransportConfig, rtt: Duration, measured: Duration) {
    match view.srtt {
        None => {
            view.srtt = Some(rtt);
            view.rttvar = rtt / 2;
        }
        Some(srtt) => {
            view.rttvar = view.rttvar * 3 / 4 + srtt.abs_diff(measured) / 4;
            view.srtt = Some(srtt * 7 / 8 + rtt / 8);
        }
    }
    view.rttvar = view.rttvar.max(GRANULARITY);
    view.latest_rtt = Some(rtt);
    view.min_rtt = Some(view.min_rtt.map_or(rtt, |m| m.min(rtt)));
    view.rto = timeout(view, config);
}

/// Returns srtt + 4·rttvar, limited to the bounds of the RTO. RTO.Min of RFC 9260 covers the peer's delay of the
/// acknowledgement of a single packet. A shorter RTO.Min does not cover this delay, and round-trip times of heartbeats
/// do not include it.
fn timeout(view: &PathView, config: &TransportConfig) -> Duration {
    let Some(srtt) = view.srtt else { return config.rto_initial };
    let delays = if config.tail_probes { 2 * config.sack_delay } else { Duration::ZERO };
    (srtt + delays.max(4 * view.rttvar)).clamp(config.rto_min, config.rto_max)
}

/// Doubles the timeout after an expiry (RFC 9260 §6.3.3, rule E2).
pub(crate) fn back_off(view: &mut PathView, config: &TransportConfig) {
    view.rto = (view.rto * 2).min(config.rto_max);
}

/// Removes the back-off: the timeout again follows from the last sample.
pub(crate) fn forget_back_off(view: &mut PathView, config: &TransportConfig) {
    view.rto = timeout(view, config);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{FourTuple, new_view};
    use crate::policy::PathId;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn view(config: &TransportConfig) -> PathView {
        new_view(PathId(0), &FourTuple::loopback(1, 2), config, config.mtu)
    }

    #[test]
    fn samples_of_100_100_200_ms() {
        // srtt 112.5; rttvar 50, 37.5, 3/4 * 37.5 + 1/4 * 100 = 53.125 ms.
        let config = TransportConfig::default();
        let mut v = view(&config);
        for rtt in [100, 100, 200] {
            sample(&mut v, &config, ms(rtt));
        }
        assert_eq!(v.srtt, Some(Duration::from_micros(112_500)));
        assert_eq!(v.rttvar, Duration::from_nanos(53_125_000));
        assert_eq!(v.rto_raw(), Some(ms(325)));
        assert_eq!(v.rto, ms(1000), "RTO.Min");
    }

    /// Heartbeats are answered at once. If only their round-trip times counted, each delayed acknowledgement would be
    /// too late.
    #[test]
    fn a_delayed_acknowledgement_is_no_timeout() {
        let live = TransportConfig::live().towards(true).expect("a Strandcast peer");
        let mut v = view(&live);
        (0..50).for_each(|_| sample(&mut v, &live, ms(200)));
        assert!(v.rto >= ms(200) + live.sack_delay + ms(10), "{:?}", v.rto);
        let mut v = view(&live);
        (0..50).for_each(|_| sample(&mut v, &live, ms(80)));
        assert_eq!(v.rto, ms(200), "RTO.Min");
    }

    #[test]
    fn rto_starts_at_initial_doubles_and_is_recomputed_by_the_next_sample() {
        let config = TransportConfig::default();
        let mut v = view(&config);
        assert_eq!(v.rto, config.rto_initial);
        let seen: Vec<u64> = (0..8)
            .map(|_| {
                back_off(&mut v, &config);
                v.rto.as_secs()
            })
            .collect();
        assert_eq!(seen, [2, 4, 8, 16, 32, 60, 60, 60]);
        sample(&mut v, &config, ms(2000));
        assert_eq!(v.rto, ms(6000), "2 s + 4 * 1 s");
    }
}
