//! Queueing delay of a path, and the number of bytes that the path holds. The delay and the number of bytes follow from
//! measurements of the path.

use strandcast_proto::policy::PathView;
use strandcast_proto::time::Duration;

/// Queueing delay and least round-trip time, seconds.
pub(super) fn queue(view: &PathView) -> Option<(f64, f64)> {
    let least = view.est.reference_rtt.or(view.min_rtt)?.as_secs_f64();
    let queue = view.est.queue.or_else(|| view.srtt.map(|s| s.as_secs_f64() - least))?;
    Some((queue.max(0.0), least))
}

/// Returns the shorter of two times: `srtt`, and a round trip of `own` plus a queueing delay of `queue` seconds.
pub(super) fn shorter(srtt: Duration, own: Duration, queue: f64) -> Duration {
    // In most cases the result is srtt by far, so that the exact sum is not needed.
    if srtt.as_secs_f64() < own.as_secs_f64() + queue - 1e-6 {
        return srtt;
    }
    srtt.min(own + Duration::from_secs_f64(queue))
}

/// Measured bandwidth times least round-trip time, in bytes.
pub(super) fn in_use(view: &PathView) -> u64 {
    let least = queue(view).map_or(0.0, |q| q.1);
    (view.est.delivery_rate.map_or(0.0, |r| r.bytes_per_s()) * least) as u64
}

/// Number of bytes that must be in flight at the measured bandwidth. It is less than [`in_use`] if acknowledgements
/// return by a shorter path than the data's path.
pub(super) fn under_way(view: &PathView) -> u64 {
    let (Some((queue, least)), Some(srtt)) = (queue(view), view.srtt) else { return in_use(view) };
    let shortest = view.min_rtt.map_or(least, |rtt| rtt.as_secs_f64());
    let trip = (srtt.as_secs_f64() - queue).max(shortest).min(least);
    (in_use(view) as f64 * trip / least) as u64
}

/// Share of the window that is not in the queue. The share is the least round-trip time divided by the round-trip time.
pub(super) fn without_queue(view: &PathView) -> f64 {
    queue(view).filter(|q| q.1 > 0.0).map_or(1.0, |(queue, least)| least / (least + queue))
}
