//! The end of a stream, from its last key frame on.

use bytes::Bytes;
use strandcast_media::ts::{FrameType, Marker, PACKET_LEN, Packet};
use tokio::time::{Duration, Instant};

/// Time without media after which the kept media are old: the picture of a stream that stands still would be a false one.
const OLD: Duration = Duration::from_secs(1);
/// Minimum age of the key frame with which viewers begin. Players need media of this duration before they show a
/// picture.
const LEAST: Duration = Duration::from_millis(400);

/// Media since a key frame, with the tables before it, for viewers that begin there. It is the last key frame that was
/// played at least [`LEAST`] ago.
#[derive(Debug)]
pub(super) struct Recent {
    marker: Marker,
    bytes: Vec<u8>,
    /// Maximum number of bytes. A stream with more between two key frames is not kept until the next one.
    most: usize,
    /// Offset of the last association table, with which the tables begin.
    tables: Option<usize>,
    /// True if a key frame was kept.
    begun: bool,
    /// Offset and time of a later key frame.
    next: Option<(usize, Instant)>,
    written: Instant,
}

impl Recent {
    pub(super) fn new(most: usize) -> Recent {
        let (marker, written) = (Marker::new(), Instant::now());
        Recent { marker, bytes: Vec::new(), most, tables: None, begun: false, next: None, written }
    }

    /// Removes the media of a stream that has ended.
    pub(super) fn clear(&mut self) {
        self.marker = Marker::new();
        self.forget();
    }

    fn forget(&mut self) {
        self.bytes.clear();
        (self.tables, self.begun, self.next) = (None, false, None);
    }

    /// Adds a message: a whole number of transport packets.
    pub(super) fn push(&mut self, message: &[u8]) {
        self.written = Instant::now();
        if let Some((at, _)) = self.next.filter(|(_, since)| self.written - *since >= LEAST) {
            self.begin_at(at);
        }
        self.make_room(message.len());
        for (number, packet) in message.chunks_exact(PACKET_LEN).enumerate() {
            let at = self.bytes.len() + number * PACKET_LEN;
            if let Some(packet) = packet.try_into().ok().and_then(Packet::new) {
                self.mark(at, &packet);
            }
        }
        match self.tables {
            Some(_) if message.len() <= self.most => self.bytes.extend_from_slice(message),
            _ => return self.forget(),
        }
        // Media before the tables are of no use without a key frame.
        if !self.begun {
            self.begin_at(self.tables.unwrap_or_default());
        }
    }

    /// Makes room for a message of this length.
    fn make_room(&mut self, length: usize) {
        if self.bytes.len() + length > self.most {
            match self.next {
                Some((at, _)) => self.begin_at(at),
                None => self.forget(),
            }
        }
        if self.bytes.len() + length > self.most {
            self.forget();
        }
        // Pages of the memory are used as media come, and it never moves.
        self.bytes.reserve_exact(self.most - self.bytes.len());
    }

    /// Removes the media before this offset.
    fn begin_at(&mut self, begin: usize) {
        self.bytes.drain(..begin);
        self.tables = self.tables.map(|at| at.saturating_sub(begin));
        self.next = self.next.filter(|(at, _)| *at > begin).map(|(at, since)| (at - begin, since));
    }

    /// Notes the tables and the key frame of the packet at this offset.
    fn mark(&mut self, at: usize, packet: &Packet) {
        if packet.pid() == 0 && packet.unit_start() {
            self.tables = Some(at);
        }
        let marks = self.marker.mark(packet);
        if let Some(tables) = self.tables
            && (marks.random_access || marks.frame_start && marks.frame_type == Some(FrameType::I))
        {
            match self.begun {
                true if tables > 0 => drop(self.next.get_or_insert((tables, self.written))),
                _ => self.begun = true,
            }
        }
    }

    /// Returns the media since the key frame; empty without a key frame, or if they are old.
    pub(super) fn media(&self) -> Bytes {
        let is = self.begun && self.written.elapsed() < OLD;
        if is { Bytes::copy_from_slice(&self.bytes) } else { Bytes::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 1 << 20;

    fn clip() -> Vec<u8> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../media/clip.ts");
        std::fs::read(path).expect("the clip")
    }

    fn is_key(packet: &[u8]) -> bool {
        let packet = Packet::new(packet.try_into().expect("its length")).expect("a packet");
        packet.adaptation().is_some_and(|field| field.random_access)
    }

    /// Duration of a message of the clip, which has 1 Mbit/s.
    const MESSAGE: Duration = Duration::from_micros(10_528);

    #[tokio::test(start_paused = true)]
    async fn the_media_begin_with_a_key_frame_that_is_old_enough_for_a_picture_and_end_now() {
        let clip = clip();
        let packets = || clip.chunks(PACKET_LEN).enumerate();
        let keys: Vec<usize> = packets().filter(|(_, p)| is_key(p)).map(|(n, _)| n * PACKET_LEN).collect();
        assert!(keys.len() > 3, "it has key frames");
        let least = LEAST.as_micros() / MESSAGE.as_micros() * 7 * PACKET_LEN as u128;
        let mut recent = Recent::new(MOST);
        for (number, message) in clip.chunks(7 * PACKET_LEN).enumerate() {
            recent.push(message);
            tokio::time::advance(MESSAGE).await;
            let now = number * 7 * PACKET_LEN + message.len();
            let media = recent.media();
            if keys[0] >= now {
                assert!(media.is_empty(), "no key frame has come yet");
                continue;
            }
            assert!(clip[..now].ends_with(&media), "{now}");
            let is_table = |packet: &[u8]| (packet[1], packet[2]) == (0x40, 0);
            assert!(
                media.chunks(PACKET_LEN).take(3).any(is_table),
                "{now}: the tables are near its beginning"
            );
            // Audio and tables, and no other picture, come before the key frame.
            let begin = media.chunks(PACKET_LEN).position(is_key).expect("a key frame") * PACKET_LEN;
            assert!(begin < 100 * PACKET_LEN, "{begin}");
            let key = now - media.len() + begin;
            let age = |key: usize| now.saturating_sub(key) as u128;
            let old = keys.iter().rev().find(|key| age(**key) > least + 4 * 1316).unwrap_or(&keys[0]);
            assert!(key >= *old, "the last one that is old enough");
            assert!(key == keys[0] || age(key) + 4 * 1316 > least, "{key} at {now}");
        }
        assert_eq!(recent.bytes.capacity(), MOST, "it has not moved");
    }

    #[tokio::test(start_paused = true)]
    async fn media_that_are_old_or_too_many_are_no_beginning() {
        let clip = clip();
        let mut recent = Recent::new(MOST);
        let push = |recent: &mut Recent| clip[..MOST].chunks(7 * PACKET_LEN).for_each(|m| recent.push(m));
        push(&mut recent);
        assert!(!recent.media().is_empty());
        tokio::time::advance(OLD).await;
        assert!(recent.media().is_empty(), "nothing has come for a while");
        push(&mut recent);
        recent.clear();
        assert!(recent.media().is_empty(), "the stream has ended");

        let mut small = Recent::new(20 * PACKET_LEN);
        let mut some = 0;
        for message in clip.chunks(7 * PACKET_LEN) {
            small.push(message);
            assert!(small.bytes.len() <= 20 * PACKET_LEN);
            some += usize::from(!small.media().is_empty());
        }
        assert!(some < clip.len() / PACKET_LEN / 7 / 2, "between most key frames there is more");
        let mut none = Recent::new(MOST);
        let mut null = [0xff; PACKET_LEN];
        null[..4].copy_from_slice(&[0x47, 0x1f, 0xff, 0x10]);
        (0..9).for_each(|_| none.push(&null));
        assert!(none.media().is_empty() && none.bytes.is_empty());
    }
}
