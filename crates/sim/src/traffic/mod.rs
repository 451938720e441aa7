//! Sources of packets: messages and times of applications and background load.
//!
//! A source uses no clock, transport or network: it returns messages at ascending times, drawn from separate
//! random streams. The sender of the messages requests the next one after it has sent the last.
//!
//! `docs/models/traffic.md` describes the models, their limits and their validation.

mod background;
mod law;
mod live;
mod on_off;
mod pace;
mod paper;
mod source;
mod steady;
#[cfg(test)]
mod tests;
mod video;

pub use background::{BackgroundEvent, BackgroundLoad, BackgroundSource, Offered, PacketSize, Via};
pub use live::{Burst, KeyFrames, LiveConfig, LiveVideo, Pause};
pub use on_off::{OnOff, OnOffLaw};
pub use pace::Level;
pub use paper::synthetic_video;
pub use source::{Emission, Frame, Source};
pub use steady::{Cbr, Poisson};
pub use video::{ConstantVideo, TracedVideo};
