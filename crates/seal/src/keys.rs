//! The keys of one completed handshake: connection ids and paths.
