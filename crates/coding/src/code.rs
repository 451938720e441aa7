//! The codes by name.

use std::fmt;

/// Most source symbols of a block or a window: what a symbol's header can count.
pub const MOST_SOURCES: usize = 4095;

/// An erasure code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Random linear code over GF(256), coefficients uniform; for blocks. k symbols fail to give k back with probability
    /// .0039, and each further one makes that 256 times less.
    Rlc,
    /// Random linear code over GF(2), each coefficient 0 or 1 with equal probability; for blocks. k + e symbols fail with
    /// probability 2^-e at most.
    Fountain,
    /// Random linear code over GF(256) of RFC 8681, for sliding windows; a seed is a repair key and, from bit 16, a density
    /// threshold.
    Sliding,
    /// RaptorQ (RFC 6330), for blocks.
    RaptorQ,
    /// Reed–Solomon over GF(2^16), for blocks: any k symbols suffice.
    ReedSolomon {
        /// Repair symbols that a block has.
        repairs: u16,
    },
}

impl Code {
    /// Whether seeds number a block's repair symbols from 0, instead of being any number.
    #[must_use]
    pub fn numbers_repairs(self) -> bool {
        matches!(self, Code::RaptorQ | Code::ReedSolomon { .. })
    }

    /// Whether it repairs windows that slide: blocks only slide as a whole.
    #[must_use]
    pub fn slides(self) -> bool {
        matches!(self, Code::Sliding)
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
