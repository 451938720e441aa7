//! Strandcast in real time: the clock, the operating system's randomness, one UDP socket per path, the
//! machine's network interfaces and their counters, and links emulated on one machine. Other crates make the
//! protocol decisions; this crate moves bytes and keeps time.
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
