//! Network emulation: an event engine, links with queues and random loss, and numbers that change with time. Time is an
//! argument, and randomness comes from labelled seeds. The same code therefore runs in the simulator, repeatable bit
//! for bit, and in real time.
#![forbid(unsafe_code)]

pub mod engine;
pub mod link;
pub mod loss;
pub mod number;
pub mod topology;
