//! Sending a stream.

mod admission;
mod allowance;
mod backoff;
mod config;
mod connect;
mod handle;
mod intake;
mod keeper;
mod links;
mod monitor;
mod monthly;
mod pump;
mod reasons;
mod refusals;
mod session;
mod summary;
mod switches;
mod tariffs;
mod vanishing;

pub use config::SenderConfig;
pub use handle::{LinkSetting, Sender};
pub use pump::Pump;
pub use summary::SendSummary;
