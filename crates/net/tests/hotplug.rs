//! A driver whose interfaces come, go, are renamed and renumbered while it runs, in network namespaces of this test: it does not
//! touch the machine's network.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use strandcast_net::driver::{AssociationHandle, Client, Server, Snapshot, Uplink};
use strandcast_net::interface::InterfaceEvents;
use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::policy::{LinkId, PathState, Scheme, Tariff};
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::parse_spec;
use strandcast_testing::namespaces::{in_server, ip, play};

/// The peer's addresses, on no link's subnet.
const HOSTS: [&str; 2] = ["203.0.113.1:9899", "[fd99::1]:9899"];
/// Time until data go over a link that has come, on a busy machine.
const SOON: Duration = Duration::from_secs(3);

const NETWORK: &str = r#"
in_server ip addr add 203.0.113.1/32 dev lo
in_server ip addr add fd99::1/128 dev lo
"#;

/// Runs without a test harness: one program plays three roles.
fn main() {
    match std::env::var("ROLE").as_deref() {
        Ok("server") => run(server()),
        Ok("client") => run(client()),
        _ => ["if=*", "if=modem*"].into_iter().for_each(|wish| {
            play("interfaces_come_and_go", NETWORK, 80, &[("WISH", wish)]);
        }),
    }
}

fn run(role: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().expect("a runtime").block_on(role);
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
    let mut listener = Server { endpoint, listen, seal: None, tap: None }.listen().expect("a free port");
    while let Some(association) = listener.accept().await {
        tokio::spawn(async move {
            while let Some(message) = association.recv().await {
                let _ = association.send(message.payload, SendOptions::default()).await;
            }
        });
    }
}

fn wish() -> Uplink {
    let remotes: Vec<SocketAddr> = HOSTS.iter().map(|host| host.parse().expect("an address")).collect();
    let wish = std::env::var("WISH").expect("the test says it");
    Uplink::new(wish.parse().expect("a path"), &remotes)
}

async fn connect() -> AssociationHandle {
    loop {
        let (endpoint, scheme) = (config(), scheme(&Seeds::new(1, 0)));
        let client = Client { endpoint, uplinks: vec![wish()], port: 5000, scheme, seal: None, tap: None };
        if let Ok(association) = client.connect()
            && tokio::time::timeout(SOON, association.connected()).await.is_ok_and(|done| done.is_ok())
        {
            return association;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Plugs a modem in: its interface, its address and its route in the main table.
fn plug(i: u8, name: &str) {
    attach(i, name);
    number(i, name, 2);
}

/// The same without address and route.
fn attach(i: u8, name: &str) {
    in_server(&format!("link add d{i} type veth peer name new{i}"));
    in_server(&format!("addr add 10.70.{i}.1/24 dev d{i}"));
    in_server(&format!("addr add fd7{i}::1/64 dev d{i} nodad"));
    in_server(&format!("link set d{i} up"));
    in_server(&format!("link set new{i} netns {}", std::process::id()));
    ip(&format!("link set new{i} name {name}"));
    ip(&format!("link set {name} up"));
}

fn number(i: u8, name: &str, host: u8) {
    ip(&format!("addr add 10.70.{i}.{host}/24 dev {name}"));
    ip(&format!("route add default via 10.70.{i}.1 dev {name} metric {i}00"));
}

/// Each kind of change is announced, so that links follow without waiting for the next look.
async fn changes_are_announced() {
    let mut events = InterfaceEvents::open();
    let changes = [
        "link add probe type veth peer name probed",
        "link set probe up",
        "addr add 10.70.9.2/24 dev probe",
        "link set probed up",
        "route add 10.71.0.0/16 via 10.70.9.1 dev probe",
        "rule add from 10.70.9.2 table 9",
        "rule del from 10.70.9.2 table 9",
        "link del probe",
    ];
    for change in changes {
        // Consequences of the change before.
        tokio::time::sleep(Duration::from_millis(50)).await;
        poll_fn(|cx| Poll::Ready(events.poll(cx))).await;
        ip(change);
        let announced = poll_fn(|cx| if events.poll(cx) { Poll::Ready(()) } else { Poll::Pending });
        assert!(tokio::time::timeout(SOON, announced).await.is_ok(), "{change} is not announced");
    }
}

async fn client() {
    changes_are_announced().await;
    plug(1, "modem1");
    let association = connect().await;
    let (first, second) = they_come_and_are_renamed(&association).await;
    they_return(&association, first, second).await;
    association.abort("done");
}

async fn they_come_and_are_renamed(a: &AssociationHandle) -> (LinkId, LinkId) {
    paths(a, "at first", &["modem1 10.70.1.2"]).await;
    let first = link(a, "modem1").await;
    echo(a, 1).await;

    // A second modem, whose costs were known before it came.
    let tariff = Tariff { class: 2, left: Some(5_000_000), ..Tariff::default() };
    a.set_tariff("modem2", tariff).await.expect("open");
    plug(2, "modem2");
    paths(a, "a second modem", &["modem1 10.70.1.2", "modem2 10.70.2.2"]).await;
    let second = link(a, "modem2").await;
    let seen = a.snapshot().await.expect("open");
    let costs: Vec<_> =
        seen.paths.iter().filter(|p| p.name == "modem2").map(|p| p.view.tariff.class).collect();
    assert_eq!(costs, [2]);
    echo(a, 2).await;

    // Another address.
    ip("addr flush dev modem2");
    number(2, "modem2", 7);
    paths(a, "renumbered", &["modem1 10.70.1.2", "modem2 10.70.2.7"]).await;
    echo(a, 3).await;

    // Another name: the link remains.
    ip("link set modem2 down");
    ip("link set modem2 name modem9");
    ip("link set modem9 up");
    ip("route add default via 10.70.2.1 dev modem9 metric 200");
    paths(a, "renamed", &["modem1 10.70.1.2", "modem9 10.70.2.7"]).await;
    assert_eq!(link(a, "modem9").await, second);
    // Even if nothing asks for its new name.
    ip("link set modem9 down");
    ip("link set modem9 name other");
    ip("link set other up");
    ip("route add default via 10.70.2.1 dev other metric 200");
    paths(a, "renamed to a name that no wish has", &["modem1 10.70.1.2", "other 10.70.2.7"]).await;
    assert_eq!(link(a, "other").await, second);
    echo(a, 4).await;
    (first, second)
}

async fn they_return(a: &AssociationHandle, first: LinkId, second: LinkId) {
    // Unplugged and plugged in again: another interface of the same name continues the link.
    ip("link del modem1");
    paths(a, "unplugged", &["other 10.70.2.7"]).await;
    echo(a, 5).await;
    plug(1, "modem1");
    paths(a, "plugged in again", &["modem1 10.70.1.2", "other 10.70.2.7"]).await;
    assert_eq!(link(a, "modem1").await, first);
    echo(a, 6).await;

    // A route in a table of its own, which a rule leads to by the source, counts; without the rule it does not.
    attach(3, "modem3");
    ip("addr add 10.70.3.2/24 dev modem3");
    ip("route add default via 10.70.3.1 dev modem3 table 103");
    left_out(a, "modem3", "no rule leads to the one in table 103").await;
    ip("rule add from 10.70.3.2 table 103");
    paths(a, "a rule", &["modem1 10.70.1.2", "modem3 10.70.3.2", "other 10.70.2.7"]).await;
    echo(a, 7).await;
    ip("rule del from 10.70.3.2 table 103");
    paths(a, "no rule", &["modem1 10.70.1.2", "other 10.70.2.7"]).await;
    ip("link del modem3");

    // The other family, and back.
    ip("addr flush dev modem1");
    left_out(a, "modem1", "modem1").await;
    ip("addr add fd71::2/64 dev modem1 nodad");
    ip("route add default via fd71::1 dev modem1 metric 100");
    paths(a, "IPv6", &["modem1 fd71::2", "other 10.70.2.7"]).await;
    assert_eq!(link(a, "modem1").await, first);
    echo(a, 8).await;
    ip("-6 addr flush dev modem1 scope global");
    number(1, "modem1", 4);
    paths(a, "IPv4 again", &["modem1 10.70.1.4", "other 10.70.2.7"]).await;
    assert_eq!(link(a, "other").await, second);
    echo(a, 9).await;

    // Unplugged, and back under a name that no wish has: the hardware address identifies the link.
    ip("link set other address 02:00:00:00:00:02");
    // Interfaces are listed at least once per second.
    tokio::time::sleep(SOON / 2).await;
    paths(a, "another address", &["modem1 10.70.1.4", "other 10.70.2.7"]).await;
    echo(a, 10).await;
    ip("link del other");
    paths(a, "unplugged again", &["modem1 10.70.1.4"]).await;
    attach(2, "back");
    ip("link set back address 02:00:00:00:00:02");
    number(2, "back", 8);
    paths(a, "back under another name", &["back 10.70.2.8", "modem1 10.70.1.4"]).await;
    assert_eq!(link(a, "back").await, second);
    echo(a, 11).await;
}

/// The link with this name.
async fn link(association: &AssociationHandle, name: &str) -> LinkId {
    let seen = association.snapshot().await.expect("open");
    let mut links = seen.links.iter().filter(|link| link.name == name).filter_map(|link| link.id);
    links.next().unwrap_or_else(|| panic!("{name} is not among {:?}", seen.links))
}

/// Waits until an interface is left out with this reason.
async fn left_out(association: &AssociationHandle, name: &str, why: &str) {
    let reason = |seen: &Snapshot| {
        let why = seen.links.iter().filter(|link| link.name == name).find_map(|link| link.why.clone());
        why.map(|why| why.to_string())
    };
    until(association, name, |seen| reason(seen).is_some_and(|reason| reason.contains(why))).await;
}

/// Waits until these are the active paths, by name and local address.
async fn paths(association: &AssociationHandle, when: &str, wanted: &[&str]) {
    let took = until(association, when, |seen| {
        let active = seen.paths.iter().filter(|p| p.view.state == PathState::Active);
        let mut named: Vec<String> = active.map(|p| format!("{} {}", p.name, p.tuple.local.ip())).collect();
        named.sort();
        named == wanted
    });
    println!("{when}: {:?}", took.await);
}

async fn until(association: &AssociationHandle, when: &str, wanted: impl Fn(&Snapshot) -> bool) -> Duration {
    let begun = Instant::now();
    loop {
        let seen = association.snapshot().await.expect("open");
        if wanted(&seen) {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < SOON, "{when}: {:#?} {:#?}", seen.paths, seen.links);
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
        let message = tokio::time::timeout(4 * SOON, association.recv()).await;
        let message = message.unwrap_or_else(|_| panic!("round {round}: no answer {n}")).expect("open");
        assert_eq!(message.payload[..2], [round, n]);
    }
}
