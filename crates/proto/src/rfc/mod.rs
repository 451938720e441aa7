//! RFC 9260's own behaviour, as policies like any other.
