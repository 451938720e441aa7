//! Estimates that schemes add to the core's own measurements. Some pieces measure one path. Estimators are made of
//! these pieces.

mod bandwidth;
mod delivery;
mod delivery_interval;
mod deviation;
mod effective_snr;
mod interval;
mod loss_rate;
mod loss_share;
mod modulation;
mod peer_rate;
mod receiver_rate;
mod reference_rtt;
mod retransmission_queue;
mod silence;
mod snr;
mod student;
mod tear;
#[cfg(test)]
mod tests;
mod transmission_rate;
mod windowed_max;

pub use bandwidth::{Bandwidth, BandwidthConfig};
pub use delivery::{Delivery, MIN_QUEUE, NO_QUEUE, tested};
pub use delivery_interval::{DeliveryInterval, RateSample};
pub use deviation::Deviation;
pub use effective_snr::EffectiveSnr;
pub use interval::{EstimationInterval, IntervalConfig};
pub use loss_rate::{JITTER, LossRate, LossRateConfig, RttMin, UNRELIABLE, goodput, loss_rate};
pub use loss_share::LossShare;
pub use modulation::Modulation;
pub use peer_rate::PeerRate;
pub use receiver_rate::{Grant, Most, PathRate, RateConfig, Round, RoundTrip, Smoothed, weight};
pub use reference_rtt::ReferenceRtt;
pub use retransmission_queue::RetransmissionQueue;
#[cfg(test)]
pub(crate) use silence::set_held;
pub use silence::{RESEND, Silence, Verdict, held, return_paths};
pub use snr::{Decibel, Snr};
pub use tear::{Sequence, SequencePosition, State, Tear};
pub use transmission_rate::TransmissionRate;
pub use windowed_max::WindowedMax;
