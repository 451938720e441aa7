//! Keys of a sender, and their changes (draft-sharabayko-srt, *KM Refresh*).

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use crate::config::Config;
use crate::crypto::SendKeys;
use crate::stats::Stats;
use crate::wire::KeyFlag;

/// An announcement of keys that the peer has to confirm.
struct Announced {
    contents: Vec<u8>,
    sent: Option<Instant>,
    confirmed: bool,
}

/// Keys of a sender that are changed after a number of packets.
pub(super) struct Announcer {
    keys: SendKeys,
    /// Number of packets encrypted with the current key.
    packets: u32,
    refresh: u32,
    announce: u32,
    announced: Option<Announced>,
}

impl Announcer {
    pub fn new(keys: SendKeys, config: &Config) -> Announcer {
        let refresh = config.refresh_packets.clamp(2, Config::MOST_PACKETS);
        let announce = config.announce_packets.clamp(1, refresh / 2);
        Announcer { keys, packets: 0, refresh, announce, announced: None }
    }

    /// Encrypts a payload.
    pub fn encrypt(
        &mut self,
        seq: u32,
        payload: &mut [u8],
        random: &mut Random,
        stats: &mut Stats,
    ) -> KeyFlag {
        if self.packets == self.refresh - self.announce {
            self.keys.prepare(random);
            let contents = self.keys.material().to_bytes();
            self.announced = Some(Announced { contents, sent: None, confirmed: false });
        }
        let confirmed = self.announced.as_ref().is_some_and(|a| a.confirmed);
        if self.packets >= self.refresh && (confirmed || self.packets >= Config::MOST_PACKETS) {
            self.keys.advance();
            (self.packets, self.announced) = (0, None);
            stats.refreshes += 1;
        }
        self.packets += 1;
        self.keys.encrypt(seq, payload)
    }

    /// Handles the peer's answer, which repeats the announcement of keys.
    pub fn on_response(&mut self, contents: &[u8]) {
        if let Some(announced) = self.announced.as_mut().filter(|a| a.contents == contents) {
            announced.confirmed = true;
        }
    }

    /// Returns the announcement of keys, if it must be sent now.
    pub fn poll(&mut self, now: Instant, overdue: Duration) -> Option<&[u8]> {
        let announced = self.announced.as_mut().filter(|a| !a.confirmed)?;
        if announced.sent.is_some_and(|sent| now < sent + overdue) {
            return None;
        }
        announced.sent = Some(now);
        Some(&announced.contents)
    }

    pub fn next_timeout(&self, overdue: Duration) -> Option<Instant> {
        let announced = self.announced.as_ref().filter(|a| !a.confirmed)?;
        Some(announced.sent.map_or(Instant::ZERO, |sent| sent + overdue))
    }
}
