//! The handshake, both ends.
