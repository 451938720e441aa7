//! Interoperation with the crate dcsctp, a port of WebRTC's SCTP.

use std::collections::VecDeque;

use bytes::Bytes;
use dcsctp::api::{
    DcSctpSocket, ErrorKind, Message, Options, PpId, SendOptions, SocketEvent, SocketTime, StreamId,
};
use strandcast_proto::time::Duration;

use super::{Foreign, How, PeerState, UserMessage};

/// An endpoint of dcsctp.
pub struct Dcsctp {
    socket: Box<dyn DcSctpSocket>,
    packets: VecDeque<Bytes>,
    state: PeerState,
    /// Number of times that the peer restarted without its state.
    pub restarts: u32,
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
                SocketEvent::OnConnected() => self.state = PeerState::Open,
                SocketEvent::OnConnectionRestarted() => self.restarts += 1,
                SocketEvent::OnClosed() => self.state = PeerState::Closed,
                SocketEvent::OnAborted(..) => self.state = PeerState::Aborted,
                SocketEvent::OnError(ErrorKind::ParseFailed | ErrorKind::ProtocolViolation, what)
                    if self.state == PeerState::Open =>
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
        Dcsctp { socket, packets: VecDeque::new(), state: PeerState::Opening, restarts: 0 }
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

    fn send(&mut self, now: Duration, message: &UserMessage, how: How) {
        let options =
            SendOptions { unordered: how.unordered, lifetime: how.lifetime, ..SendOptions::default() };
        let message = Message::new(StreamId(message.stream), PpId(message.ppid), message.payload.to_vec());
        self.at(now).send(message, &options).expect("room to send");
    }

    fn received(&mut self) -> Vec<UserMessage> {
        let next = || self.socket.get_next_message();
        let message =
            |m: Message| UserMessage { stream: m.stream_id.0, ppid: m.ppid.0, payload: m.payload.into() };
        std::iter::from_fn(next).map(message).collect()
    }

    fn shutdown(&mut self, now: Duration) {
        self.at(now).shutdown();
    }

    fn abort(&mut self, now: Duration) {
        self.at(now).close();
        self.state = PeerState::Aborted;
    }

    fn state(&self) -> PeerState {
        self.state
    }
}
