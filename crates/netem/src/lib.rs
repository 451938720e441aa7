//! Network emulation: an event engine, links with queues and random loss, and numbers that change over time. Time is an
//! argument of calls, and randomness comes from labelled seeds. The code therefore runs both in the simulator, where it
//! is repeatable bit for bit, and in real time.
#![forbid(unsafe_code)]

pub mod engine;
pub mod link;
pub mod loss;
pub mod number;
pub mod topology;
