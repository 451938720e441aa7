//! Flows: the agents at the two ends of each flow, by transport.

mod background;
mod feed;
mod sctp;
mod tap;
mod tcp;
mod udp;

pub use background::{BackgroundSender, BackgroundSink};
pub use feed::Feed;
pub use sctp::{FlowSink, FlowSource, PathPlan, SctpFlow, message_number};
pub use tap::{Arrival, Tap};
pub use tcp::{SubflowPlan, TcpReceiver, TcpSender};
pub use udp::{UdpSender, UdpSink};
