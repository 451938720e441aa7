//! The codes by name.

use std::fmt;

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
