//! Answers to packets that belong to no association. Answers are limited so that an attacker cannot use the endpoint to
//! flood others.

use std::collections::VecDeque;

use super::config::EndpointConfig;
use super::limit::Limiter;
use crate::path::{Envelope, FourTuple, MOST_AMPLIFIED, SealId};
use crate::seeds::Random;
use crate::time::Instant;
use crate::wire::chunk::ChunkEncode;
use crate::wire::packet::{HEADER_LEN, Header, Packet};
use crate::wire::{PacketWriter, VerificationTag};

/// A received packet that needs an answer. The packet's source address may be forged.
#[derive(Copy, Clone, Debug)]
pub(super) struct Asked {
    pub tuple: FourTuple,
    pub header: Header,
    /// Bytes of the packet.
    pub len: usize,
}

impl Asked {
    pub fn by(tuple: FourTuple, packet: &Packet) -> Self {
        Asked { tuple, header: packet.header, len: packet.bytes().len() }
    }

    /// Returns whether an answer with `chunk` is at most three times as long as the packet, including IP and UDP
    /// headers. An attacker with a forged source address then gains no more amplification. Envelopes lengthen the
    /// packet and the answer by the same number of bytes.
    pub fn admits(&self, chunk: &impl ChunkEncode) -> bool {
        let headers = self.tuple.headers();
        HEADER_LEN + chunk.encoded_len() + headers <= MOST_AMPLIFIED * (self.len + headers)
    }
}

/// Kind of a packet that is answered. Each kind has its own rate limit.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// INIT or COOKIE ECHO.
    Opening,
    /// Any other packet that belongs to no association.
    OutOfTheBlue,
}

/// Answers that wait to be sent. The number of waiting answers is at most the number that one second admits.
#[derive(Debug)]
pub(super) struct Answers {
    queue: VecDeque<(FourTuple, Vec<u8>)>,
    envelope: Envelope,
    opening: Limiter,
    unmatched: Limiter,
}

impl Answers {
    pub fn new(config: &EndpointConfig, random: &mut Random) -> Self {
        let opening = Limiter::new(config.init_answers, random);
        let unmatched = Limiter::new(config.unmatched_answers, random);
        Answers { queue: VecDeque::new(), envelope: config.transport.envelope, opening, unmatched }
    }

    /// Returns whether the packet `asked` may be answered. Call this method once, before an answer is constructed. With
    /// a seal, only a peer that may connect can send an INIT. The seal limits the number of INITs, and sends no more
    /// bytes than it received.
    pub fn admit(&mut self, now: Instant, asked: &Asked, kind: Kind) -> bool {
        if kind == Kind::Opening && asked.tuple.sealed != SealId::CLEAR {
            return true;
        }
        let limiter = if kind == Kind::Opening { &mut self.opening } else { &mut self.unmatched };
        limiter.admit(now, asked.tuple.remote.ip())
    }

    /// Number of answers that were refused.
    pub fn refused(&self) -> u64 {
        self.opening.refused + self.unmatched.refused
    }

    /// Answers the packet `asked`, which was admitted. The answer has one chunk and the verification tag `tag`. The
    /// answer is not sent if it would be too long.
    pub fn send(&mut self, asked: &Asked, tag: VerificationTag, chunk: &impl ChunkEncode) {
        if !asked.admits(chunk) {
            return;
        }
        let mut packet = Vec::new();
        let header = Header {
            source_port: asked.header.destination_port,
            destination_port: asked.header.source_port,
            verification_tag: tag,
        };
        let mut w = PacketWriter::within(self.envelope, &mut packet, header);
        w.chunk(chunk);
        w.finish();
        self.queue.push_back((asked.tuple, packet));
    }

    /// Removes and returns a datagram that has room for its envelope.
    pub fn pop(&mut self) -> Option<(FourTuple, Vec<u8>)> {
        self.queue.pop_front()
    }
}
