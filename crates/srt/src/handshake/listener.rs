//! The listener's side of a handshake.

use core::net::SocketAddr;
use std::collections::VecDeque;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};

use super::budget::Budget;
use super::caller::{MTU, random_id};
use super::cookie::Cookies;
use crate::config::{Config, Direction, KeySize};
use crate::connection::{Connection, Keys, Setup};
use crate::crypto::{Kek, OpenError, ReceiveKeys, SendKeys};
use crate::refusal::Refusal;
use crate::wire::{
    Extension, Extensions, Handshake, HsMessage, KeyMaterial, Kind, KmState, MAGIC, Packet, SALT, Writer,
    flag,
};

/// Oldest protocol version that has this handshake: 1.3.0.
const OLDEST: u32 = 0x0001_0300;
/// Number of recorded salts of accepted callers. Each caller draws its own salt.
const SALTS: usize = 4096;
/// Name of the congestion control in live mode.
const LIVE: &str = "live";

/// Contents of a conclusion request.
#[derive(Default)]
struct Request {
    message: Option<HsMessage>,
    material: Option<Vec<u8>>,
    stream_id: Option<String>,
}

/// State for a caller that the listener accepted.
pub(crate) struct Accepted {
    pub connection: Connection,
    pub id: u32,
    pub stream_id: Option<String>,
    pub key_size: Option<KeySize>,
    pub latency: Duration,
}

/// Decision about a conclusion request.
pub(crate) enum Decision {
    Accepted(Box<Accepted>),
    Refused(Refusal, Vec<u8>),
    BadCookie,
    OverBudget,
}

/// State of a listener. The state of a listener does not grow with the number of callers.
pub(crate) struct Listener {
    id: u32,
    cookies: Cookies,
    budget: Budget,
    /// Salts of the callers that were accepted most recently.
    salts: VecDeque<[u8; SALT]>,
    random: Random,
    /// Seeds for the connections; `accepted` is the number of connections.
    seeds: Seeds,
    accepted: u64,
}

impl Listener {
    pub fn new(seeds: &Seeds) -> Listener {
        let mut random = seeds.stream("listener");
        let (cookies, budget) = (Cookies::new(&mut random), Budget::new(&mut random));
        let id = random_id(&mut random);
        let seeds = seeds.child("connections");
        Listener { id, cookies, budget, salts: VecDeque::new(), random, seeds, accepted: 0 }
    }

    /// Returns true if a request for the socket id `to` is for the listener. Programs that use libsrt send all requests
    /// to id 0. By the draft, a conclusion goes to the id in the preceding answer.
    pub fn is_addressed(&self, to: u32) -> bool {
        to == 0 || to == self.id
    }

    /// Answers an induction request.
    pub fn induct(&self, now: Instant, config: &Config, from: SocketAddr, request: &Handshake) -> Vec<u8> {
        let response = Handshake {
            version: 5,
            encryption: config.key_size.filter(|_| config.passphrase.is_some()).map_or(0, KeySize::field),
            extension: MAGIC,
            id: self.id,
            cookie: self.cookies.make(now, from, request.id),
            mtu: MTU,
            window: config.capacity() as u32,
            ..request.clone()
        };
        answer(&response, request.id, &[])
    }

    /// Returns true if a conclusion request has the cookie that its sender was given.
    pub fn knows(&self, now: Instant, from: SocketAddr, request: &Handshake) -> bool {
        self.cookies.accepts(now, from, request.id, request.cookie)
    }

    /// Decides about a conclusion request. `room` is true if another connection is possible.
    pub fn conclude(
        &mut self,
        now: Instant,
        config: &Config,
        from: SocketAddr,
        packet: &Packet<'_>,
        contents: &[u8],
        room: bool,
    ) -> Decision {
        let Some((handshake, extensions)) = Handshake::read(contents) else { return Decision::BadCookie };
        if !self.knows(now, from, &handshake) {
            return Decision::BadCookie;
        }
        let decided = read_request(&handshake, extensions, config)
            .and_then(|request| if room { Ok(request) } else { Err(Refusal::BACKLOG) });
        let decided = match decided {
            Ok(request) => self.accept(now, config, from, packet, &handshake, request),
            Err(refusal) => Err(Some(refusal)),
        };
        match decided {
            Ok(accepted) => Decision::Accepted(Box::new(accepted)),
            Err(Some(refusal)) => {
                let kind = Kind::Refused(refusal.code());
                let response = Handshake { kind, extension: 0, encryption: 0, ..handshake.clone() };
                Decision::Refused(refusal, answer(&response, handshake.id, &[]))
            }
            Err(None) => Decision::OverBudget,
        }
    }

    /// Unwraps the keys and creates the connection. `Err(None)` means that the budget of derivations is used up.
    fn accept(
        &mut self,
        now: Instant,
        config: &Config,
        from: SocketAddr,
        packet: &Packet<'_>,
        handshake: &Handshake,
        request: Request,
    ) -> Result<Accepted, Option<Refusal>> {
        let message = request.message.ok_or(Some(Refusal::ROGUE))?;
        let keys = match (&config.passphrase, &request.material) {
            (None, None) => Keys::None,
            (Some(_), Some(material)) => self.open(now, config, from, material)?,
            _ => return Err(Some(Refusal::UNSECURE)),
        };
        let key_size = match &keys {
            Keys::None => None,
            Keys::Send(keys) => Some(keys.size()),
            Keys::Receive(keys) => Some(keys.size()),
        };
        let theirs = match config.direction {
            Direction::Send => message.receive_delay,
            Direction::Receive => message.send_delay,
        };
        let latency_ms = theirs.max(config.latency_ms());
        let id = random_id(&mut self.random);
        let mut extensions = vec![Extension::HsResponse(HsMessage::live(latency_ms))];
        extensions.extend(request.material.as_deref().map(Extension::KmResponse));
        let response = Handshake {
            id,
            mtu: MTU,
            window: config.capacity() as u32,
            encryption: key_size.map_or(0, KeySize::field),
            ..handshake.clone()
        };
        let mut contents = Vec::new();
        response.write(&mut contents, &extensions);
        let latency = Duration::from_millis(u64::from(latency_ms));
        self.accepted += 1;
        let setup = Setup {
            config,
            peer: from,
            peer_id: handshake.id,
            origin: now,
            timestamp: packet.timestamp,
            // Both directions count from the caller's number.
            first_seq: handshake.first_seq,
            window: handshake.window,
            latency,
            keys,
            random: self.seeds.stream(&self.accepted.to_string()),
            response: Some(contents),
        };
        let connection = Connection::new(now, setup);
        Ok(Accepted { connection, id, stream_id: request.stream_id, key_size, latency })
    }

    fn remember(&mut self, salt: [u8; SALT]) {
        if self.salts.len() == SALTS {
            self.salts.pop_front();
        }
        self.salts.push_back(salt);
    }

    /// Unwraps key material, if the budget of derivations permits.
    fn open(
        &mut self,
        now: Instant,
        config: &Config,
        from: SocketAddr,
        material: &[u8],
    ) -> Result<Keys, Option<Refusal>> {
        let passphrase = config.passphrase.as_ref().ok_or(Some(Refusal::UNSECURE))?;
        let material = KeyMaterial::read(material).map_err(|state| match state {
            Some(_) => Some(Refusal::CRYPTO),
            None => Some(Refusal::ROGUE),
        })?;
        if self.salts.contains(&material.salt) {
            // A recorded handshake: who repeats it need not know the passphrase.
            return Err(Some(Refusal::ROGUE));
        }
        if !self.budget.admit(now, from.ip()) {
            return Err(None);
        }
        let kek = Kek::derive(&passphrase.derivation(), material.salt, material.key_len);
        let opened = match config.direction {
            Direction::Send => SendKeys::from_peer(kek, &material).map(Keys::Send),
            Direction::Receive => ReceiveKeys::open(kek, &material).map(Keys::Receive),
        };
        match opened {
            Ok(_) => {
                self.remember(material.salt);
                self.budget.succeed(from.ip());
            }
            Err(_) => self.budget.fail(now, from.ip()),
        }
        opened.map_err(|error| {
            Some(match error {
                OpenError::State(KmState::BadSecret) => Refusal::BAD_SECRET,
                OpenError::State(_) => Refusal::CRYPTO,
                OpenError::Malformed => Refusal::ROGUE,
            })
        })
    }
}

/// Returns a handshake packet for a caller.
fn answer(response: &Handshake, to: u32, extensions: &[Extension<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    Writer { out: &mut out, timestamp: 0, to }.handshake();
    response.write(&mut out, extensions);
    out
}

/// Reads a conclusion request. Refuses features that live mode does not have.
fn read_request(
    handshake: &Handshake,
    mut extensions: Extensions<'_>,
    config: &Config,
) -> Result<Request, Refusal> {
    if handshake.version != 5 {
        return Err(Refusal::VERSION);
    }
    let mut request = Request::default();
    for extension in extensions.by_ref() {
        match extension {
            Extension::HsRequest(message) => request.message = Some(message),
            Extension::KmRequest(contents) => request.material = Some(contents.to_vec()),
            Extension::StreamId(id) => request.stream_id = Some(id),
            Extension::Congestion(name) if name != LIVE => return Err(Refusal::CONGESTION),
            Extension::Filter => return Err(Refusal::FILTER),
            Extension::Group => return Err(Refusal::GROUP),
            _ => {}
        }
    }
    if !extensions.is_whole() {
        return Err(Refusal::ROGUE);
    }
    let message = request.message.ok_or(Refusal::ROGUE)?;
    if message.version < OLDEST {
        return Err(Refusal::VERSION);
    }
    if message.flags & flag::STREAM != 0 {
        return Err(Refusal::MESSAGE_API);
    }
    if config.stream_id.is_some() && config.stream_id != request.stream_id {
        return Err(Refusal::NOT_FOUND);
    }
    Ok(request)
}
