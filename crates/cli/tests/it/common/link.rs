//! An emulated link before a receiver.

use std::net::SocketAddr;

use strandcast_net::emulate::{Relay, RelayConfig};
use strandcast_netem::link::LinkConfig;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::seeds::Seeds;

/// A link to the receiver on port `server` and one back, until the tests end.
pub fn link(server: u16, forward: LinkConfig, reverse: LinkConfig) -> Relay {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let network = PathNetwork { name: "emulated".into(), forward, reverse };
    let _inside = handle.enter();
    Relay::start(RelayConfig { listen: local(0), server: local(server), network }, &Seeds::new(1, 0)).unwrap()
}
