//! Sources of packets: what applications and background load send, and when.
//!
//! A source knows no clock, no transport and no network: it says what comes next, at ascending times, drawing from
//! streams of its own. What sends its messages asks for the next one when it has sent the last.
//!
//! The models, their limits and what they were held to: `docs/models/traffic.md`.

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
