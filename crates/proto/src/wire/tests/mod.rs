//! Packets: what another stack sent, framing, bundling, AUTH, and that no bytes make the parser panic.

mod captures;
mod framing;
mod properties;
mod strategies;
