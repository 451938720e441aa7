//! The SCTP packets of a run, for a capture.

use core::fmt::Debug;
use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use strandcast_proto::time::Instant;
use strandcast_sim::net::{AgentId, DirectedLinkId, EnqueueOutcome, FlowId, Packet, PacketMeta, TraceEvent};

use super::{Recorder, Simulation};

/// UDP port of receivers (RFC 6951), and of senders.
const PORTS: [u16; 2] = [9899, 40_000];

/// Destination of a run's SCTP packets.
pub trait PacketSink: Debug + Send {
    /// Takes a packet that `from` sends to `to`. `at` is the time since the flows' time 0.
    ///
    /// # Errors
    /// The packet cannot be written.
    fn packet(&mut self, at: Duration, from: SocketAddr, to: SocketAddr, packet: &[u8]) -> io::Result<()>;

    /// Ends the capture.
    ///
    /// # Errors
    /// The last packets cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}

/// Passes each SCTP packet of a run to a [`PacketSink`] when its host sends it. It does so whether or not the network
/// loses the packet. Packets of sealed flows are passed unencrypted.
///
/// Addresses are synthetic, because hosts of the simulator have no addresses. The sender of flow *f*, counted from 0,
/// has the address 10.*f*/256.*f*%256.*p* + 1 on path *p*. The receiver of flow *f* has 198.18.*f*/256.*f*%256 on all
/// paths.
#[derive(Debug)]
pub struct Packets {
    origin: Instant,
    /// Sender of each flow. The sender of each flow is the agent that sends first.
    senders: Vec<Option<AgentId>>,
    sink: Box<dyn PacketSink>,
    failed: Option<io::Error>,
    /// True when the sink has failed.
    broken: Arc<AtomicBool>,
}

impl Packets {
    /// Creates the capture of a run of `simulation`. `broken` becomes true when `sink` fails.
    pub fn new(simulation: &Simulation, sink: Box<dyn PacketSink>, broken: Arc<AtomicBool>) -> Self {
        Packets { origin: simulation.names().origin, senders: Vec::new(), sink, failed: None, broken }
    }

    /// Ends the capture. The caller calls it after the end of the run.
    ///
    /// # Errors
    /// Returns the error of the first packet that could not be written. The capture ends before this packet.
    pub fn finish(mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.sink.finish(), Err)
    }

    fn is_sender(&mut self, flow: FlowId, agent: AgentId) -> bool {
        let flow = flow.0 as usize;
        if self.senders.len() <= flow {
            self.senders.resize(flow + 1, None);
        }
        *self.senders[flow].get_or_insert(agent) == agent
    }
}

/// Addresses of the sender and the receiver of a path.
fn addresses(flow: u32, path: u8) -> [SocketAddr; 2] {
    let [high, low] = (flow as u16).to_be_bytes();
    let sender = Ipv4Addr::new(10, high, low, path.saturating_add(1));
    let receiver = Ipv4Addr::new(198, 18, high, low);
    [SocketAddr::new(sender.into(), PORTS[1]), SocketAddr::new(receiver.into(), PORTS[0])]
}

impl Recorder for Packets {
    fn sent(&mut self, now: Instant, from: AgentId, packet: &Packet) {
        let Some(bytes) = packet.body.sctp().filter(|bytes| !bytes.is_empty()) else { return };
        let is_sender = self.is_sender(packet.meta.flow, from);
        let [near, far] = addresses(packet.meta.flow.0, packet.meta.path);
        let (from, to) = if is_sender { (near, far) } else { (far, near) };
        if self.failed.is_none() {
            let written = self.sink.packet(now.saturating_since(self.origin), from, to, bytes);
            self.failed = written.err();
            self.broken.fetch_or(self.failed.is_some(), Ordering::Relaxed);
        }
    }

    fn offered(&mut self, _: Instant, _: DirectedLinkId, _: &PacketMeta, _: EnqueueOutcome) {}

    fn decided(&mut self, _: Instant, _: DirectedLinkId, _: &PacketMeta, _: EnqueueOutcome) {}

    fn arrived(&mut self, _: Instant, _: DirectedLinkId, _: &PacketMeta) {}

    fn event(&mut self, _: Instant, _: FlowId, _: AgentId, _: &TraceEvent) {}
}
