//! The setup of the demo: emulated links, and an association over all of them.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use strandcast::pairing::paired_in_memory;
use strandcast::transport::{TransportOptions, policies};
use strandcast_keys::catalog::Catalog;
use strandcast_net::driver::{AssociationHandle, Client, Listener, Server, Uplink};
use strandcast_net::emulate::{Direction, Relay, RelayConfig};
use strandcast_net::interface::PathSpec;
use strandcast_netem::topology::{PathNetwork, field, xu2015};
use strandcast_proto::policy::{PathState, PathView};
use strandcast_proto::seeds::Seeds;

use crate::args::{DemoArgs, NetworkName, SealArgs};
use crate::capture::Capture;
use crate::error::CliError;
use crate::transport;

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Time limit for the handshake and for all paths. The limit allows for several lost packets and their timeouts.
const SETUP: Duration = Duration::from_secs(20);

/// The state of the demo before the first message.
pub(super) struct DemoSetup {
    pub(super) networks: Vec<PathNetwork>,
    relays: Vec<Relay>,
    /// Minimum RTO of the sender.
    rto_min: Duration,
    pub(super) sender: AssociationHandle,
    pub(super) receiver: AssociationHandle,
    /// The path with the highest rate, which enters the black hole.
    pub(super) best: usize,
    /// True if the receiver's association has ended and all its data were read.
    pub(super) done: bool,
    /// The sender's association has no more events.
    pub(super) silent: bool,
    _listener: Listener,
}

impl DemoSetup {
    /// Sets up the links and the association. Returns when every path carries packets.
    ///
    /// # Errors
    /// [`CliError`].
    pub(super) async fn set(args: &DemoArgs, catalog: &dyn Catalog) -> Result<DemoSetup, CliError> {
        let networks = match args.network {
            NetworkName::Field => field(),
            NetworkName::Xu2015 => xu2015(),
        };
        let plan = transport::scheme(&args.scheme, catalog)?;
        let capture = Capture::open(args.pcap.as_deref(), &SealArgs::default())?;
        let options = TransportOptions::default();
        let endpoint = options.endpoint(&plan, true);
        let (client_seal, server_seal) = paired_in_memory()?;
        let server = Server { endpoint, listen: vec![LOOPBACK], seal: Some(server_seal), tap: None };
        let mut listener = server.listen().map_err(|e| transport::open_error(&e))?;
        let server = listener.driver().local_addrs()[0];
        let seeds = Seeds::new(args.seed, 0);
        let relay = |network: &PathNetwork| {
            Relay::start(RelayConfig { listen: LOOPBACK, server, network: network.clone() }, &seeds)
        };
        let relays: Result<Vec<Relay>, _> = networks.iter().map(relay).collect();
        let relays = relays.map_err(|e| CliError::Network(e.to_string()))?;
        let endpoint = options.endpoint(&plan, false);
        let rto_min = endpoint.transport.rto_min_strandcast.unwrap_or(endpoint.transport.rto_min);
        let uplinks = networks.iter().zip(&relays).map(|(network, relay)| {
            let spec = PathSpec::address(LOOPBACK.ip());
            Uplink { name: network.name.clone(), spec, remotes: vec![relay.local_addr()] }
        });
        let (uplinks, scheme) = (uplinks.collect(), policies(&plan)?);
        let (port, seal, tap) = (options.sctp_port, Some(client_seal), capture.tap());
        let client = Client { endpoint, uplinks, port, scheme, seal, tap };
        let sender = client.connect().map_err(|e| transport::open_error(&e))?;
        let setup = tokio::time::timeout(SETUP, connect(&sender, &mut listener, networks.len())).await;
        let receiver = setup.unwrap_or_else(|_| {
            Err(CliError::Peer("no association could be set up over the links".into()))
        })?;
        let rates = networks
            .iter()
            .enumerate()
            .map(|(i, n)| (n.forward.rate.mean_bps().map_or(u64::MAX, |bps| bps as u64), i));
        let best = rates.max().map_or(0, |(_, i)| i);
        Ok(DemoSetup {
            networks,
            relays,
            rto_min,
            sender,
            receiver,
            best,
            done: false,
            silent: false,
            _listener: listener,
        })
    }

    /// For each link, returns the time since the link last delivered a packet to the receiver.
    pub(super) fn quiet(&self) -> Vec<Option<Duration>> {
        self.relays.iter().map(|relay| relay.quiet(Direction::Forward)).collect()
    }

    /// Returns whether a verdict against a path was needless. It was needless if the link delivered a packet during the
    /// last RTO. `quiet` is the time since the link last delivered a packet.
    pub(super) fn needless(&self, quiet: Option<Duration>, path: &PathView) -> bool {
        let rto = path.rto_raw().unwrap_or_default().max(self.rto_min);
        quiet.is_some_and(|quiet| quiet <= rto)
    }

    /// Turns the black hole of the best link on or off, in both directions.
    pub(super) fn set_black_hole(&self, on: bool) {
        self.relays[self.best].set_black_hole(Direction::Forward, on);
        self.relays[self.best].set_black_hole(Direction::Reverse, on);
    }
}

/// Waits for both ends and for all paths. Path events during this time are not shown.
async fn connect(
    sender: &AssociationHandle,
    listener: &mut Listener,
    paths: usize,
) -> Result<AssociationHandle, CliError> {
    let gone = |what: String| CliError::Peer(format!("no association: {what}"));
    sender.connected().await.map_err(|reason| gone(format!("{reason:?}")))?;
    let receiver = listener.accept().await.ok_or_else(|| gone("the transport stopped".into()))?;
    let opened = async { while sender.event().await.is_some() {} };
    let opened = std::pin::pin!(opened);
    tokio::select! {
        () = opened => Err(gone("it ended".into())),
        all = all_active(sender, paths) => all.map(|()| receiver),
    }
}

async fn all_active(sender: &AssociationHandle, paths: usize) -> Result<(), CliError> {
    loop {
        let gone = || CliError::Peer("no association: it ended".into());
        let seen = sender.snapshot().await.ok_or_else(gone)?;
        if seen.paths.iter().filter(|p| p.view.state == PathState::Active).count() == paths {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
