//! Against crate dcsctp, WebRTC's SCTP.

mod common;
mod interop;

use std::collections::VecDeque;

use bytes::Bytes;
use dcsctp::api::{
    DcSctpSocket, ErrorKind, Message, Options, PpId, SendOptions, SocketEvent, SocketTime, StreamId,
};
use interop::journal::From;
use interop::scenarios::{self, BOTH, Outage};
use interop::{Fate, Foreign, How, Note};
use strandcast_proto::time::Duration;

struct Dcsctp {
    socket: Box<dyn DcSctpSocket>,
    packets: VecDeque<Bytes>,
    fate: Fate,
    restarts: u32,
}

impl Dcsctp {
    fn at(&mut self, now: Duration) -> &mut dyn DcSctpSocket {
        self.socket.advance_time(SocketTime::zero() + now);
        &mut *self.socket
    }

    fn take_events(&mut self) {
        while let Some(event) = self.socket.poll_event() {
            match event {
                SocketEvent::SendPacket(packet) => self.packets.push_back(packet.into()),
                SocketEvent::OnConnected() => self.fate = Fate::Open,
                SocketEvent::OnConnectionRestarted() => self.restarts += 1,
                SocketEvent::OnClosed() => self.fate = Fate::Closed,
                SocketEvent::OnAborted(..) => self.fate = Fate::Aborted,
                SocketEvent::OnError(ErrorKind::ParseFailed | ErrorKind::ProtocolViolation, what)
                    if self.fate == Fate::Open =>
                {
                    panic!("dcsctp did not like our packet: {what}")
                }
                _ => {}
            }
        }
    }
}

impl Foreign for Dcsctp {
    fn new(seed: u64) -> Self {
        // Its tags and first TSNs come from the thread's generator.
        fastrand::seed(seed);
        let options = Options {
            max_send_buffer_size: 1 << 22,
            // Don't cut messages that fit a packet.
            avoid_fragmentation_cwnd_mtus: 0,
            ..Options::default()
        };
        let socket = dcsctp::new_socket("theirs", &options);
        Dcsctp { socket, packets: VecDeque::new(), fate: Fate::Opening, restarts: 0 }
    }

    fn connect(&mut self, now: Duration) {
        self.at(now).connect();
    }

    fn input(&mut self, now: Duration, packet: Bytes) {
        self.at(now).handle_input(&packet);
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let at = self.socket.poll_timeout();
        (at != SocketTime::infinite_future()).then(|| at - SocketTime::zero())
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.at(now);
    }

    fn output(&mut self, now: Duration) -> Option<Bytes> {
        self.at(now);
        self.take_events();
        self.packets.pop_front()
    }

    fn send(&mut self, now: Duration, note: &Note, how: How) {
        let options =
            SendOptions { unordered: how.unordered, lifetime: how.lifetime, ..SendOptions::default() };
        let message = Message::new(StreamId(note.stream), PpId(note.ppid), note.payload.to_vec());
        self.at(now).send(message, &options).expect("room to send");
    }

    fn received(&mut self) -> Vec<Note> {
        let next = || self.socket.get_next_message();
        let note = |m: Message| Note { stream: m.stream_id.0, ppid: m.ppid.0, payload: m.payload.into() };
        std::iter::from_fn(next).map(note).collect()
    }

    fn shutdown(&mut self, now: Duration) {
        self.at(now).shutdown();
    }

    fn abort(&mut self, now: Duration) {
        self.at(now).close();
        self.fate = Fate::Aborted;
    }

    fn fate(&self) -> Fate {
        self.fate
    }
}

/// Without and with losses, several seeds.
fn runs() -> impl Iterator<Item = (From, u64, f64)> {
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
    scenarios::traffic::<Dcsctp>(From::Us, 11, 0.05, 250_000);
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
        // When dcsctp gives up a message that it has sent in part, it takes a TSN for its end out of the midst of the
        // message it is sending then, which nobody can put together (RFC 9260 §6.9): let it cut none, and don't let
        // its window collapse, which makes it cut.
        let (outage, large) = match (by, loss) {
            (From::Us, _) => (Outage::Everything, 3_000),
            (From::Them, 0.0) => (Outage::Mortal, 1_000),
            (From::Them, _) => (Outage::None, 1_000),
        };
        scenarios::partial_reliability::<Dcsctp>(by, seed, loss, outage, large);
    }
}

#[test]
fn a_close_delivers_what_is_queued() {
    // With losses dcsctp may send SHUTDOWN while chunks wait to be sent again.
    for (by, seed, loss) in runs().filter(|(by, _, loss)| *by == From::Us || *loss == 0.0) {
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
        let p = scenarios::restart_of_ours::<Dcsctp>(seed, loss);
        assert_eq!(p.theirs.restarts, 1);
    }
}
