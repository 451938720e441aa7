//! RFC 9260's own behaviour, implemented as ordinary policies. The RFC's window, [`Aimd`] and loss policy are public,
//! for schemes that differ from the RFC in a single rule.

mod aimd;
mod avoidance;
mod feedback;
mod loss;
mod primary;
mod scheme;
mod spared;
mod window;

pub use aimd::Aimd;
pub use avoidance::{Avoidance, CongestionEvent, PerPath, Progress, Reno};
pub use feedback::RfcFeedback;
pub use loss::RfcLoss;
pub use primary::{PrimaryPath, fill};
pub use scheme::scheme;
pub use spared::SparedLosses;
pub use window::{Advance, Window, WindowConfig};

#[cfg(test)]
mod tests;
