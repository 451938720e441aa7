//! The media of a stream, from a point at which a player can begin.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use strandcast_media::ts::{FrameType, Marker, PACKET_LEN, Packet, ProgramTable};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

use super::body::Body;
use crate::live::output::{Viewed, Viewer};

/// Maximum number of messages that wait for one connection. Further messages wait in the queue that all viewers share.
const PIECES: usize = 8;
/// Maximum time until a viewer's stream begins. After this time the stream begins at any packet. It applies to streams
/// that mark no key frame, and to streams without a known type of video.
const LONGEST: Duration = Duration::from_secs(10);
/// Maximum number of packets that contain tables.
const TABLES: usize = 16;

/// Makes the response body for a viewer. At the end of the body `slot` is released.
pub(super) fn body(mut viewer: Viewer, slot: OwnedSemaphorePermit) -> Body {
    let (pieces, body) = mpsc::channel(PIECES);
    tokio::spawn(async move {
        let _slot = slot;
        let mut entry = Entry::new();
        loop {
            let viewed = tokio::select! {
                viewed = viewer.next() => viewed,
                () = pieces.closed() => return,
            };
            let message = match viewed {
                Some(Viewed::Media(message)) => entry.pass(message),
                Some(_) => continue,
                None => return,
            };
            if !message.is_empty() && pieces.send(message).await.is_err() {
                return;
            }
        }
    });
    Body::Pieces(body)
}

/// Drops the beginning of a stream, up to the first frame from which decoding can start.
struct Entry {
    marker: Marker,
    tables: ProgramTable,
    /// The newest packets of the tables.
    known: Vec<Packet>,
    since: Instant,
    begun: bool,
}

impl Entry {
    fn new() -> Entry {
        let (marker, tables) = (Marker::new(), ProgramTable::new());
        Entry { marker, tables, known: Vec::new(), since: Instant::now(), begun: false }
    }

    /// Returns the part of a message that the viewer receives.
    fn pass(&mut self, message: Bytes) -> Bytes {
        if self.begun {
            return message;
        }
        for (number, bytes) in message.chunks_exact(PACKET_LEN).enumerate() {
            let Some(packet) = bytes.try_into().ok().and_then(Packet::new) else { continue };
            if self.begins(&packet) {
                self.begun = true;
                return self.first(&message.slice(number * PACKET_LEN..));
            }
        }
        Bytes::new()
    }

    /// Returns whether the viewer's stream begins with this packet.
    fn begins(&mut self, packet: &Packet) -> bool {
        self.tables.observe(packet);
        let marks = self.marker.mark(packet);
        if self.tables.carries(packet.pid()) {
            self.keep(packet);
            return false;
        }
        let Some(program) = self.tables.program() else { return false };
        let key = marks.random_access || marks.frame_start && marks.frame_type == Some(FrameType::I);
        key || program.video.is_none() || self.since.elapsed() >= LONGEST
    }

    /// Keeps a packet of a table. The first packet of a new section replaces the packets of the previous section.
    fn keep(&mut self, packet: &Packet) {
        if packet.unit_start() {
            self.known.retain(|known| known.pid() != packet.pid());
        }
        if self.known.len() < TABLES {
            self.known.push(*packet);
        }
    }

    /// Returns the packets of the tables, followed by the rest of the message.
    fn first(&mut self, rest: &[u8]) -> Bytes {
        let mut all = BytesMut::new();
        // The program association table has PID 0, and names the PID of the program map table. The program association
        // table must be sent first.
        self.known.sort_by_key(Packet::pid);
        self.known.drain(..).for_each(|packet| all.extend_from_slice(packet.as_bytes()));
        all.extend_from_slice(rest);
        all.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_begins_with_the_tables_and_a_key_frame() {
        let clip =
            std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../media/clip.ts")).expect("the clip");
        // The viewer joins during the first seconds, at packets that do not begin a frame or a table.
        for skipped in [1, 500, 1000] {
            let mut entry = Entry::new();
            let rest = &clip[skipped * PACKET_LEN..];
            let pieces = rest.chunks(7 * PACKET_LEN).map(|piece| entry.pass(Bytes::copy_from_slice(piece)));
            let seen: Vec<u8> = pieces.flat_map(|piece| piece.to_vec()).collect();
            let packets: Vec<Packet> = seen
                .chunks_exact(PACKET_LEN)
                .map(|bytes| Packet::new(bytes.try_into().expect("its length")).expect("a packet"))
                .collect();
            assert_eq!(packets[0].pid(), 0, "the association table");
            let mut table = ProgramTable::new();
            packets[..2].iter().for_each(|packet| table.observe(packet));
            let video = table.program().expect("the map is next").video.expect("the clip has video");
            assert_eq!(packets[2].pid(), video.pid);
            assert!(packets[2].adaptation().is_some_and(|field| field.random_access));
            assert!(rest.ends_with(&seen[2 * PACKET_LEN..]), "nothing is left out after it");
            assert!(seen.len() > clip.len() / 2);
        }
    }

    #[test]
    fn a_stream_without_tables_is_not_shown() {
        let mut null = [0xff; PACKET_LEN];
        null[..4].copy_from_slice(&[0x47, 0x1f, 0xff, 0x10]);
        let mut entry = Entry::new();
        assert!(entry.pass(Bytes::copy_from_slice(&null)).is_empty());
        assert!(entry.pass(Bytes::from_static(b"no packets at all")).is_empty());
        entry.since = Instant::now().checked_sub(LONGEST).expect("the machine is older");
        assert!(entry.pass(Bytes::copy_from_slice(&null)).is_empty(), "no player can begin without tables");
    }
}
