//! Ciphers of datagrams, by ring.
