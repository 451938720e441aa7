//! The replay window of a path (RFC 4303 section 3.4.3).
