//! Exchange with `sapflow-srt`, another implementation of SRT, which sends as a caller and receives as a listener.
//!
//! Both are driven with one clock over a network in memory.

#![cfg(test)]
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant as Clock};

use sapflow_srt::crypto::{CryptoConfig, KeySize as TheirSize};
use sapflow_srt::listener::Event as TheirEvent;
use sapflow_srt::{Caller, CallerConfig, CallerEvent, Listener};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;
use strandcast_srt::{Config, ConnectionId, Direction, Endpoint, Event, KeySize, Passphrase};

const PASSPHRASE: &str = "correct horse battery";
const PACKETS: u32 = 1500;
/// Packets with one key, and those before a change at which the next key is announced.
const REFRESH: (u32, u32) = (300, 100);
/// One packet each 2 ms, and the end of a trial.
const EVERY_MS: u64 = 2;
const END_MS: u64 = 12_000;

/// Variant of a connection: key sizes of both ends, changes of keys, and a network with loss.
#[derive(Clone, Copy, Debug, Default)]
struct Variant {
    theirs: Option<TheirSize>,
    ours: Option<KeySize>,
    changes: bool,
    lossy: bool,
}

impl Variant {
    fn latency(self) -> Duration {
        Duration::from_millis(if self.lossy { 500 } else { 120 })
    }

    fn own(self, direction: Direction) -> Config {
        let mut config = Config { latency: self.latency(), ..Config::new(direction) };
        if self.theirs.is_some() {
            config.passphrase = Some(Passphrase::new(PASSPHRASE).unwrap());
            config.key_size = self.ours;
        }
        if self.changes {
            (config.refresh_packets, config.announce_packets) = REFRESH;
        }
        config
    }

    fn their_keys(self) -> Option<CryptoConfig> {
        let mut keys = CryptoConfig::new(PASSPHRASE.into(), self.theirs?).unwrap();
        if self.changes {
            (keys.refresh_packets, keys.preannounce_packets) = REFRESH;
        }
        Some(keys)
    }
}

const CLEAR: Variant = Variant { theirs: None, ours: None, changes: false, lossy: false };
const AES_128: Variant = Variant { theirs: Some(TheirSize::Aes128), ours: Some(KeySize::Aes128), ..CLEAR };
const AES_256: Variant = Variant { theirs: Some(TheirSize::Aes256), ours: Some(KeySize::Aes256), ..CLEAR };
const CHANGES: Variant = Variant { changes: true, ..AES_128 };

/// Datagrams under way, by the time of their arrival.
struct Network {
    lossy: bool,
    random: Random,
    under_way: BTreeMap<(u64, u64), (bool, Vec<u8>)>,
    count: u64,
    /// Keys of first transmissions of data that differ from the key before.
    key_changes: u32,
    key: Option<u8>,
}

impl Network {
    fn new(lossy: bool) -> Network {
        let random = Seeds::new(1, 0).stream("network");
        Network { lossy, random, under_way: BTreeMap::new(), count: 0, key_changes: 0, key: None }
    }

    /// Carries a datagram to the listener or to the caller. Handshakes are not lost.
    fn carry(&mut self, now_ms: u64, to_listener: bool, data: Vec<u8>) {
        if data[0] & 0x80 == 0 && data[4] & 4 == 0 {
            let key = data[4] >> 3 & 3;
            self.key_changes += u32::from(self.key.replace(key).is_some_and(|before| before != key));
        }
        let (loss, delay_ms) = if self.lossy { (0.05, 40) } else { (0.0, 10) };
        let handshake = data.starts_with(&[0x80, 0, 0, 0]);
        if !handshake && self.random.chance(loss) {
            return;
        }
        self.count += 1;
        self.under_way.insert((now_ms + delay_ms, self.count), (to_listener, data));
    }

    /// Takes the next datagram that has arrived.
    fn arrived(&mut self, now_ms: u64) -> Option<(bool, Vec<u8>)> {
        let entry = self.under_way.first_entry().filter(|entry| entry.key().0 <= now_ms)?;
        Some(entry.remove())
    }
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn ends() -> (SocketAddr, SocketAddr) {
    (address("192.0.2.1:5000"), address("192.0.2.2:9000"))
}

fn payload(n: u32) -> Vec<u8> {
    let mut random = Seeds::new(u64::from(n), 0).stream("payload");
    let mut bytes = vec![0; 1316];
    random.fill(&mut bytes);
    bytes
}

/// The payload that is sent at this time, if one is.
fn due(now_ms: u64, began_ms: u64) -> Option<Vec<u8>> {
    let n = (now_ms - began_ms) / EVERY_MS;
    let n = u32::try_from(n).unwrap();
    ((now_ms - began_ms).is_multiple_of(EVERY_MS) && n < PACKETS).then(|| payload(n))
}

fn check(variant: Variant, received: &[Vec<u8>], network: &Network) {
    let sent: Vec<_> = (0..PACKETS).map(payload).collect();
    assert_eq!(received.len(), sent.len(), "{variant:?}");
    assert!(received == sent, "{variant:?}: other bytes");
    let expected = if variant.changes { (PACKETS - 1) / REFRESH.0 } else { 0 };
    assert_eq!(network.key_changes, expected, "{variant:?}");
}

/// Their caller sends, our listener receives.
fn they_send(variant: Variant) {
    let ((from, to), start, mut network) = (ends(), Clock::now(), Network::new(variant.lossy));
    let mut config =
        CallerConfig { latency: variant.latency(), crypto: variant.their_keys(), ..CallerConfig::default() };
    // One packet per millisecond, the step of this clock, would be less than the stream and what is sent again.
    config.send.bandwidth = 12_500_000;
    let mut caller = Caller::new(config, to, start).unwrap();
    let mut listener = Endpoint::listen(variant.own(Direction::Receive), &Seeds::new(2, 0));
    let (mut received, mut began, mut out) = (Vec::new(), None, Vec::new());
    for now_ms in 0..END_MS {
        let (now, clock) = (Instant::from_millis(now_ms), start + Duration::from_millis(now_ms));
        while let Some((to_listener, data)) = network.arrived(now_ms) {
            match to_listener {
                true => listener.handle_datagram(now, from, &data),
                false => caller.handle_datagram(clock, to, &data),
            }
        }
        caller.handle_timeout(clock);
        match caller.poll_event() {
            Some(CallerEvent::Connected { .. }) => began = Some(now_ms),
            Some(CallerEvent::Closed { reason }) => panic!("{variant:?}: {reason:?} at {now_ms} ms"),
            None => {}
        }
        if let Some(payload) = began.and_then(|began| due(now_ms, began)) {
            caller.enqueue(clock, payload).unwrap();
        }
        while let Some((_, data)) = caller.poll_transmit(clock) {
            network.carry(now_ms, true, data);
        }
        while listener.poll_output(now, &mut out).is_some() {
            network.carry(now_ms, false, out.clone());
        }
        while let Some((_, payload)) = listener.poll_media(now) {
            received.push(payload);
        }
        while listener.poll_event().is_some() {}
    }
    check(variant, &received, &network);
}

/// Our caller sends, their listener receives.
fn they_receive(variant: Variant) {
    let ((from, to), start, mut network) = (ends(), Clock::now(), Network::new(variant.lossy));
    let config = sapflow_srt::listener::Config {
        latency: variant.latency(),
        crypto: variant.their_keys(),
        ..Default::default()
    };
    let mut listener = Listener::new(config, start);
    let mut caller = Endpoint::call(Instant::ZERO, variant.own(Direction::Send), to, &Seeds::new(3, 0));
    let (mut received, mut began, mut out) = (Vec::new(), None::<(ConnectionId, u64)>, Vec::new());
    for now_ms in 0..END_MS {
        let (now, clock) = (Instant::from_millis(now_ms), start + Duration::from_millis(now_ms));
        while let Some((to_listener, data)) = network.arrived(now_ms) {
            match to_listener {
                true => listener.handle_datagram(clock, from, &data),
                false => caller.handle_datagram(now, to, &data),
            }
        }
        listener.handle_timeout(clock);
        while let Some(event) = listener.poll_event() {
            match event {
                TheirEvent::Connect { id, .. } => assert!(listener.accept(id, clock), "{variant:?}"),
                TheirEvent::Data { payload, .. } => received.push(payload),
                TheirEvent::Closed { reason, .. } => panic!("{variant:?}: {reason:?} at {now_ms} ms"),
            }
        }
        match caller.poll_event() {
            Some(Event::Connected { id, .. }) => began = Some((id, now_ms)),
            Some(event) => panic!("{variant:?}: {event:?} at {now_ms} ms"),
            None => {}
        }
        let payload = began.and_then(|(id, began_ms)| Some((id, due(now_ms, began_ms)?)));
        if let Some((id, payload)) = payload {
            caller.send(now, id, &payload).unwrap();
        }
        while caller.poll_output(now, &mut out).is_some() {
            network.carry(now_ms, true, out.clone());
        }
        while let Some((_, data)) = listener.poll_transmit() {
            network.carry(now_ms, false, data);
        }
    }
    check(variant, &received, &network);
}

#[test]
fn clear_and_encrypted_media_arrive_in_both_roles() {
    for variant in [CLEAR, AES_128, AES_256] {
        they_send(variant);
        they_receive(variant);
    }
}

#[test]
fn keys_change_in_both_roles() {
    they_send(CHANGES);
    they_receive(CHANGES);
}

/// Our end takes the size of theirs, which refuses each other one.
#[test]
fn an_end_without_a_key_size_takes_the_other_ones() {
    they_send(Variant { ours: None, ..AES_256 });
    they_receive(Variant { ours: None, ..AES_256 });
}

#[test]
fn losses_are_recovered_in_both_roles() {
    for variant in [CLEAR, CHANGES] {
        they_send(Variant { lossy: true, ..variant });
        they_receive(Variant { lossy: true, ..variant });
    }
}
