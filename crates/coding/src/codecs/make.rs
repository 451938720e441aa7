//! Constructors of encoders and decoders, by code.

use super::coefficients::Coefficients;
use super::kernel::row;
use super::linear::{LinearDecoder, LinearEncoder};
use super::raptor::{RaptorDecoder, RaptorEncoder, solving};
use super::reed_solomon::{RsDecoder, RsEncoder, restoring};
use crate::code::{Code, MOST_SOURCES};
use crate::codec::{Decoder, Encoder};

impl Code {
    /// True if this build has codecs (feature `codecs`). A build without codecs can neither encode nor decode.
    pub const BUILT: bool = true;

    /// Returns an encoder for at most `capacity` source symbols of at most `length` bytes.
    ///
    /// # Panics
    /// Panics if `capacity` is 0 or more than [`MOST_SOURCES`], or if `length` is more than 65 535.
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

    /// Returns a decoder for the symbols of an [`encoder`](Self::encoder). The encoder was created with the same
    /// arguments.
    ///
    /// # Panics
    /// Panics if [`encoder`](Self::encoder) would panic with these arguments.
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

    /// Returns the maximum work ([`Decoder::work`]) for one symbol that an encoder created. A repair symbol covers
    /// `sources` source symbols, the decoder has the capacity `capacity`, and a symbol has `length` bytes. Only a
    /// forged symbol can cause more work.
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
