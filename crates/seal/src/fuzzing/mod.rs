//! What fuzzers run, and tests over the corpus they left: each function reads its input as a script, whatever the bytes are,
//! and panics where something does not hold.

mod envelope;
mod handshake;
mod sessions;

pub use envelope::envelope;
pub use handshake::handshake;
pub use sessions::seal_sessions;
