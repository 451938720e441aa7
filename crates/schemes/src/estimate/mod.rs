//! What schemes know of a path beyond the core's own measurements: pieces that know one path and no other, and
//! estimators made of them.

mod bandwidth;
mod deviation;
mod effective_snr;
mod interval;
mod loss_rate;
mod modulation;
mod reference_rtt;
mod snr;
mod student;
mod transmission_rate;
mod windowed_max;

pub use bandwidth::{Bandwidth, BandwidthConfig};
pub use deviation::Deviation;
pub use effective_snr::EffectiveSnr;
pub use interval::{EstimationInterval, IntervalConfig};
pub use loss_rate::{JITTER, LossRate, LossRateConfig, RttMin, UNRELIABLE, goodput, loss_rate};
pub use modulation::Modulation;
pub use reference_rtt::ReferenceRtt;
pub use snr::{Decibel, Snr};
pub use transmission_rate::TransmissionRate;
pub use windowed_max::WindowedMax;
