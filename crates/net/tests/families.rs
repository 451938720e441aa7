//! A driver, plain and sealed, in network namespaces of this test. Its peer has addresses of both families;
//! some do not answer, and some disappear during the test.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use strandcast_net::driver::{AssociationHandle, Client, ClientSeal, SealHooks, Server, ServerSeal, Uplink};
use strandcast_net::resolve::resolve;
use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::policy::{PathState, Scheme};
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::parse_spec;
use strandcast_seal::{Access, Grant, Peer, SecretKey, Token};
use strandcast_testing::namespaces::{in_server, ip, play};

/// The peer's addresses: IPv6 works over one link only, and each IPv4 address over one link.
const HOSTS: [&str; 3] = ["[fd00::2]:9899", "10.90.0.2:9899", "10.91.0.2:9899"];
/// Time until a change is noticed on a busy machine.
const SOON: Duration = Duration::from_secs(8);

const NETWORK: &str = r#"
for i in 0 1; do
    ip link add a$i type veth peer name b$i netns $server
    ip addr add 10.9$i.0.1/24 dev a$i
    ip addr add fd0$i::1/64 dev a$i nodad
    in_server ip addr add 10.9$i.0.2/24 dev b$i
    in_server ip addr add fd0$i::2/64 dev b$i nodad
    in_server ip addr add fe80::2/64 dev b$i nodad
    in_server ip link set b$i up
    ip link set a$i up
done
"#;

/// Runs without a test harness: one program plays three roles.
fn main() {
    match std::env::var("ROLE").as_deref() {
        Ok("server") => run(server()),
        Ok("client") => run(client()),
        _ => [false, true].into_iter().for_each(each_path_finds_an_address),
    }
}

fn run(role: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().expect("a runtime").block_on(role);
}

fn each_path_finds_an_address(sealed: bool) {
    play("each_path_finds_an_address", NETWORK, 80, &[("SEALED", if sealed { "yes" } else { "no" })]);
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
    let mut transport = TransportConfig::live();
    parse_spec("cmt").expect("a preset").tune(&mut transport);
    EndpointConfig { transport: Arc::new(transport), ..EndpointConfig::default() }
}

/// Echoes every message of each client.
async fn server() {
    let endpoint = EndpointConfig { accept: Some(Arc::new(scheme)), ..config() };
    let listen = vec!["[::]:9899".parse().expect("an address")];
    let seal = keys().map(|([sender, identity], token)| {
        let grant = Grant { token, senders: [sender.public()].into(), open: false, once: false };
        let access = Access { grants: vec![grant], ..Access::default() };
        ServerSeal { identity, access, max_sessions: None, hooks: SealHooks::default() }
    });
    let mut listener = Server { endpoint, listen, seal, tap: None }.listen().expect("a free port");
    while let Some(association) = listener.accept().await {
        tokio::spawn(async move {
            while let Some(message) = association.recv().await {
                let _ = association.send(message.payload, SendOptions::default()).await;
            }
        });
    }
}

async fn connect(remotes: &[SocketAddr]) -> AssociationHandle {
    let uplink = |spec: &str| Uplink::new(spec.parse().expect("a path"), remotes);
    loop {
        let uplinks = vec![uplink("if=a0"), uplink("if=a1")];
        let seal = keys().map(|([identity, receiver], token)| {
            let peer = Peer { key: receiver.public(), token };
            ClientSeal { identity, peer, hooks: SealHooks::default() }
        });
        let (endpoint, scheme) = (config(), scheme(&Seeds::new(1, 0)));
        let client = Client { endpoint, uplinks, port: 5000, scheme, seal, tap: None };
        // Links and server may start later.
        if let Ok(association) = client.connect()
            && tokio::time::timeout(SOON, association.connected()).await.is_ok_and(|done| done.is_ok())
        {
            return association;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn client() {
    let remotes: Vec<SocketAddr> = HOSTS.iter().map(|host| host.parse().expect("an address")).collect();
    let association = connect(&remotes).await;
    let a = &association;
    // IPv6 does not work over a1, which uses IPv4 at once.
    paths(a, "at first", |p| p.len() == 2 && p[1] == "a1 10.91.0.2").await;
    echo(a, 1).await;

    // The destination of a0's path falls silent: the address stays, but no datagram arrives.
    let dead = at(a, "a0").await;
    in_server(&remove(dead));
    let silent = Instant::now();
    while at(a, "a0").await == dead {
        // Silence is only detected on a path that carries data.
        echo(a, 2).await;
        assert!(silent.elapsed() < SOON, "a0 stays where nothing answers");
    }
    println!("a0 is elsewhere after {:?}", silent.elapsed());
    paths(a, "another address of a0", |p| p.len() == 2).await;
    in_server(&add(dead));

    // Both links lose the family in use, in turn.
    for (round, family, other) in [(3, "-4", "fd0"), (5, "-6", "10.9"), (7, "-4", "fd0")] {
        for i in 0..2 {
            let address =
                if family == "-4" { format!("fd0{i}::1/64 nodad") } else { format!("10.9{i}.0.1/24") };
            // An address that was present all the time stays.
            ip_may(&format!("addr add {address} dev a{i}"));
        }
        tokio::time::sleep(Duration::from_millis(1500)).await;
        for i in 0..2 {
            ip(&format!("{family} addr flush dev a{i} scope global"));
        }
        let flushed = Instant::now();
        echo(a, round).await;
        println!("{family} flushed: echoed after {:?}", flushed.elapsed());
        assert!(flushed.elapsed() < Duration::from_secs(5), "{:?}", flushed.elapsed());
        paths(a, family, |p| !p.is_empty() && p.iter().all(|path| path.contains(other))).await;
        echo(a, round + 1).await;
    }
    association.abort("done");

    // A link-local address, both with and without its zone.
    for host in ["fe80::2%a1", "fe80::2"] {
        let remotes = resolve(host, 9899).await.expect("a zone of this machine");
        let association = connect(&remotes).await;
        let wanted: &[&str] =
            if host.contains('%') { &["a1 fe80::2"] } else { &["a0 fe80::2", "a1 fe80::2"] };
        paths(&association, host, |p| p == wanted).await;
        echo(&association, 9).await;
        association.abort("done");
    }
}

fn with(name: &str, ip: std::net::IpAddr) -> String {
    format!("{name} {ip}")
}

fn prefix(ip: std::net::IpAddr) -> u8 {
    if ip.is_ipv4() { 24 } else { 64 }
}

fn remove(ip: std::net::IpAddr) -> String {
    format!("addr del {ip}/{} dev b0", prefix(ip))
}

fn add(ip: std::net::IpAddr) -> String {
    format!("addr add {ip}/{} dev b0", prefix(ip))
}

/// Destination of an uplink's path.
async fn at(association: &AssociationHandle, name: &str) -> std::net::IpAddr {
    let all = association.snapshot().await.expect("open");
    all.paths.iter().find(|p| p.name == name).expect("it has a path").tuple.remote.ip()
}

/// Waits until the active paths, by name and remote address, satisfy `wanted`. Returns the time it took.
async fn paths(association: &AssociationHandle, when: &str, wanted: impl Fn(&[String]) -> bool) -> Duration {
    let begun = Instant::now();
    loop {
        let all = association.snapshot().await.expect("open");
        let active = all.paths.iter().filter(|p| p.view.state == PathState::Active);
        let mut named: Vec<String> = active.map(|p| with(&p.name, p.tuple.remote.ip())).collect();
        named.sort();
        if wanted(&named) {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < SOON, "{when}: {:#?}", all.paths);
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

/// Runs such a command, which may already be done.
fn ip_may(args: &str) {
    let _ = Command::new("ip").args(args.split(' ')).output();
}
