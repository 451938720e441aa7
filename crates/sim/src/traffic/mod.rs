//! Sources of packets: messages and sending times of applications and of background load.
//!
//! A source uses no clock, transport or network. A source returns messages at ascending times, drawn from separate
//! random streams. The sender requests the next message after it has sent the last one.
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
