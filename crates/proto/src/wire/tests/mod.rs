//! Packets: output of another stack, framing, bundling, AUTH, and a parser that never panics.

mod captures;
mod framing;
mod properties;
mod strategies;
