//! Meters. The meters record the events of a run and return metrics at its end.

mod background;
mod flow;
mod link;
mod order;
mod player;
mod radio;
mod share;
mod tally;
#[cfg(test)]
mod tests;
mod video;
mod viewer;
mod window;

pub use background::BackgroundMeter;
pub use flow::{FlowMeter, FlowSpec};
pub use link::{LinkReading, link_metrics};
pub use radio::{RadioReading, radio_metrics};
pub use share::ShareMeter;
pub use video::{VideoFrame, VideoSource, VideoSpec, eq17_db};
pub use window::{LossPlace, Window};
