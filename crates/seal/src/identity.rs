//! Static keys and tokens.
