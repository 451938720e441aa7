//! Constructors of the encoders and decoders of a code.

use super::coefficients::Coefficients;
use super::kernel::row;
use super::linear::{LinearDecoder, LinearEncoder};
use super::raptor::{RaptorDecoder, RaptorEncoder, solving};
use super::reed_solomon::{RsDecoder, RsEncoder, restoring};
use crate::code::{Code, MOST_SOURCES};
use crate::codec::{Decoder, Encoder};

impl Code {
    /// True if this build has codecs (feature `codecs`). In a build without them, nothing can be encoded or decoded.
    pub const BUILT: bool = true;

    /// An encoder of at most `capacity` source symbols of at most `length` bytes.
    ///
    /// # Panics
    /// If `capacity` is 0 or more than [`MOST_SOURCES`], or if `length` is more than 65 535.
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

    /// A decoder for the symbols of an [`encoder`](Self::encoder) that was made with the same arguments.
    ///
    /// # Panics
    /// If [`encoder`](Self::encoder) would panic with these arguments.
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

    /// Maximum work ([`Decoder::work`]) for a symbol that an encoder has made. `sources` is the number of source
    /// symbols that a repair symbol covers, `capacity` is the capacity of the decoder, and `length` is the number of
    /// bytes of a symbol. Only a forged symbol can cause more work.
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
