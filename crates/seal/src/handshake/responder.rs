//! The side that is connected to: half-open handshakes in a fixed table, cookies when it is loaded.
