//! Datagrams between two ends that completed a handshake, for fuzzing. An attacker records all datagrams, and sends
//! datagrams of its own.

use std::collections::{BTreeSet, VecDeque};

use strandcast_proto::time::{Duration, Instant};

use super::bounded;
use crate::aead::Cipher;
use crate::keys::{Discard, Keys, PATHS, RECEIVING};
use crate::testing;

/// Number of recorded datagrams that the attacker keeps.
const RECORDED: usize = 64;
/// Bytes that a sealed datagram has in addition to its packet.
const AROUND: usize = 13 + 16;
/// Work that any datagram may cause, regardless of its length. This work covers the derivation of keys for six
/// generations.
const KEYS: u64 = 6 << 10;

/// The input of the fuzzer is a script of steps. A step has four bytes: one for the action, and three for parameters.
/// An action seals a datagram or delivers a recorded datagram. A recorded datagram may be delivered unchanged, twice,
/// late, changed, shortened, to the wrong end, or on the wrong path. Packet numbers and time may advance by large
/// steps. An end may accept a datagram only if its peer sealed it and it was not changed. The datagram must also arrive
/// on its own path and for the first time, and its number must be recent. Any other datagram must have no effect. The
/// work for a datagram is at most proportional to its bytes, plus the derivation of a few keys.
pub fn envelope(data: &[u8]) {
    let Some((&choice, steps)) = data.split_first() else { return };
    let mut run = Run::new(if choice & 1 == 0 { Cipher::Aes128Gcm } else { Cipher::ChaCha20Poly1305 });
    for step in steps.chunks_exact(4) {
        let [what, a, b, c] = [step[0], step[1], step[2], step[3]];
        match what % 8 {
            0 | 1 => run.seal(usize::from(what >> 3 & 1), a, usize::from(b)),
            2 | 3 => run.hand_over(a),
            4 => run.hand_over_changed(a, b, c),
            5 => run.hand_over_elsewhere(a, b, c & 1 == 1),
            6 => run.go_on(usize::from(b & 1), a, usize::from(b >> 1), c),
            _ => run.now += Duration::from_secs(u64::from(a)),
        }
    }
    for end in &run.keys {
        assert!(!end.renewal_due(), "a new handshake for next to nothing");
    }
}

/// A sealed datagram.
struct Sealed {
    /// Index of the end that sealed the datagram.
    from: usize,
    path: u8,
    number: u64,
    packet: Vec<u8>,
    datagram: Vec<u8>,
}

/// Record of the datagrams that an end must have accepted on one path.
#[derive(Clone, Default)]
struct Taken {
    highest: Option<u64>,
    numbers: BTreeSet<u64>,
    /// Position of the last accepted datagram of this path among all datagrams that the end accepted. The position is 0
    /// while the path has no keys.
    last: u64,
    /// Highest packet number that the end had accepted on the path when the end last discarded the path's keys.
    rested: Option<u64>,
}

impl Taken {
    /// Returns the result that the end must return for a genuine datagram with this number.
    fn expects(&self, number: u64) -> Result<(), Discard> {
        if self.rested.is_some_and(|rested| number <= rested) {
            return Err(Discard::Replayed);
        }
        let (current, generation) = (self.highest.unwrap_or(0) >> 22, number >> 22);
        if generation + 1 < current || generation > current + 4 {
            return Err(Discard::Generation);
        }
        let highest_there = self.numbers.range((generation << 22)..(generation + 1) << 22).next_back();
        let old = highest_there.is_some_and(|&highest| number + 4096 <= highest);
        if old || self.numbers.contains(&number) { Err(Discard::Replayed) } else { Ok(()) }
    }
}

/// Counts a datagram that an end accepted on a path. An end has keys for a limited number of paths. If more are used,
/// the end discards the keys of the path that was used least recently.
fn opened_on(taken: &mut [Taken], path: usize) {
    let last = taken.iter().map(|taken| taken.last).max().unwrap_or(0) + 1;
    let woke = core::mem::replace(&mut taken[path].last, last) == 0;
    let used = taken.iter_mut().filter(|taken| taken.last > 0);
    let (count, oldest) = used.fold((0, None::<&mut Taken>), |(count, oldest), taken| {
        let older = oldest.as_ref().is_none_or(|oldest| taken.last < oldest.last);
        (count + 1, if older { Some(taken) } else { oldest })
    });
    if let Some(oldest) = oldest.filter(|_| woke && count > RECEIVING) {
        (oldest.last, oldest.rested) = (0, oldest.highest);
    }
}

struct Run {
    keys: [Keys; 2],
    taken: [Vec<Taken>; 2],
    recorded: VecDeque<Sealed>,
    now: Instant,
}

impl Run {
    fn new(cipher: Cipher) -> Self {
        let taken = vec![Taken::default(); PATHS.into()];
        Run {
            keys: testing::keys(cipher),
            taken: [taken.clone(), taken],
            recorded: VecDeque::new(),
            now: Instant::ZERO,
        }
    }

    fn seal(&mut self, from: usize, path: u8, length: usize) {
        let packet: Vec<u8> = (0..length).map(|at| at as u8 ^ path).collect();
        let mut datagram = [&[0; 13], &packet[..], &[0; 16]].concat();
        let Some(number) = self.keys[from].seal(self.now, path, &mut datagram) else {
            assert!(path >= PATHS || length < 3, "a packet on a path");
            return;
        };
        assert_eq!(datagram.len(), length + AROUND);
        let id = self.keys[1 - from].connection_id(path);
        assert_eq!(id.map(|id| id.0), datagram[1..9].try_into().ok());
        let before = self.recorded.iter().rfind(|sealed| (sealed.from, sealed.path) == (from, path));
        assert!(before.is_none_or(|before| before.number < number.full()), "numbers grow");
        if self.recorded.len() == RECORDED {
            self.recorded.pop_front();
        }
        self.recorded.push_back(Sealed { from, path, number: number.full(), packet, datagram });
    }

    fn hand_over(&mut self, which: u8) {
        let Some(sealed) = self.recorded.get(usize::from(which) % self.recorded.len().max(1)) else { return };
        let (to, taken) = (1 - sealed.from, &mut self.taken[1 - sealed.from][usize::from(sealed.path)]);
        let expected = taken.expects(sealed.number);
        let mut datagram = sealed.datagram.clone();
        let opened = bounded(datagram.len(), KEYS, || self.keys[to].open(sealed.path, &mut datagram));
        assert_eq!(opened.map(|number| assert_eq!(number.full(), sealed.number)), expected);
        if opened.is_ok() {
            assert_eq!(datagram[13..datagram.len() - 16], sealed.packet);
            taken.highest = taken.highest.max(Some(sealed.number));
            taken.numbers.insert(sealed.number);
            opened_on(&mut self.taken[to], sealed.path.into());
        }
        let highest = self.keys[to].highest(sealed.path).map(|number| number.full());
        assert_eq!(highest, self.taken[to][usize::from(sealed.path)].highest);
    }

    /// Delivers a datagram of which a byte was changed, or that was shortened or extended.
    fn hand_over_changed(&mut self, which: u8, at: u8, change: u8) {
        let Some(sealed) = self.recorded.get(usize::from(which) % self.recorded.len().max(1)) else { return };
        let (to, path, mut datagram) = (1 - sealed.from, sealed.path, sealed.datagram.clone());
        let at = usize::from(at) % datagram.len();
        match change {
            0 => datagram.truncate(at),
            255 => datagram.extend_from_slice(&sealed.datagram[at..]),
            _ => datagram[at] ^= change,
        }
        self.refuse(to, path, &mut datagram);
    }

    /// Delivers a datagram on another path, or to its own sender.
    fn hand_over_elsewhere(&mut self, which: u8, path: u8, back: bool) {
        let Some(sealed) = self.recorded.get(usize::from(which) % self.recorded.len().max(1)) else { return };
        if !back && path == sealed.path {
            return;
        }
        let (to, mut datagram) = (if back { sealed.from } else { 1 - sealed.from }, sealed.datagram.clone());
        self.refuse(to, path, &mut datagram);
    }

    fn refuse(&mut self, to: usize, path: u8, datagram: &mut [u8]) {
        let keys = &mut self.keys[to];
        let (before, forged) = (keys.highest(path), keys.forged());
        let opened = bounded(datagram.len(), KEYS, || keys.open(path, datagram));
        let why = opened.expect_err("not sealed for this");
        assert_eq!(keys.highest(path), before);
        assert_eq!(keys.forged() - forged, u64::from(why == Discard::Forged));
    }

    /// Advances the next packet number of an end on a path. The packet number advances at most to 4 generations after
    /// the last number that the peer accepted.
    fn go_on(&mut self, from: usize, path: u8, generations: usize, by: u8) {
        let path = path % PATHS;
        let taken = self.taken[1 - from][usize::from(path)].highest.unwrap_or(0) >> 22;
        let most = (taken + 5) << 22;
        let on = ((generations as u64 % 6) << 22) + u64::from(by) * 67;
        self.keys[from].go_on(path, on, most);
    }
}
