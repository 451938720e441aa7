//! Interoperation with crate sctp-proto, which webrtc-rs and str0m use.
//!
//! Its tags and TSNs cannot be seeded: a failing run prints its packets.

use std::sync::Arc;

use sctp_proto::{ServerConfig, TransportConfig};
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::time::Duration;
use strandcast_testing::interop::journal::PacketOrigin;
use strandcast_testing::interop::scenarios::{self, BOTH, Outage};
use strandcast_testing::interop::sctp_proto::SctpProto;
use strandcast_testing::interop::{How, Pair, UserMessage};

/// Without and with losses, several runs.
fn runs() -> impl Iterator<Item = (PacketOrigin, u64, f64)> {
    let of = |by| (1..=8).map(move |seed| (by, seed, if seed == 1 { 0.0 } else { 0.05 }));
    BOTH.into_iter().flat_map(of)
}

#[test]
fn handshake_by_either_side() {
    for (by, seed, loss) in runs() {
        scenarios::handshake::<SctpProto>(by, seed, loss);
    }
}

#[test]
fn traffic_both_ways() {
    for (by, seed, loss) in runs() {
        scenarios::traffic::<SctpProto>(by, seed, loss, 50_000);
    }
}

#[test]
fn packets_overtake_each_other_and_come_twice() {
    for (by, seed, _) in runs() {
        scenarios::disorder::<SctpProto>(by, seed);
    }
}

#[test]
fn partial_reliability_both_ways() {
    for (by, seed, loss) in runs() {
        scenarios::partial_reliability::<SctpProto>(by, seed, loss, Outage::Everything, 3_000);
    }
}

#[test]
fn a_close_delivers_what_is_queued() {
    // The crate itself sends SHUTDOWN before what it has queued.
    for (by, seed, loss) in runs().filter(|(by, ..)| *by == PacketOrigin::Us) {
        scenarios::close_with_data_queued::<SctpProto>(by, seed, loss);
    }
}

#[test]
fn our_abort() {
    scenarios::abort::<SctpProto>(PacketOrigin::Us, 1);
}

/// It aborts when a message does not fit its buffer.
#[test]
fn their_abort() {
    let mut p = Pair::<SctpProto>::new("a message that is too big", 1, 0.0);
    let mut config = ServerConfig::default();
    config.transport = Arc::new(TransportConfig::default().with_max_receive_buffer_size(20_000));
    p.theirs = SctpProto::with(config);
    p.open(PacketOrigin::Us);
    p.send(
        PacketOrigin::Us,
        &UserMessage { stream: 0, ppid: 53, payload: vec![1; 60_000].into() },
        How::default(),
    );
    p.run(Duration::from_secs(30));
    assert!(matches!(p.events.last(), Some(Event::Closed(CloseReason::PeerAborted(_)))), "{:?}", p.events);
}

#[test]
fn heartbeats_keep_an_idle_association() {
    scenarios::idle::<SctpProto>(1);
}
