//! The erasure codes and their names.

use std::fmt;

/// Maximum number of source symbols of a block or a window. The header of a symbol has no room for a larger number.
pub const MOST_SOURCES: usize = 4095;

/// An erasure code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Random linear code over GF(256) with uniform coefficients, for blocks. With k received symbols, decoding of a
    /// block of k fails with a probability of .0039. Each further symbol makes this probability 256 times smaller.
    Rlc,
    /// Random linear code over GF(2), for blocks. Each coefficient is 0 or 1 with equal probability. With k + e
    /// received symbols, decoding of a block of k fails with a probability of at most 2^-e.
    Fountain,
    /// Random linear code over GF(256) of RFC 8681, for sliding windows. A seed consists of a repair key and a density
    /// threshold. The threshold begins at bit 16.
    Sliding,
    /// RaptorQ (RFC 6330), for blocks.
    RaptorQ,
    /// Reed–Solomon code over GF(2^16), for blocks. Any k symbols suffice to decode a block of k.
    ReedSolomon {
        /// Number of repair symbols per block.
        repairs: u16,
    },
}

impl Code {
    /// Returns whether the seeds of a block's repair symbols must be 0, 1, 2 and so on.
    #[must_use]
    pub fn numbers_repairs(self) -> bool {
        matches!(self, Code::RaptorQ | Code::ReedSolomon { .. })
    }

    /// Returns whether the code is for sliding windows. All other codes are for blocks.
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
