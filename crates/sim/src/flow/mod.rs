//! Flows: what sits at the two ends of one, for each transport.

mod cross;
mod feed;
mod sctp;
mod tcp;
mod udp;

pub use cross::{CrossSender, CrossSink};
pub use feed::Feed;
pub use sctp::{FlowSink, FlowSource, PathPlan, SctpFlow, message_number};
pub use tcp::{SubflowPlan, TcpReceiver, TcpSender};
pub use udp::{UdpSender, UdpSink};
