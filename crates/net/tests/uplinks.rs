//! A driver, plain and sealed, whose interfaces go down, return and change their address, in network
//! namespaces of this test: it does not touch the machine's network.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use strandcast_net::driver::{AssociationHandle, Client, ClientSeal, SealHooks, Server, ServerSeal, Uplink};
use strandcast_proto::association::{CloseReason, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::policy::{PathState, Scheme};
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::parse_spec;
use strandcast_seal::{Access, Grant, Peer, SecretKey, Token};
use strandcast_testing::namespaces::{ip, play};

/// The server's address, reached over both links, on neither's subnet.
const SERVER: &str = "203.0.113.1:9899";
/// Time until a change is noticed: one poll per second, and a busy machine.
const SOON: Duration = Duration::from_secs(8);

const NETWORK: &str = r#"
in_server ip addr add 203.0.113.1/32 dev lo
for i in 1 2; do
    ip link add up$i mtu 1380 type veth peer name down$i mtu 1380 netns $server
    ip addr add 10.79.$i.2/24 dev up$i
    ip link set up$i up
    in_server ip addr add 10.79.$i.1/24 dev down$i
    in_server ip link set down$i up
    ip route add default via 10.79.$i.1 dev up$i metric ${i}00
done
"#;

/// Runs without a test harness: one program plays three roles.
fn main() {
    match std::env::var("ROLE").as_deref() {
        Ok("server") => run(server()),
        Ok("client") => run(client()),
        _ => [false, true].into_iter().for_each(uplinks_come_and_go),
    }
}

fn run(role: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().expect("a runtime").block_on(role);
}

fn uplinks_come_and_go(sealed: bool) {
    play("uplinks_come_and_go", NETWORK, 50, &[("SEALED", if sealed { "yes" } else { "no" })]);
}

/// In a sealed round, returns the keys of both sides and their token.
fn keys() -> Option<([SecretKey; 2], Token)> {
    let sealed = std::env::var("SEALED").is_ok_and(|sealed| sealed == "yes");
    let keys = [SecretKey::from_bytes([1; 32]), SecretKey::from_bytes([2; 32])];
    sealed.then(|| (keys, Token::from_bytes([3; 32])))
}

fn scheme(seeds: &Seeds) -> Box<dyn Scheme> {
    parse_spec("cmt").expect("a preset").build(seeds)
}

fn config() -> EndpointConfig {
    let mut transport = TransportConfig::default();
    parse_spec("cmt").expect("a preset").tune(&mut transport);
    EndpointConfig { transport: Arc::new(transport), ..EndpointConfig::default() }
}

/// Echoes every message.
async fn server() {
    let endpoint = EndpointConfig { accept: Some(Arc::new(scheme)), ..config() };
    let listen = vec![SocketAddr::new([0, 0, 0, 0].into(), 9899)];
    let seal = keys().map(|([sender, identity], token)| {
        let grant = Grant { token, senders: [sender.public()].into(), open: false, once: false };
        let access = Access { grants: vec![grant], ..Access::default() };
        ServerSeal { identity, access, max_sessions: None, hooks: SealHooks::default() }
    });
    let mut listener = Server { endpoint, listen, seal, tap: None }.listen().expect("a free port");
    let association = listener.accept().await.expect("a client");
    while let Some(message) = association.recv().await {
        association.send(message.payload, SendOptions::default()).await.expect("open");
    }
    listener.driver().finished().await;
}

async fn client() {
    let remote = [SERVER.parse().expect("an address")];
    let uplink = |spec: &str| Uplink::new(spec.parse().expect("a path"), &remote);
    let uplinks = vec![uplink("if=up1"), uplink("if=up2")];
    let association = loop {
        let (uplinks, scheme) = (uplinks.clone(), scheme(&Seeds::new(1, 0)));
        let seal = keys().map(|([identity, receiver], token)| {
            let peer = Peer { key: receiver.public(), token };
            ClientSeal { identity, peer, hooks: SealHooks::default() }
        });
        let client = Client { endpoint: config(), uplinks, port: 5000, scheme, seal, tap: None };
        let association = client.connect().expect("both are up");
        // The server may start later.
        if association.connected().await.is_ok() {
            break association;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let a = &association;
    paths(a, "both at first", |p| p == ["up1 10.79.1.2", "up2 10.79.2.2"]).await;
    let all = a.snapshot().await.expect("open");
    // 1380 less IPv4 and UDP headers, the envelope, rounded down to whole words, and SCTP's header.
    let mtu = if keys().is_some() { (1380 - 20 - 8 - 29) / 4 * 4 - 12 } else { 1380 - 20 - 8 - 12 };
    assert!(all.paths.iter().all(|p| p.view.mtu == mtu), "the interface's MTU");
    echo(a, 1).await;

    ip("link set up2 down");
    paths(a, "one of two down", |p| p == ["up1 10.79.1.2"]).await;
    echo(a, 2).await;
    ip("link set up2 up");
    ip("route add default via 10.79.2.1 dev up2 metric 200");
    paths(a, "back again", |p| p == ["up1 10.79.1.2", "up2 10.79.2.2"]).await;
    echo(a, 3).await;

    ip("addr add 10.79.2.9/24 dev up2");
    ip("addr del 10.79.2.2/24 dev up2");
    // Removing the first address also removes the second one and the routes.
    let _ = Command::new("ip").args("addr add 10.79.2.9/24 dev up2".split(' ')).output();
    let _ = Command::new("ip").args("route add default via 10.79.2.1 dev up2 metric 200".split(' ')).output();
    paths(a, "another address", |p| p == ["up1 10.79.1.2", "up2 10.79.2.9"]).await;
    echo(a, 4).await;

    ip("link set up1 down");
    ip("link set up2 down");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let sending = tokio::spawn({
        let a = association.clone();
        async move { echo(&a, 5).await }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    ip("link set up2 up");
    ip("route add default via 10.79.2.1 dev up2 metric 200");
    sending.await.expect("answered");
    ip("link set up1 up");
    ip("route add default via 10.79.1.1 dev up1 metric 100");
    paths(a, "both after none", |p| p == ["up1 10.79.1.2", "up2 10.79.2.9"]).await;
    echo(a, 6).await;
    association.shutdown();
    let end = tokio::time::timeout(SOON, association.closed()).await;
    assert_eq!(end.expect("closed soon"), CloseReason::Shutdown);
}

/// Waits until the active paths, by name and local address, satisfy `wanted`.
async fn paths(association: &AssociationHandle, when: &str, wanted: impl Fn(&[String]) -> bool) {
    let end = tokio::time::Instant::now() + SOON;
    loop {
        let all = association.snapshot().await.expect("open");
        let active = all.paths.iter().filter(|p| p.view.state == PathState::Active);
        let mut named: Vec<String> = active.map(|p| format!("{} {}", p.name, p.tuple.local.ip())).collect();
        named.sort();
        if wanted(&named) {
            return;
        }
        assert!(tokio::time::Instant::now() < end, "{when}: {:#?}", all.paths);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Sends a hundred messages and expects them back, in order.
async fn echo(association: &AssociationHandle, round: u8) {
    for n in 0..100 {
        let payload = [round, n].repeat(2000).into();
        association.send(payload, SendOptions::default()).await.expect("open");
    }
    for n in 0..100 {
        let message = tokio::time::timeout(2 * SOON, association.recv()).await;
        let message = message.unwrap_or_else(|_| panic!("round {round}: no answer {n}")).expect("open");
        assert_eq!(message.payload[..2], [round, n]);
    }
}
