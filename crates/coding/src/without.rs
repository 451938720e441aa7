//! Replacement for the codecs in a build without them. Callers must check [`Code::BUILT`] before they use a codec.

use crate::code::Code;
use crate::codec::{Decoder, Encoder};

impl Code {
    /// True if this build has codecs (feature `codecs`). A build without codecs can neither encode nor decode.
    pub const BUILT: bool = false;

    /// Replacement for the constructor of an encoder. Only a build with codecs has encoders.
    ///
    /// # Panics
    /// Always panics.
    #[must_use]
    pub fn encoder(self, _capacity: usize, _length: usize) -> Box<dyn Encoder> {
        self.is_missing()
    }

    /// Replacement for the constructor of a decoder. Only a build with codecs has decoders.
    ///
    /// # Panics
    /// Always panics.
    #[must_use]
    pub fn decoder(self, _capacity: usize, _length: usize) -> Box<dyn Decoder> {
        self.is_missing()
    }

    /// Replacement for the work of a decoder. Only a build with codecs has decoders.
    ///
    /// # Panics
    /// Always panics.
    #[must_use]
    pub fn fair_work(self, _sources: usize, _capacity: usize, _length: usize) -> u64 {
        self.is_missing()
    }

    fn is_missing(self) -> ! {
        panic!("{self}: built without the feature `codecs`");
    }
}
