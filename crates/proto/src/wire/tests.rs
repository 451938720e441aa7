//! Packets: framing, checksum, bundling, AUTH, and that no bytes make the parser panic.
