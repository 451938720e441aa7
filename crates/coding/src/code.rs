//! The codes by name, and constructors of their encoders and decoders.

use std::fmt;

use crate::codec::{Decoder, Encoder};
use crate::coefficients::Coefficients;
use crate::kernel::row;
use crate::linear::{LinearDecoder, LinearEncoder};
use crate::raptor::{RaptorDecoder, RaptorEncoder, solving};
use crate::reed_solomon::{RsDecoder, RsEncoder, restoring};

/// Maximum number of source symbols of a block or a window, limited by the header of a symbol.
pub const MOST_SOURCES: usize = 4095;

/// An erasure code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Random linear code over GF(256) with uniform coefficients, for blocks. k symbols fail to give k back
    /// with probability .0039, and each further one makes that 256 times less.
    Rlc,
    /// Random linear code over GF(2) for blocks. Each coefficient is 0 or 1 with equal probability. k + e
    /// symbols fail with probability at most 2^-e.
    Fountain,
    /// Random linear code over GF(256) of RFC 8681, for sliding windows; a seed is a repair key and, from bit 16, a density
    /// threshold.
    Sliding,
    /// RaptorQ (RFC 6330), for blocks.
    RaptorQ,
    /// Reed–Solomon over GF(2^16), for blocks: any k symbols suffice.
    ReedSolomon {
        /// Number of repair symbols of a block.
        repairs: u16,
    },
}

impl Code {
    /// Returns whether seeds must number a block's repair symbols from 0.
    #[must_use]
    pub fn numbers_repairs(self) -> bool {
        matches!(self, Code::RaptorQ | Code::ReedSolomon { .. })
    }

    /// Returns whether the code repairs sliding windows; otherwise it repairs blocks only.
    #[must_use]
    pub fn slides(self) -> bool {
        matches!(self, Code::Sliding)
    }

    /// An encoder of at most `capacity` source symbols of at most `length` bytes.
    ///
    /// # Panics
    /// If `capacity` is 0 or more than [`MOST_SOURCES`], or `length` more than 65 535.
    #[must_use]
    pub fn encoder(self, capacity: usize, length: usize) -> Box<dyn Encoder> {
        self.check(capacity, length);
        match self.coefficients() {
            Some(how) => Box::new(LinearEncoder::new(how, capacity, length)),
            None => match self {
                Code::ReedSolomon { repairs } => Box::new(RsEncoder::new(capacity, length, repairs.into())),
                _ => Box::new(RaptorEncoder::new(capacity, length)),
            },
        }
    }

    /// A decoder for the symbols of an [`encoder`](Self::encoder) with the same arguments.
    ///
    /// # Panics
    /// If the arguments make [`encoder`](Self::encoder) panic.
    #[must_use]
    pub fn decoder(self, capacity: usize, length: usize) -> Box<dyn Decoder> {
        self.check(capacity, length);
        match self.coefficients() {
            Some(how) => Box::new(LinearDecoder::new(how, capacity, length)),
            None => match self {
                Code::ReedSolomon { repairs } => Box::new(RsDecoder::new(capacity, length, repairs.into())),
                _ => Box::new(RaptorDecoder::new(capacity, length)),
            },
        }
    }

    /// Maximum work ([`Decoder::work`]) per symbol that an encoder sent. `capacity` is that of the decoder,
    /// `sources` the number of source symbols that a repair symbol covers, `length` the bytes of a symbol.
    /// Only forged symbols exceed it.
    #[must_use]
    pub fn fair_work(self, sources: usize, capacity: usize, length: usize) -> u64 {
        match self {
            // Each row is read once to reduce it and once to eliminate its leading column; kept rows cost the
            // same again.
            Code::Rlc | Code::Fountain | Code::Sliding => {
                (4 * sources * (row(capacity) + row(length))) as u64
            }
            // A block may need one or two more symbols than it has.
            Code::RaptorQ => 4 * solving(sources, length) / sources.max(1) as u64,
            Code::ReedSolomon { repairs } => {
                2 * restoring(sources, repairs.into(), length) / sources.max(1) as u64
            }
        }
    }

    fn coefficients(self) -> Option<Coefficients> {
        match self {
            Code::Rlc => Some(Coefficients::Bytes),
            Code::Fountain => Some(Coefficients::Bits),
            Code::Sliding => Some(Coefficients::Rfc8681),
            Code::RaptorQ | Code::ReedSolomon { .. } => None,
        }
    }

    fn check(self, capacity: usize, length: usize) {
        assert!(
            (1..=MOST_SOURCES).contains(&capacity),
            "{self}: 1 to {MOST_SOURCES} source symbols, not {capacity}"
        );
        assert!(length <= usize::from(u16::MAX), "{self}: symbols of at most 65535 bytes, not {length}");
        assert!(self != Code::ReedSolomon { repairs: 0 }, "{self}: at least one repair symbol");
        let odd = !length.is_multiple_of(2);
        assert!(
            !(odd && matches!(self, Code::ReedSolomon { .. })),
            "{self}: symbols of an even length, not {length}"
        );
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Code::Rlc => "rlc",
            Code::Fountain => "fountain",
            Code::Sliding => "sliding-rlc",
            Code::RaptorQ => "raptorq",
            Code::ReedSolomon { .. } => "rs",
        })
    }
}
