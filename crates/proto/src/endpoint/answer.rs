//! Answers to packets that belong to no association, so few that nobody can use us to flood others.

use std::collections::VecDeque;

use crate::path::{FourTuple, MOST_AMPLIFIED};
use crate::time::{Duration, Instant};
use crate::wire::chunk::ChunkEncode;
use crate::wire::packet::{HEADER_LEN, Header, Packet};
use crate::wire::{PacketWriter, VerificationTag};

/// A packet that is to be answered, whose sender may not be who its source address says.
#[derive(Copy, Clone, Debug)]
pub(super) struct Asked {
    pub tuple: FourTuple,
    pub header: Header,
    /// Its bytes.
    pub len: usize,
}

impl Asked {
    pub fn by(tuple: FourTuple, packet: &Packet) -> Self {
        Asked { tuple, header: packet.header, len: packet.bytes().len() }
    }

    /// Whether an answer with `chunk` is at most three times as long, IP and UDP headers counted: whoever claims
    /// another's address gains nothing by asking us.
    pub fn admits(&self, chunk: &impl ChunkEncode) -> bool {
        let headers = self.tuple.headers();
        HEADER_LEN + chunk.encoded_len() + headers <= MOST_AMPLIFIED * (self.len + headers)
    }
}

/// Packets waiting to leave, at most as many as a second admits.
#[derive(Debug)]
pub(super) struct Answers {
    queue: VecDeque<(FourTuple, Vec<u8>)>,
    per_s: u32,
    /// When the bucket was full last, as if it ran over: tokens = (now - full_at) · rate, capped.
    full_at: Instant,
    /// Answers not given.
    pub refused: u64,
}

impl Answers {
    pub fn new(per_s: u32) -> Self {
        Answers { queue: VecDeque::new(), per_s: per_s.max(1), full_at: Instant::ZERO, refused: 0 }
    }

    /// Takes a token, if the bucket (one second's worth) has one.
    fn admit(&mut self, now: Instant) -> bool {
        let token = Duration::from_secs(1) / self.per_s;
        self.full_at = self.full_at.max(now - Duration::from_secs(1));
        // Time zero starts with a full bucket as well.
        if now.as_nanos() < 1_000_000_000 && self.queue.len() < self.per_s as usize {
            return true;
        }
        if self.full_at + token > now {
            self.refused += 1;
            return false;
        }
        self.full_at += token;
        true
    }

    /// Answers the sender of `asked` with one chunk under `tag`.
    pub fn send(&mut self, now: Instant, asked: &Asked, tag: VerificationTag, chunk: &impl ChunkEncode) {
        if !asked.admits(chunk) || !self.admit(now) {
            return;
        }
        let mut packet = Vec::new();
        let header = Header {
            source_port: asked.header.destination_port,
            destination_port: asked.header.source_port,
            verification_tag: tag,
        };
        let mut w = PacketWriter::new(&mut packet, header);
        w.chunk(chunk);
        w.finish();
        self.queue.push_back((asked.tuple, packet));
    }

    pub fn pop(&mut self) -> Option<(FourTuple, Vec<u8>)> {
        self.queue.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::Abort;

    #[test]
    fn no_more_than_the_rate_leaves() {
        let mut answers = Answers::new(10);
        let tuple = FourTuple::loopback(1, 2);
        let abort = Abort { reflected_tag: true, causes: vec![] };
        let mut sent = 0;
        for ms in 2000..=5000 {
            let now = Instant::from_millis(ms);
            let asked = Asked { tuple, header: Header::default(), len: 16 };
            answers.send(now, &asked, VerificationTag(1), &abort);
            sent += usize::from(answers.pop().is_some());
        }
        assert_eq!(sent, 10 + 30, "one second's worth at once, then ten a second for three seconds");
        assert_eq!(answers.refused, 3001 - 40);
    }
}
