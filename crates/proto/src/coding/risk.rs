//! Decision whether a message could be retransmitted in time after a loss.
//!
//! A message leaves at t on path p and is lost there. The retransmission of the message arrives at the earliest at
//!
//! ```text
//! t + srtt_p + reorder_p + rttvar_p + way
//! reorder_p = 3 srtt_p / max(c_p, 1), at most max(rto_p - srtt_p, 0)
//! way       = the least srtt_q / 2 of the usable paths q
//! ```
//!
//! where c_p is the number of chunks in flight on p. The acknowledgement of the third chunk sent after the message
//! reveals the loss (RFC 9260 §7.2.4). With c_p chunks per round trip, this third chunk leaves 3 srtt_p / c_p after the
//! message. If no chunk follows the message, a timeout reveals the loss.
//!
//! Assumptions: round-trip times do not change, and half of a round-trip time is the transit time to the peer. The peer
//! acknowledges gaps at once (RFC 9260 §6.7). The path of the retransmission has room. A path without a round-trip time
//! is unknown and not used.

use crate::policy::{PathId, PathView, View};
use crate::time::{Duration, Instant};

/// Returns the transit time to the peer by the fastest usable path; `None` before the first round trip.
pub(crate) fn way(view: &View<'_>) -> Option<Duration> {
    view.usable_paths().filter_map(|p| p.srtt).min().map(|srtt| srtt / 2)
}

/// Returns the time from the departure of a message on `path` until its loss is detected.
fn notice(path: &PathView) -> Option<Duration> {
    let srtt = path.srtt?;
    let three = srtt * 3 / path.in_flight_chunks.max(1);
    Some(srtt + three.min(path.rto.saturating_sub(srtt)) + path.rttvar)
}

/// Returns whether a message could not be retransmitted in time after a loss. The message left on `path` at `sent`, and
/// is useless from `expires` on.
pub(crate) fn late_if_lost(view: &View<'_>, path: PathId, sent: Instant, expires: Instant) -> bool {
    let of = view.paths.get(path.index()).and_then(notice);
    match (of, way(view)) {
        (Some(notice), Some(way)) => sent + notice + way > expires,
        _ => false,
    }
}

/// Returns whether a message that is retransmitted now could not be retransmitted in time after a second loss. The
/// retransmission takes the path that reveals losses first.
pub(crate) fn late_if_lost_again(view: &View<'_>, expires: Instant) -> bool {
    let soonest = view.usable_paths().filter_map(notice).min();
    soonest.zip(way(view)).is_some_and(|(notice, way)| view.now + notice + way > expires)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::fixture::Picture;

    /// Two paths: a round-trip time of 300 ms with 30 chunks in flight, and 20 ms with one chunk in flight.
    fn picture() -> Picture {
        let mut picture = Picture::new(2);
        let ms = Duration::from_millis;
        let p = &mut picture.paths[0];
        (p.srtt, p.rttvar, p.rto, p.in_flight_chunks) = (Some(ms(300)), ms(8), ms(1000), 30);
        let p = &mut picture.paths[1];
        (p.srtt, p.rttvar, p.rto, p.in_flight_chunks) = (Some(ms(20)), ms(1), ms(200), 1);
        picture
    }

    /// 300 + 3 · 300 / 30 + 8 + 20 / 2 = 348 ms; 20 + min(60, 180) + 1 + 10 = 91 ms.
    #[test]
    fn a_loss_costs_a_round_trip_three_chunks_and_the_way() {
        let picture = picture();
        let view = picture.view();
        for (path, needs) in [(0, 348), (1, 91)] {
            let late = |ms| late_if_lost(&view, PathId(path), view.now, view.now + Duration::from_millis(ms));
            assert!(late(needs - 1) && !late(needs), "path {path}");
        }
        let again = |ms| late_if_lost_again(&view, view.now + Duration::from_millis(ms));
        assert!(again(90) && !again(91));
    }

    /// With one chunk in flight, three more chunks take 60 ms. The timeout reveals the loss earlier, 30 ms after the
    /// round trip.
    #[test]
    fn a_timeout_tells_if_nothing_follows() {
        let mut picture = picture();
        picture.paths[1].rto = Duration::from_millis(50);
        let view = picture.view();
        let late = |ms| late_if_lost(&view, PathId(1), view.now, view.now + Duration::from_millis(ms));
        // 20 + 30 + 1 + 10.
        assert!(late(60) && !late(61));
    }

    #[test]
    fn nothing_is_late_that_nothing_is_known_of() {
        let mut picture = picture();
        picture.paths.iter_mut().for_each(|p| p.srtt = None);
        let view = picture.view();
        assert!(!late_if_lost(&view, PathId(0), view.now, view.now));
        assert!(!late_if_lost_again(&view, view.now));
        assert_eq!(way(&view), None);
    }
}
