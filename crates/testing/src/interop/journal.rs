//! Journal of the packets of a run, which is printed if the run fails.

use std::fmt::Write as _;

use bytes::Bytes;
use strandcast_proto::time::Instant;
use strandcast_proto::wire::{Chunk, Packet};

/// The end that sent a packet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PacketOrigin {
    Us,
    Them,
}

#[derive(Debug)]
pub struct Entry {
    pub at: Instant,
    pub from: PacketOrigin,
    pub lost: bool,
    pub packet: Bytes,
}

#[derive(Default, Debug)]
pub struct Journal {
    pub title: String,
    pub entries: Vec<Entry>,
}

/// Number of lines that are printed of a failed run, at its beginning and at its end.
const SHOWN: usize = 150;

impl Journal {
    /// Returns the number of packets from one end that contain a chunk for which the function `wanted` returns true.
    pub fn count(&self, from: PacketOrigin, wanted: impl Fn(&Chunk) -> bool) -> usize {
        let sent = self.entries.iter().filter(|e| e.from == from);
        sent.filter(|e| chunks(&e.packet).iter().any(|c| c.as_ref().is_ok_and(&wanted))).count()
    }
}

fn chunks(packet: &Bytes) -> Vec<Result<Chunk, String>> {
    match Packet::parse(packet.clone()) {
        Ok(p) => p.chunks().map(|c| c.map(|(_, c)| c).map_err(|e| e.to_string())).collect(),
        Err(e) => vec![Err(e.to_string())],
    }
}

fn describe(packet: &Bytes) -> String {
    let mut out = String::new();
    for chunk in chunks(packet) {
        let _ = match chunk {
            Ok(Chunk::Data(d)) => {
                let (h, len) = (d.header, d.payload.len());
                let bits = [(h.beginning, 'B'), (h.ending, 'E'), (h.unordered, 'U'), (h.immediate, 'I')];
                let bits: String = bits.iter().filter(|(set, _)| *set).map(|(_, c)| *c).collect();
                write!(out, " DATA[{} s{} #{} {bits} {len}]", h.tsn.0, h.stream_id.0, h.ssn.0)
            }
            Ok(chunk) => write!(out, " {chunk:?}"),
            Err(e) => write!(out, " !{e}"),
        };
    }
    out
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        eprintln!("{}: {} packets", self.title, self.entries.len());
        for (i, e) in self.entries.iter().enumerate() {
            if i == SHOWN && self.entries.len() > 2 * SHOWN {
                eprintln!("…");
            }
            if i >= SHOWN && i + SHOWN < self.entries.len() {
                continue;
            }
            let arrow = if e.from == PacketOrigin::Us { "us ->" } else { "<- they" };
            let lost = if e.lost { " LOST" } else { "" };
            let mut line = describe(&e.packet);
            line.truncate(line.char_indices().nth(400).map_or(line.len(), |(at, _)| at));
            eprintln!("{:10.4} {arrow}{lost}{line}", e.at.as_secs_f64());
        }
    }
}
