//! Two endpoints and a network between them; packets by hand.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;
use strandcast_srt::{Config, ConnectionId, Direction, Endpoint, Event, Passphrase, Stats};

pub const CALLER: &str = "192.0.2.1:5000";
pub const LISTENER: &str = "192.0.2.2:9000";
pub const PASSPHRASE: &str = "correct horse battery";

pub fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

pub fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

pub fn encrypted(direction: Direction) -> Config {
    Config { passphrase: Some(Passphrase::new(PASSPHRASE).unwrap()), ..Config::new(direction) }
}

/// The words of the draft's handshake: version to cookie.
#[derive(Clone, Copy)]
pub struct Hs {
    pub version: u32,
    pub encryption: u16,
    pub extension: u16,
    pub seq: u32,
    pub kind: u32,
    pub id: u32,
    pub cookie: u32,
}

pub const INDUCTION: u32 = 1;
pub const CONCLUSION: u32 = 0xffff_ffff;

impl Hs {
    pub fn induction(id: u32) -> Hs {
        Hs { version: 4, encryption: 0, extension: 2, seq: 100, kind: INDUCTION, id, cookie: 0 }
    }

    pub fn conclusion(id: u32, cookie: u32) -> Hs {
        Hs { version: 5, encryption: 0, extension: 1, seq: 100, kind: CONCLUSION, id, cookie }
    }

    /// A packet for socket `to`, with extensions: type and contents.
    pub fn packet(&self, to: u32, timestamp: u32, extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let field = u32::from(self.encryption) << 16 | u32::from(self.extension);
        let words = [
            0x8000_0000,
            0,
            timestamp,
            to,
            self.version,
            field,
            self.seq,
            1500,
            8192,
            self.kind,
            self.id,
            self.cookie,
        ];
        let mut out = words.map(u32::to_be_bytes).concat();
        out.extend_from_slice(&[0; 16]);
        for (kind, contents) in extensions {
            out.extend_from_slice(&kind.to_be_bytes());
            out.extend_from_slice(&((contents.len() / 4) as u16).to_be_bytes());
            out.extend_from_slice(contents);
        }
        out
    }
}

/// HSREQ or HSRSP: version 1.5.1, flags of live mode, both delays.
pub fn hs_message(flags: u32, receive_ms: u32, send_ms: u32) -> Vec<u8> {
    [0x0001_0501, flags, receive_ms << 16 | send_ms].map(u32::to_be_bytes).concat()
}

pub const LIVE: u32 = 0xbf;

/// The `n`th word of a packet.
pub fn word(data: &[u8], n: usize) -> u32 {
    u32::from_be_bytes(data[4 * n..4 * n + 4].try_into().unwrap())
}

/// A data packet that is a whole message.
pub fn data_packet(seq: u32, flags: u32, timestamp: u32, to: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = [seq, 0xc000_0000 | flags, timestamp, to].map(u32::to_be_bytes).concat();
    out.extend_from_slice(payload);
    out
}

/// A control packet.
pub fn control(kind: u32, info: u32, timestamp: u32, to: u32, contents: &[u8]) -> Vec<u8> {
    let mut out = [0x8000_0000 | kind, info, timestamp, to].map(u32::to_be_bytes).concat();
    out.extend_from_slice(contents);
    out
}

/// All that an endpoint has to send now.
pub fn outputs(end: &mut Endpoint, now: Instant) -> Vec<Vec<u8>> {
    let (mut out, mut buf) = (Vec::new(), Vec::new());
    while end.poll_output(now, &mut buf).is_some() {
        out.push(buf.clone());
    }
    out
}

/// Behaviour of the network in one direction.
#[derive(Clone, Copy)]
pub struct Path {
    pub delay_ms: u64,
    /// Largest additional delay, which reorders.
    pub jitter_ms: u64,
    pub loss: f64,
    pub duplicates: f64,
    /// Milliseconds without any delivery: first and last.
    pub outage: (u64, u64),
}

pub const IDEAL: Path = Path { delay_ms: 10, jitter_ms: 0, loss: 0.0, duplicates: 0.0, outage: (1, 0) };

/// A caller, a listener and their network. End 0 calls.
pub struct Net {
    pub now_ms: u64,
    pub ends: [Endpoint; 2],
    pub path: Path,
    pub connected: [Option<ConnectionId>; 2],
    pub events: [Vec<Event>; 2],
    /// Socket ids of the ends, as the network sees them.
    pub ids: [u32; 2],
    /// Time and payload.
    pub played: Vec<(u64, Vec<u8>)>,
    /// Data packets that the network lost, and those it had to carry.
    pub lost: u64,
    pub carried: u64,
    /// Data packets as somebody on the path sees them.
    pub seen: Vec<Vec<u8>>,
    under_way: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    count: u64,
    random: Random,
}

impl Net {
    pub fn new(caller: Config, listener: Config, path: Path, seed: u64) -> Net {
        let seeds = Seeds::new(seed, 0);
        let ends = [
            Endpoint::call(Instant::ZERO, caller, address(LISTENER), &seeds.child("caller")),
            Endpoint::listen(listener, &seeds.child("listener")),
        ];
        Net {
            now_ms: 0,
            ends,
            path,
            connected: [None; 2],
            events: Default::default(),
            ids: [0; 2],
            played: Vec::new(),
            lost: 0,
            carried: 0,
            seen: Vec::new(),
            under_way: BTreeMap::new(),
            count: 0,
            random: seeds.stream("network"),
        }
    }

    /// One millisecond.
    pub fn step(&mut self) {
        let addresses = [address(CALLER), address(LISTENER)];
        let now = at(self.now_ms);
        while let Some(entry) = self.under_way.first_entry().filter(|e| e.key().0 <= self.now_ms) {
            let (from, data) = entry.remove();
            self.ends[1 - from].handle_datagram(now, addresses[from], &data);
        }
        for end in 0..2 {
            for data in outputs(&mut self.ends[end], now) {
                self.carry(end, data);
            }
            while let Some((_, payload)) = self.ends[end].poll_media(now) {
                self.played.push((self.now_ms, payload));
            }
            while let Some(event) = self.ends[end].poll_event() {
                if let Event::Connected { id, .. } = event {
                    self.connected[end] = Some(id);
                }
                self.events[end].push(event);
            }
        }
        self.now_ms += 1;
    }

    fn carry(&mut self, from: usize, data: Vec<u8>) {
        let is_data = data[0] & 0x80 == 0;
        if word(&data, 0) == 0x8000_0000 {
            self.ids[from] = word(&data, 10);
        }
        if is_data {
            self.carried += 1;
            self.seen.push(data.clone());
        }
        let out = (self.path.outage.0..=self.path.outage.1).contains(&self.now_ms);
        if out || self.random.chance(self.path.loss) {
            self.lost += u64::from(is_data);
            return;
        }
        let copies = 1 + u64::from(self.random.chance(self.path.duplicates));
        for _ in 0..copies {
            let jitter = self.random.below(self.path.jitter_ms + 1);
            self.count += 1;
            let key = (self.now_ms + self.path.delay_ms + jitter, self.count);
            self.under_way.insert(key, (from, data.clone()));
        }
    }

    pub fn run(&mut self, ms: u64) {
        (0..ms).for_each(|_| self.step());
    }

    /// Runs until both ends are connected.
    pub fn connect(&mut self) {
        for _ in 0..3000 {
            if self.connected.iter().all(Option::is_some) {
                return;
            }
            self.step();
        }
        panic!("not connected: {:?}", self.events);
    }

    /// Sends `count` payloads from `end`, one each `every_ms`. Returns them with their times.
    pub fn stream(&mut self, end: usize, count: usize, every_ms: u64) -> Vec<(u64, Vec<u8>)> {
        let id = self.connected[end].expect("connected");
        let mut sent = Vec::new();
        for n in 0..count {
            let payload = payload(n);
            self.ends[end].send(at(self.now_ms), id, &payload).expect("room");
            sent.push((self.now_ms, payload));
            self.run(every_ms);
        }
        sent
    }

    pub fn stats(&self, end: usize) -> Stats {
        self.ends[end].stats(self.connected[end].expect("connected")).expect("open")
    }

    pub fn played(&self) -> Vec<Vec<u8>> {
        self.played.iter().map(|(_, payload)| payload.clone()).collect()
    }
}

/// Payload number `n`, of a length of its own.
pub fn payload(n: usize) -> Vec<u8> {
    let mut bytes = (n as u32).to_be_bytes().to_vec();
    bytes.resize(188 + n % 7 * 188, n as u8);
    bytes
}

/// Payloads without their times.
pub fn payloads(sent: &[(u64, Vec<u8>)]) -> Vec<Vec<u8>> {
    sent.iter().map(|(_, payload)| payload.clone()).collect()
}

/// A listener with a caller that the test plays by hand.
pub struct Scripted {
    pub listener: Endpoint,
    pub id: ConnectionId,
    /// Socket id of the listener's connection.
    pub to: u32,
}

pub const CALLER_ID: u32 = 77;

/// The cookie that a listener gives a caller.
pub fn cookie(listener: &mut Endpoint, now: Instant, from: &str, id: u32) -> u32 {
    listener.handle_datagram(now, address(from), &Hs::induction(id).packet(0, 0, &[]));
    let response = handshakes(listener, now).pop().expect("an answer");
    word(&response, 11)
}

/// Asks for a connection. Returns the answers.
pub fn conclude(
    listener: &mut Endpoint,
    now: Instant,
    from: &str,
    hs: Hs,
    extensions: &[(u16, Vec<u8>)],
) -> Vec<Vec<u8>> {
    let cookie = cookie(listener, now, from, hs.id);
    listener.handle_datagram(now, address(from), &Hs { cookie, ..hs }.packet(0, 0, extensions));
    handshakes(listener, now)
}

/// Handshakes that an endpoint has to send now.
fn handshakes(end: &mut Endpoint, now: Instant) -> Vec<Vec<u8>> {
    let mut all = outputs(end, now);
    all.retain(|packet| word(packet, 0) == 0x8000_0000);
    all
}

impl Scripted {
    pub fn connect(config: Config, extensions: &[(u16, Vec<u8>)]) -> Scripted {
        let mut listener = Endpoint::listen(config, &Seeds::new(1, 0));
        let mut all = vec![(1, hs_message(LIVE, 120, 120))];
        all.extend_from_slice(extensions);
        let hs = Hs { extension: 7, ..Hs::conclusion(CALLER_ID, 0) };
        let answers = conclude(&mut listener, Instant::ZERO, CALLER, hs, &all);
        let id = match listener.poll_event() {
            Some(Event::Connected { id, .. }) => id,
            other => panic!("{other:?}"),
        };
        Scripted { listener, id, to: word(&answers[0], 10) }
    }

    pub fn handle(&mut self, ms: u64, data: &[u8]) {
        self.listener.handle_datagram(at(ms), address(CALLER), data);
    }

    /// All outputs until `ms`, with the time of each.
    pub fn until(&mut self, from_ms: u64, ms: u64) -> Vec<(u64, Vec<u8>)> {
        let mut out = Vec::new();
        for now in from_ms..=ms {
            out.extend(outputs(&mut self.listener, at(now)).into_iter().map(|data| (now, data)));
        }
        out
    }

    pub fn played(&mut self, ms: u64) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        while let Some((_, payload)) = self.listener.poll_media(at(ms)) {
            out.push(payload);
        }
        out
    }
}

pub const SECOND: Duration = Duration::from_secs(1);
