//! Part of a connection that both directions share: state, liveness, and dispatch of packets.

use core::fmt;
use core::net::SocketAddr;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use super::receiver::Receiver;
use super::sender::{SendError, Sender};
use super::timing::Timing;
use crate::config::{Config, Direction, Passphrase};
use crate::crypto::{Kek, ReceiveKeys, SendKeys};
use crate::stats::Stats;
use crate::wire::{Body, KeyMaterial, Packet, Writer};

/// Time without a sent packet after which a keep-alive packet is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Time without a received packet after which another peer may replace the peer of a connection.
const SILENT: Duration = Duration::from_millis(2500);
/// Time that a sender waits, in addition to the latency, before it ends a connection. The additional time covers the
/// path and timers.
const PLAYED: Duration = Duration::from_millis(200);

/// Reason for which a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The application of this endpoint closed the connection.
    Closed,
    /// The peer closed the connection.
    ByPeer,
    /// The peer sent nothing for longer than the idle timeout.
    TimedOut,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ended::Closed => "closed",
            Ended::ByPeer => "closed by the peer",
            Ended::TimedOut => "the peer sent nothing for too long",
        })
    }
}

/// Keys of a new connection.
pub(crate) enum Keys {
    None,
    Send(SendKeys),
    Receive(ReceiveKeys),
}

/// Outcome of a handshake, from which a connection is created.
pub(crate) struct Setup<'a> {
    pub config: &'a Config,
    pub peer: SocketAddr,
    pub peer_id: u32,
    /// Local time at which the timestamps of this endpoint begin.
    pub origin: Instant,
    /// Timestamp in the peer's handshake.
    pub timestamp: u32,
    pub first_seq: u32,
    /// Number of packets for which the peer has room.
    pub window: u32,
    /// Latency of the media.
    pub latency: Duration,
    pub keys: Keys,
    pub random: Random,
    /// Contents of the handshake response. The response is sent again if the caller repeats its request.
    pub response: Option<Vec<u8>>,
}

enum Half {
    Sender(Sender),
    Receiver(Receiver),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// The application closed the connection. Packets that were sent may still arrive until this time.
    Finishing(Instant),
    /// The connection must notify the peer of its end.
    Leaving,
    /// The connection accepts no further packets. The connection still delivers received packets.
    Draining(Ended),
    Ended(Ended),
}

/// An SRT connection.
pub(crate) struct Connection {
    peer: SocketAddr,
    peer_id: u32,
    origin: Instant,
    half: Half,
    state: State,
    received: Instant,
    sent: Instant,
    latency: Duration,
    idle_timeout: Duration,
    stats: Stats,
    passphrase: Option<Passphrase>,
    random: Random,
    response: Option<Vec<u8>>,
    respond: bool,
}

impl Connection {
    /// Creates a connection after its handshake.
    pub fn new(now: Instant, setup: Setup<'_>) -> Connection {
        let Setup { config, first_seq, latency, .. } = setup;
        let half = match (config.direction, setup.keys) {
            (Direction::Send, keys) => {
                let keys = if let Keys::Send(keys) = keys { Some(keys) } else { None };
                let mut sender = Sender::new(now, config, latency, first_seq, keys);
                sender.set_window(setup.window);
                Half::Sender(sender)
            }
            (Direction::Receive, keys) => {
                let keys = if let Keys::Receive(keys) = keys { Some(keys) } else { None };
                let timing = Timing::new(now, setup.timestamp, latency);
                Half::Receiver(Receiver::new(config, timing, first_seq, keys))
            }
        };
        Connection {
            peer: setup.peer,
            peer_id: setup.peer_id,
            origin: setup.origin,
            half,
            state: State::Open,
            received: now,
            sent: now,
            latency,
            idle_timeout: config.idle_timeout,
            stats: Stats::default(),
            passphrase: config.passphrase.clone(),
            random: setup.random,
            respond: setup.response.is_some(),
            response: setup.response,
        }
    }

    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Returns true if the caller `peer` with the id `peer_id` opened the connection.
    pub fn is_of(&self, peer: SocketAddr, peer_id: u32) -> bool {
        (self.peer, self.peer_id) == (peer, peer_id)
    }

    /// Sends the response again to a caller that has not received it.
    pub fn repeat_response(&mut self) {
        self.respond = self.response.is_some();
    }

    /// Returns true if the peer has sent nothing for so long that it may have disappeared.
    pub fn is_silent(&self, now: Instant) -> bool {
        now.saturating_since(self.received) >= SILENT
    }

    /// Returns true if the connection has ended and only completes its shutdown.
    pub fn is_over(&self) -> bool {
        !matches!(self.state, State::Open | State::Finishing(_))
    }

    /// Ends the connection, because another connection replaces it.
    pub fn replace(&mut self) {
        self.state = State::Ended(Ended::TimedOut);
    }

    pub fn stats(&self) -> Stats {
        let (rtt, latency) = match &self.half {
            Half::Sender(sender) => (sender.rtt.measured(), self.latency),
            Half::Receiver(receiver) => (receiver.rtt.measured(), receiver.latency()),
        };
        Stats { rtt, latency, ..self.stats }
    }

    /// Sends a payload.
    pub fn send(&mut self, now: Instant, payload: &[u8]) -> Result<(), SendError> {
        match &mut self.half {
            Half::Sender(sender) if self.state == State::Open => {
                sender.push(now, payload, &mut self.random, &mut self.stats)
            }
            _ => Err(SendError::NotSending),
        }
    }

    /// Closes the connection. A sender waits until the payloads that it sent are played.
    pub fn close(&mut self, now: Instant) {
        if self.state != State::Open {
            return;
        }
        self.state = match &self.half {
            Half::Sender(_) => State::Finishing(now + 2 * self.latency + Duration::from_secs(1)),
            Half::Receiver(_) => State::Leaving,
        };
    }

    /// Ends the connection immediately.
    pub fn leave(&mut self) {
        if matches!(self.state, State::Open | State::Finishing(_)) {
            self.state = State::Leaving;
        }
    }

    /// Handles a packet from the peer.
    pub fn handle(&mut self, now: Instant, packet: &Packet<'_>) {
        if self.is_over() {
            return;
        }
        self.received = now;
        let sensible = match (&mut self.half, &packet.body) {
            (_, Body::Shutdown) => {
                self.state = State::Draining(Ended::ByPeer);
                true
            }
            (_, Body::KeepAlive | Body::Handshake(_) | Body::Other) => true,
            (Half::Sender(sender), body) => on_sender(now, sender, body, &mut self.stats),
            (Half::Receiver(receiver), body) => {
                let passphrase = self.passphrase.as_ref();
                let derive =
                    |m: &KeyMaterial| passphrase.map(|p| Kek::derive(&p.derivation(), m.salt, m.key_len));
                match *body {
                    Body::Data(data) => receiver.on_data(now, packet.timestamp, &data, &mut self.stats),
                    Body::AckAck(number) => receiver.on_ack_ack(now, packet.timestamp, number),
                    Body::KmRequest(contents) => {
                        receiver.on_km_request(now, contents, &derive, &mut self.stats);
                    }
                    _ => {}
                }
                match *body {
                    Body::DropRequest { first, last, .. } => receiver.on_drop_request(now, first, last),
                    Body::Ack(_) | Body::Nak(_) | Body::KmResponse(_) => false,
                    _ => true,
                }
            }
        };
        self.stats.bad += u64::from(!sensible);
    }

    /// Applies the effects of the time that has passed.
    fn advance(&mut self, now: Instant) {
        if !self.is_over() && now >= self.received + self.idle_timeout {
            self.state = State::Draining(Ended::TimedOut);
        }
        match (&mut self.half, self.state) {
            (Half::Sender(sender), State::Finishing(latest)) => {
                sender.drop_late(now, &mut self.stats);
                let played = sender.last_input + self.latency + sender.rtt.smoothed() + PLAYED;
                if now >= latest || sender.is_empty() && now >= played {
                    self.state = State::Leaving;
                }
            }
            (Half::Sender(_), State::Draining(why)) => self.state = State::Ended(why),
            (Half::Receiver(receiver), State::Draining(why)) if receiver.is_empty() => {
                self.state = State::Ended(why);
            }
            _ => {}
        }
    }

    /// Writes the next packet of the connection. Returns false if no packet must be sent now.
    pub fn poll_output(&mut self, now: Instant, out: &mut Vec<u8>) -> bool {
        self.advance(now);
        let timestamp = super::timestamp(now, self.origin);
        let mut writer = Writer { out, timestamp, to: self.peer_id };
        if let Some(response) = self.response.as_ref().filter(|_| std::mem::take(&mut self.respond)) {
            writer.handshake();
            writer.out.extend_from_slice(response);
            return true;
        }
        match self.state {
            State::Draining(_) | State::Ended(_) => return false,
            State::Leaving => {
                writer.shutdown();
                self.state = State::Ended(Ended::Closed);
                return true;
            }
            State::Open | State::Finishing(_) => {}
        }
        let written = match &mut self.half {
            Half::Sender(sender) => sender.poll(now, self.origin, &mut writer, &mut self.stats),
            Half::Receiver(receiver) => receiver.poll(now, &mut writer, &mut self.stats),
        };
        let alive = !written && now >= self.sent + KEEP_ALIVE;
        if alive {
            writer.keep_alive();
        }
        if written || alive {
            self.sent = now;
        }
        written || alive
    }

    /// Delivers the next payload that is due.
    pub fn deliver(&mut self, now: Instant) -> Option<Vec<u8>> {
        match &mut self.half {
            Half::Receiver(receiver) => receiver.deliver(now, &mut self.stats),
            Half::Sender(_) => None,
        }
    }

    /// Returns the reason for which the connection has ended, if it has.
    pub fn ended(&self) -> Option<Ended> {
        if let State::Ended(why) = self.state { Some(why) } else { None }
    }

    /// Returns the next time at which the connection must act.
    pub fn next_timeout(&self, now: Instant) -> Option<Instant> {
        let delivery = match &self.half {
            Half::Receiver(receiver) => receiver.next_delivery(),
            Half::Sender(_) => None,
        };
        let at = match self.state {
            State::Ended(_) | State::Leaving => Some(now),
            State::Draining(_) => delivery.or(Some(now)),
            State::Open | State::Finishing(_) => {
                let (half, finishing) = match (&self.half, self.state) {
                    (Half::Sender(sender), State::Finishing(latest)) => {
                        let played = sender.last_input + self.latency + sender.rtt.smoothed() + PLAYED;
                        let done = if sender.is_empty() { played } else { latest };
                        (sender.next_timeout(now), Some(done.min(latest)))
                    }
                    (Half::Sender(sender), _) => (sender.next_timeout(now), None),
                    (Half::Receiver(receiver), _) => (receiver.next_timeout(now), None),
                };
                let alive = self.sent + KEEP_ALIVE;
                let idle = self.received + self.idle_timeout;
                [half, finishing, delivery, Some(alive), Some(idle)].into_iter().flatten().min()
            }
        };
        if self.respond { Some(now) } else { at }
    }
}

/// Handles a packet for a sender. Returns false if the packet makes no sense for a sender.
fn on_sender(now: Instant, sender: &mut Sender, body: &Body<'_>, stats: &mut Stats) -> bool {
    match body {
        Body::Ack(ack) => sender.on_ack(now, ack),
        Body::Nak(list) => {
            stats.naks += 1;
            sender.on_nak(now, list)
        }
        Body::KmResponse(contents) => {
            sender.on_km_response(contents);
            true
        }
        _ => false,
    }
}
