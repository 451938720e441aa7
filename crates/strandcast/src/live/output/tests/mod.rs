//! Outputs as other programs take them.

mod rtp;
