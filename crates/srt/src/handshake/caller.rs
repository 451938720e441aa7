//! The caller's side of a handshake.

use core::net::SocketAddr;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use crate::config::{Config, Direction, KeySize};
use crate::connection::{Connection, Keys, Setup, timestamp};
use crate::crypto::{ReceiveKeys, SendKeys};
use crate::refusal::Refusal;
use crate::wire::{Extension, Handshake, HsMessage, Kind, KmState, MAGIC, Packet, Writer, address_field};

/// Interval at which a caller repeats its request.
const REPEAT: Duration = Duration::from_millis(250);
/// Maximum size of an IP packet.
pub(super) const MTU: u32 = 1500;
/// Value of the extension field of an induction request.
const DATAGRAM: u16 = 2;

/// Outcome of a packet that arrived during the handshake.
pub(crate) enum Answer {
    None,
    Connected(Box<Connection>, Option<KeySize>, Duration),
    Failed(Refusal),
}

enum Step {
    Induction,
    Conclusion {
        contents: Vec<u8>,
        keys: Option<SendKeys>,
        /// Destination socket ids of the next request and of the request after it.
        to: [u32; 2],
    },
}

/// State of a handshake that a caller began.
pub(crate) struct Caller {
    peer: SocketAddr,
    id: u32,
    first_seq: u32,
    began: Instant,
    deadline: Instant,
    repeat_at: Instant,
    step: Step,
    random: Random,
}

impl Caller {
    pub fn new(now: Instant, config: &Config, peer: SocketAddr, mut random: Random) -> Caller {
        let first_seq = config.first_number.unwrap_or_else(|| random.u32()) & 0x7fff_ffff;
        Caller {
            peer,
            id: random_id(&mut random),
            first_seq,
            began: now,
            deadline: now + config.connect_timeout,
            repeat_at: now,
            step: Step::Induction,
            random,
        }
    }

    pub fn id(&self) -> u32 {
        self.id
    }

    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Returns true if no answer arrived in time.
    pub fn has_failed(&self, now: Instant) -> bool {
        now >= self.deadline
    }

    pub fn next_timeout(&self) -> Instant {
        self.repeat_at.min(self.deadline)
    }

    fn request(&self, config: &Config) -> Handshake {
        Handshake {
            version: 4,
            encryption: 0,
            extension: DATAGRAM,
            first_seq: self.first_seq,
            mtu: MTU,
            window: config.capacity() as u32,
            kind: Kind::Induction,
            id: self.id,
            cookie: 0,
            address: address_field(self.peer.ip()),
        }
    }

    /// Writes the request that must be sent now.
    pub fn poll_output(&mut self, now: Instant, config: &Config, out: &mut Vec<u8>) -> bool {
        if now < self.repeat_at {
            return false;
        }
        self.repeat_at = now + REPEAT;
        let mut writer = Writer { out, timestamp: timestamp(now, self.began), to: 0 };
        if let Step::Conclusion { to, .. } = &mut self.step {
            writer.to = to[0];
            to.reverse();
        }
        writer.handshake();
        match &self.step {
            Step::Induction => self.request(config).write(out, &[]),
            Step::Conclusion { contents, .. } => out.extend_from_slice(contents),
        }
        true
    }

    /// Handles a handshake packet from the peer.
    pub fn handle(&mut self, now: Instant, config: &Config, packet: &Packet<'_>, contents: &[u8]) -> Answer {
        let Some((handshake, extensions)) = Handshake::read(contents) else { return Answer::None };
        match (&self.step, handshake.kind) {
            (_, Kind::Refused(code)) => Answer::Failed(Refusal::from_code(code)),
            (Step::Induction, Kind::Induction) => {
                if handshake.version != 5 {
                    return Answer::Failed(Refusal::VERSION);
                }
                if handshake.extension != MAGIC {
                    return Answer::Failed(Refusal::ROGUE);
                }
                self.conclude(now, config, &handshake);
                Answer::None
            }
            (Step::Conclusion { .. }, Kind::Conclusion) if handshake.version == 5 => {
                let extensions: Vec<_> = extensions.collect();
                match self.connect(now, config, packet.timestamp, &handshake, &extensions) {
                    Ok((connection, size, latency)) => Answer::Connected(Box::new(connection), size, latency),
                    Err(refusal) => Answer::Failed(refusal),
                }
            }
            _ => Answer::None,
        }
    }

    /// Prepares the second request, the conclusion.
    fn conclude(&mut self, now: Instant, config: &Config, response: &Handshake) {
        let advertised = KeySize::from_field(response.encryption);
        // The sender of the media chooses, if it says anything.
        let size = match config.direction {
            Direction::Send => config.key_size.or(advertised),
            Direction::Receive => advertised.or(config.key_size),
        };
        let size = size.unwrap_or(KeySize::Aes128);
        let keys =
            config.passphrase.as_ref().map(|p| SendKeys::generate(&p.derivation(), size, &mut self.random));
        let material = keys.as_ref().map(|keys| keys.material().to_bytes());
        let mut extensions = vec![Extension::HsRequest(HsMessage::live(config.latency_ms()))];
        extensions.extend(config.stream_id.clone().map(Extension::StreamId));
        extensions.extend(material.as_deref().map(Extension::KmRequest));
        let request = Handshake {
            version: 5,
            encryption: keys.as_ref().map_or(0, |keys| keys.size().field()),
            kind: Kind::Conclusion,
            cookie: response.cookie,
            ..self.request(config)
        };
        let mut contents = Vec::new();
        request.write(&mut contents, &extensions);
        // The draft has the id of the answer as the destination. Listeners of libsrt take 0 alone, and repeat the caller's
        // id in the answer.
        let to = [0, if response.id == self.id { 0 } else { response.id }];
        self.step = Step::Conclusion { contents, keys, to };
        self.repeat_at = now;
    }

    fn connect(
        &mut self,
        now: Instant,
        config: &Config,
        timestamp: u32,
        response: &Handshake,
        extensions: &[Extension<'_>],
    ) -> Result<(Connection, Option<KeySize>, Duration), Refusal> {
        let message = extensions.iter().find_map(|e| match e {
            Extension::HsResponse(message) => Some(*message),
            _ => None,
        });
        let message = message.ok_or(Refusal::ROGUE)?;
        let Step::Conclusion { keys, .. } = &mut self.step else { return Err(Refusal::ROGUE) };
        let material = keys.as_ref().map(|keys| keys.material());
        let answer = extensions.iter().find_map(|e| match e {
            Extension::KmResponse(contents) => Some(*contents),
            _ => None,
        });
        check_answer(answer, material.as_ref().map(|m| m.to_bytes()).as_deref())?;
        let size = keys.as_ref().map(SendKeys::size);
        let (theirs, keys) = match (config.direction, keys.take(), material) {
            (Direction::Send, Some(keys), _) => (message.receive_delay, Keys::Send(keys)),
            (Direction::Receive, Some(keys), Some(material)) => {
                let own = ReceiveKeys::open(keys.kek(), &material).map_err(|_| Refusal::CRYPTO)?;
                (message.send_delay, Keys::Receive(own))
            }
            (Direction::Send, None, _) => (message.receive_delay, Keys::None),
            (Direction::Receive, _, _) => (message.send_delay, Keys::None),
        };
        let latency = Duration::from_millis(u64::from(theirs.max(config.latency_ms())));
        let setup = Setup {
            config,
            peer: self.peer,
            peer_id: response.id,
            origin: self.began,
            timestamp,
            first_seq: if config.direction == Direction::Send { self.first_seq } else { response.first_seq },
            window: response.window,
            latency,
            keys,
            random: self.random.clone(),
            response: None,
        };
        Ok((Connection::new(now, setup), size, latency))
    }
}

/// Compares the peer's answer to key material with that material.
fn check_answer(answer: Option<&[u8]>, material: Option<&[u8]>) -> Result<(), Refusal> {
    match (answer, material) {
        (None, None) => Ok(()),
        (Some(answer), Some(material)) if answer == material => Ok(()),
        (Some(state), Some(_)) if state.len() == 4 => {
            let state = u32::from_be_bytes([state[0], state[1], state[2], state[3]]);
            Err(if state == KmState::BadSecret.code() {
                Refusal::BAD_SECRET
            } else if state == KmState::BadMode.code() {
                Refusal::CRYPTO
            } else {
                Refusal::UNSECURE
            })
        }
        (Some(_), Some(_)) => Err(Refusal::ROGUE),
        _ => Err(Refusal::UNSECURE),
    }
}

/// Returns a random id of a socket. The id is neither 0 nor negative.
pub(super) fn random_id(random: &mut Random) -> u32 {
    random.u32() & 0x3fff_ffff | 0x2000_0000
}
