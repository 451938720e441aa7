//! Interoperation with crate dcsctp, WebRTC's SCTP.

use strandcast_testing::interop::dcsctp::Dcsctp;
use strandcast_testing::interop::journal::PacketOrigin;
use strandcast_testing::interop::scenarios::{self, BOTH, Outage};

/// Without and with losses, several seeds.
fn runs() -> impl Iterator<Item = (PacketOrigin, u64, f64)> {
    let of = |by| (1..=8).map(move |seed| (by, seed, if seed == 1 { 0.0 } else { 0.05 }));
    BOTH.into_iter().flat_map(of)
}

#[test]
fn handshake_by_either_side() {
    for (by, seed, loss) in runs() {
        scenarios::handshake::<Dcsctp>(by, seed, loss);
    }
}

#[test]
fn traffic_both_ways() {
    for (by, seed, loss) in runs() {
        scenarios::traffic::<Dcsctp>(by, seed, loss, 50_000);
    }
}

#[test]
fn messages_of_a_quarter_of_a_megabyte() {
    scenarios::traffic::<Dcsctp>(PacketOrigin::Us, 11, 0.05, 250_000);
}

#[test]
fn packets_overtake_each_other_and_come_twice() {
    for (by, seed, _) in runs() {
        scenarios::disorder::<Dcsctp>(by, seed);
    }
}

#[test]
fn partial_reliability_both_ways() {
    for (by, seed, loss) in runs() {
        // When dcsctp gives up a message that it has sent in part, it takes a TSN for its end from the middle of the
        // message that it then sends, which no receiver can reassemble (RFC 9260 §6.9). The test therefore lets it cut
        // no message, and does not let its window collapse, which would make it cut.
        let (outage, large) = match (by, loss) {
            (PacketOrigin::Us, _) => (Outage::Everything, 3_000),
            (PacketOrigin::Them, 0.0) => (Outage::Mortal, 1_000),
            (PacketOrigin::Them, _) => (Outage::None, 1_000),
        };
        scenarios::partial_reliability::<Dcsctp>(by, seed, loss, outage, large);
    }
}

#[test]
fn a_close_delivers_what_is_queued() {
    // With losses dcsctp may send SHUTDOWN while chunks wait to be sent again.
    for (by, seed, loss) in runs().filter(|(by, _, loss)| *by == PacketOrigin::Us || *loss == 0.0) {
        scenarios::close_with_data_queued::<Dcsctp>(by, seed, loss);
    }
}

#[test]
fn abort_by_either_side() {
    for by in BOTH {
        scenarios::abort::<Dcsctp>(by, 1);
    }
}

#[test]
fn heartbeats_keep_an_idle_association() {
    scenarios::idle::<Dcsctp>(1);
}

#[test]
fn both_sides_open_at_once() {
    for (seed, loss) in [(1, 0.0), (2, 0.05), (3, 0.2)] {
        scenarios::collision::<Dcsctp>(seed, loss);
    }
}

#[test]
fn restart_of_either_side() {
    for (seed, loss) in [(1, 0.0), (2, 0.05), (3, 0.2)] {
        scenarios::restart_of_theirs::<Dcsctp>(seed, loss);
        let p = scenarios::restart_of_our_end::<Dcsctp>(seed, loss);
        assert_eq!(p.theirs.restarts, 1);
    }
}
