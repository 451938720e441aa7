//! Strandcast in real time: the clock, the operating system's randomness, a UDP socket a path, the machine's
//! network interfaces and what they count, and links emulated on one machine. What happens in a protocol is decided elsewhere; this
//! crate moves bytes and knows what time it is.
#![forbid(unsafe_code)]

pub mod clock;
pub mod driver;
pub mod emulate;
pub mod entropy;
pub mod interface;
pub mod monitor;
pub mod pcap;
pub mod pool;
pub mod resolve;
pub mod socket;
