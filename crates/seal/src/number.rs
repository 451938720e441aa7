//! Packet numbers: 32 bits on the wire, 64 in full (RFC 9000 appendix A).
