//! Answers to packets that belong to no association, limited so that the endpoint cannot be used to flood others.

use std::collections::VecDeque;

use super::config::EndpointConfig;
use super::limit::Limiter;
use crate::path::{Envelope, FourTuple, MOST_AMPLIFIED, SealId};
use crate::seeds::Random;
use crate::time::Instant;
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

    /// Whether an answer with `chunk` is at most three times as long, IP and UDP headers counted: a source
    /// that spoofs another's address gains no amplification. Envelopes make both longer by the same.
    pub fn admits(&self, chunk: &impl ChunkEncode) -> bool {
        let headers = self.tuple.headers();
        HEADER_LEN + chunk.encoded_len() + headers <= MOST_AMPLIFIED * (self.len + headers)
    }
}

/// What is answered: each kind has its own share.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// INIT, COOKIE ECHO.
    Opening,
    /// Whatever else belongs to no association.
    OutOfTheBlue,
}

/// Packets waiting to leave, at most as many as a second admits.
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

    /// Whether `asked` may be answered: to be asked once, before an answer is made up. An INIT behind a seal is from
    /// somebody who may connect, the seal limits how many it hands over, and sends no more than what came.
    pub fn admit(&mut self, now: Instant, asked: &Asked, kind: Kind) -> bool {
        if kind == Kind::Opening && asked.tuple.sealed != SealId::CLEAR {
            return true;
        }
        let limiter = if kind == Kind::Opening { &mut self.opening } else { &mut self.unmatched };
        limiter.admit(now, asked.tuple.remote.ip())
    }

    /// Answers not given.
    pub fn refused(&self) -> u64 {
        self.opening.refused + self.unmatched.refused
    }

    /// Answers the sender of `asked`, which was admitted, with one chunk under `tag`, unless that is too long.
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

    /// A datagram, with room for its envelope.
    pub fn pop(&mut self) -> Option<(FourTuple, Vec<u8>)> {
        self.queue.pop_front()
    }
}
