//! A build without codecs. Callers must check [`Code::BUILT`] before they use a codec.

use crate::code::Code;
use crate::codec::{Decoder, Encoder};

impl Code {
    /// True if this build has codecs (feature `codecs`). In a build without them, nothing can be encoded or decoded.
    pub const BUILT: bool = false;

    /// An encoder. Only a build with codecs has encoders.
    ///
    /// # Panics
    /// Always.
    #[must_use]
    pub fn encoder(self, _capacity: usize, _length: usize) -> Box<dyn Encoder> {
        self.is_missing()
    }

    /// A decoder. Only a build with codecs has decoders.
    ///
    /// # Panics
    /// Always.
    #[must_use]
    pub fn decoder(self, _capacity: usize, _length: usize) -> Box<dyn Decoder> {
        self.is_missing()
    }

    /// The work of a decoder. Only a build with codecs has decoders.
    ///
    /// # Panics
    /// Always.
    #[must_use]
    pub fn fair_work(self, _sources: usize, _capacity: usize, _length: usize) -> u64 {
        self.is_missing()
    }

    fn is_missing(self) -> ! {
        panic!("{self}: built without the feature `codecs`");
    }
}
