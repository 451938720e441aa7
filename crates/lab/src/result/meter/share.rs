//! Shares of flows in the traffic of a link.

use strandcast_proto::time::Instant;

use super::Window;
use super::flow::sink;
use crate::result::{Metric, Subject};

/// Measures each flow's share of the bytes that leave the transmitters of links.
#[derive(Clone, Debug)]
pub struct ShareMeter {
    /// Links, each with a direction.
    wires: Vec<(String, String)>,
    flows: Vec<String>,
    window: Window,
    /// Bytes by link direction and flow. The last entry of each direction is for packets that belong to no flow.
    bytes: Vec<u64>,
}

impl ShareMeter {
    /// Creates a meter of these links (name and direction) and these flows.
    pub fn new(wires: Vec<(String, String)>, flows: Vec<String>, window: Window) -> Self {
        let bytes = vec![0; wires.len() * (flows.len() + 1)];
        ShareMeter { wires, flows, window, bytes }
    }

    /// Records a packet. The last bit of the packet leaves the transmitter at `departs`, which may be in the future. If
    /// `flow` is not the number of a flow, the packet belongs to background load.
    ///
    /// # Panics
    /// Panics if there is no such direction of a link.
    pub fn departs(&mut self, departs: Instant, wire: usize, flow: usize, bytes: u32) {
        if self.window.contains(departs) {
            let columns = self.flows.len() + 1;
            self.bytes[wire * columns + flow.min(columns - 1)] += u64::from(bytes);
        }
    }

    /// Appends the flows' shares of each link to `out`.
    pub fn metrics(&self, out: &mut Vec<Metric>) {
        let seconds = self.window.seconds();
        for ((link, direction), bytes) in self.wires.iter().zip(self.bytes.chunks(self.flows.len() + 1)) {
            let all: u64 = bytes.iter().sum();
            for (flow, &bytes) in self.flows.iter().zip(bytes).filter(|(_, bytes)| **bytes > 0) {
                let (link, direction, flow) = (link.clone(), direction.clone(), flow.clone());
                let mut put = sink(Subject::Share { link, direction, flow }, out);
                put("served_bps", bytes as f64 * 8.0 / seconds);
                put("served_share", bytes as f64 / all as f64);
            }
        }
    }
}
