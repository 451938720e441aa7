//! Every preset over real sockets: three paths on loopback, two of them through links that delay, lose and reorder,
//! carry one stream in each direction unchanged.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use strandcast_net::driver::{AssociationHandle, Client, Listener, Server, Uplink};
use strandcast_net::emulate::{Relay, RelayConfig};
use strandcast_net::interface::PathSpec;
use strandcast_netem::link::{LinkConfig, Queue, Rate, Reorder};
use strandcast_netem::loss::LossModel;
use strandcast_netem::number::Number;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::association::{CloseReason, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::{Spec, parse_spec, presets};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Time limit on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
const MESSAGES: u64 = 300;

fn any_port() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

fn endpoint(spec: &Spec) -> EndpointConfig {
    let mut transport = TransportConfig::default();
    spec.tune(&mut transport);
    let spec = spec.clone();
    let accept = Arc::new(move |seeds: &Seeds| spec.build(seeds));
    EndpointConfig { transport: Arc::new(transport), accept: Some(accept), ..EndpointConfig::default() }
}

/// A link of 20 Mbit/s.
fn bad(name: &str, ms: u64, loss: f64, server: SocketAddr) -> Relay {
    let link = LinkConfig {
        rate: Rate::Constant(20_000_000),
        delay: Number::from(Duration::from_millis(ms)),
        queue: Queue::packets(100),
        losses: vec![LossModel::uniform(loss)],
        reorder: Some(Reorder { probability: 0.02, extra: Duration::from_millis(10) }),
        ..LinkConfig::default()
    };
    let network = PathNetwork { name: name.into(), forward: link.clone(), reverse: link };
    Relay::start(RelayConfig { listen: any_port(), server, network }, &Seeds::new(5, 0)).expect("a relay")
}

async fn connect(spec: &Spec, relays: &[Relay], server: SocketAddr) -> AssociationHandle {
    let to = relays.iter().map(Relay::local_addr).chain([server]);
    let path = PathSpec::address(any_port().ip());
    let uplinks = to.map(|to| Uplink::new(path.clone(), &[to])).collect();
    let scheme = spec.build(&Seeds::new(1, 0));
    let client = Client { endpoint: endpoint(spec), uplinks, port: 5000, scheme, seal: None, tap: None };
    let association = client.connect().expect("loopback can be bound");
    assert_eq!(association.connected().await, Ok(true), "{}", spec.preset.name);
    association
}

/// Message `n`: up to three packets long, with a separate pattern.
fn message(n: u64) -> Bytes {
    let len = 1 + n * 7919 % 4000;
    (0..len).map(|i| (n * 131 + i * 7) as u8).collect::<Vec<u8>>().into()
}

async fn write(association: &AssociationHandle) {
    for n in 0..MESSAGES {
        association.send(message(n), SendOptions::default()).await.expect("open");
    }
}

async fn read(association: &AssociationHandle, who: &str) {
    for n in 0..MESSAGES {
        let got = association.recv().await.unwrap_or_else(|| panic!("{who}: closed before message {n}"));
        assert!(got.payload == message(n), "{who}: message {n} differs");
    }
}

async fn delivers(spec: Spec) {
    let name = spec.preset.name;
    let server = Server { endpoint: endpoint(&spec), listen: vec![any_port()], seal: None, tap: None };
    let mut listener: Listener = server.listen().expect("loopback can be bound");
    let at = listener.driver().local_addrs()[0];
    let relays = [bad("near", 5, 0.01, at), bad("far", 40, 0.03, at)];
    let client = connect(&spec, &relays, at).await;
    let server = listener.accept().await.expect("the client is connected");
    let readers = [format!("{name}, client"), format!("{name}, server")];
    let both = async {
        tokio::join!(write(&client), write(&server), read(&client, &readers[0]), read(&server, &readers[1]))
    };
    timeout(LIMIT, both).await.unwrap_or_else(|_| panic!("{name}: not all delivered"));
    client.shutdown();
    let closed = timeout(LIMIT, client.closed()).await;
    assert_eq!(closed.ok(), Some(CloseReason::Shutdown), "{name}");
}

/// All concurrently: most of the time is spent waiting.
#[tokio::test]
async fn every_preset_delivers_both_ways() {
    let mut all = JoinSet::new();
    for preset in presets() {
        all.spawn(delivers(parse_spec(preset.name).expect("a preset")));
    }
    while let Some(done) = all.join_next().await {
        done.expect("it delivered");
    }
}
