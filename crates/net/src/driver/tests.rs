//! Association handles over loopback sockets.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use strandcast_proto::association::{CloseReason, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{EndpointConfig, SchemeFactory};
use strandcast_proto::policy::{
    Estimate, LinkSample, PathEstimator, PathId, PathState, Policy, Scheme, Signal, View,
};
use strandcast_proto::rfc;
use strandcast_testing::plain;

use super::*;
use crate::interface::PathSpec;
use crate::monitor::{Monitor, Source, Station};

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn listen() -> Listener {
    let accept: SchemeFactory = Arc::new(|_| plain::simple());
    let endpoint = EndpointConfig { accept: Some(accept), ..EndpointConfig::default() };
    Server { endpoint, listen: vec![LOOPBACK], seal: None, tap: None }
        .listen()
        .expect("loopback can be bound")
}

fn uplink(to: SocketAddr) -> Uplink {
    let spec = PathSpec::address(LOOPBACK.ip());
    Uplink::new(spec, &[to])
}

fn connect(to: SocketAddr, paths: usize) -> AssociationHandle {
    connect_by(plain::simple(), to, paths)
}

fn connect_by(scheme: Box<dyn Scheme>, to: SocketAddr, paths: usize) -> AssociationHandle {
    let uplinks = vec![uplink(to); paths];
    let client =
        Client { endpoint: EndpointConfig::default(), uplinks, port: 5000, scheme, seal: None, tap: None };
    client.connect().expect("loopback can be bound")
}

async fn pair(paths: usize) -> (AssociationHandle, AssociationHandle, Listener) {
    let mut listener = listen();
    let client = connect(listener.driver().local_addrs()[0], paths);
    assert_eq!(client.connected().await, Ok(true));
    let server = listener.accept().await.expect("the client is connected");
    (client, server, listener)
}

#[tokio::test]
async fn messages_go_both_ways_and_the_last_arrive_before_closing() {
    let (client, server, _listener) = pair(2).await;
    let big = Bytes::from(vec![7; 100_000]);
    client.send(big.clone(), SendOptions::default()).await.unwrap();
    assert_eq!(server.recv().await.unwrap().payload, big);
    for n in 0..1000u32 {
        server.send(n.to_be_bytes().to_vec().into(), SendOptions::default()).await.unwrap();
    }
    server.shutdown();
    assert!(matches!(server.try_send(big.clone(), SendOptions::default()), Err(SendFailed::Closed(_))));
    for n in 0..1000u32 {
        assert_eq!(client.recv().await.unwrap().payload, n.to_be_bytes()[..]);
    }
    assert_eq!(client.recv().await, None);
    assert_eq!(
        (client.closed().await, server.closed().await),
        (CloseReason::Shutdown, CloseReason::Shutdown)
    );
    let last = server.snapshot().await.expect("the final statistics are kept");
    assert_eq!((last.stats.messages_sent, last.stats.messages_acked), (1000, 1000));
}

#[tokio::test]
async fn a_slow_reader_blocks_the_sender_and_loses_nothing() {
    let (client, server, _listener) = pair(1).await;
    let sender = client.clone();
    let sending = tokio::spawn(async move {
        for n in 0..10_000u64 {
            let payload: Bytes = n.to_be_bytes().repeat(100).into();
            sender.send(payload, SendOptions::default()).await.unwrap();
        }
        sender.shutdown();
    });
    // Eight megabytes exceed send buffer, receive buffer, inbox and outbox together.
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(!sending.is_finished());
    let (mut messages, mut next) = (Vec::new(), 0u64);
    while server.recv_many(&mut messages).await > 0 {
        for message in messages.drain(..) {
            assert_eq!(message.payload[..8], next.to_be_bytes());
            next += 1;
        }
    }
    assert_eq!(next, 10_000);
    sending.await.unwrap();
}

#[tokio::test]
async fn dropping_all_handles_closes_after_delivery() {
    let (client, server, _listener) = pair(1).await;
    for _ in 0..100 {
        client.send(Bytes::from_static(&[1; 1000]), SendOptions::default()).await.unwrap();
    }
    drop(client);
    let mut got = 0;
    while server.recv().await.is_some() {
        got += 1;
    }
    assert_eq!((got, server.closed().await), (100, CloseReason::Shutdown));
}

#[tokio::test]
async fn the_reason_of_an_abort_reaches_the_peer() {
    let (client, server, _listener) = pair(1).await;
    client.abort("enough");
    assert_eq!(client.closed().await, CloseReason::Aborted);
    assert!(matches!(server.closed().await, CloseReason::PeerAborted(words) if words.contains("enough")));
}

#[tokio::test]
async fn a_stopped_driver_ends_everything() {
    let (client, server, mut listener) = pair(1).await;
    server.driver().stop();
    assert_eq!(server.recv().await, None);
    assert_eq!(server.closed().await, CloseReason::Aborted);
    assert!(server.snapshot().await.is_none());
    assert!(listener.accept().await.is_none());
    listener.driver().finished().await;
    client.driver().stop();
}

#[tokio::test]
async fn associations_are_refused_after_the_listener_is_dropped() {
    let listener = listen();
    let to = listener.driver().local_addrs()[0];
    drop(listener);
    let client = connect(to, 1);
    assert!(matches!(client.closed().await, CloseReason::PeerAborted(_)));
}

/// Closes the socket of a listener, as a system error does, and occupies its port until `taken` is dropped.
async fn deafen(
    listener: &Listener,
    taken: &Arc<Mutex<Option<std::net::UdpSocket>>>,
    port: Option<SocketAddr>,
) {
    let taken = Arc::clone(taken);
    let begin = move |core: &mut core::Core, _| {
        let error = std::io::Error::from_raw_os_error(libc::EBADF);
        core.sockets.iter_mut().for_each(|slot| slot.broke(&error));
        *taken.lock().unwrap() = port.map(|at| std::net::UdpSocket::bind(at).expect("the port is free"));
    };
    listener.driver().call(begin).await.unwrap();
}

/// Waits for the next events of a listener.
async fn heard_of(listener: &Listener, number: usize) -> Vec<ListenEvent> {
    let (mut all, end) = (Vec::new(), tokio::time::Instant::now() + Duration::from_secs(8));
    while all.len() < number {
        assert!(tokio::time::Instant::now() < end, "{all:?}");
        all.extend(listener.driver().listen_events().await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    all
}

#[tokio::test]
async fn a_listener_whose_socket_fails_listens_again_and_loses_no_association() {
    let (client, server, mut listener) = pair(1).await;
    let (address, taken) = (listener.driver().local_addrs()[0], Arc::default());
    deafen(&listener, &taken, None).await;
    client.send(Bytes::from_static(b"still here"), SendOptions::default()).await.unwrap();
    assert_eq!(server.recv().await.unwrap().payload, b"still here"[..]);
    let other = connect(address, 1);
    assert_eq!(other.connected().await, Ok(true));
    assert!(listener.accept().await.is_some());
    let why = std::io::Error::from_raw_os_error(libc::EBADF).to_string();
    let expected = [ListenEvent::Lost { address, why }, ListenEvent::Restored { address }];
    assert_eq!(heard_of(&listener, 2).await, expected);
}

#[tokio::test]
async fn a_listener_that_cannot_listen_again_tries_each_second_and_says_so() {
    let (client, _server, listener) = pair(1).await;
    let (address, taken) = (listener.driver().local_addrs()[0], Arc::default());
    deafen(&listener, &taken, Some(address)).await;
    let events = heard_of(&listener, 3).await;
    assert!(matches!(events[0], ListenEvent::Lost { .. }), "{events:?}");
    let failed = |event: &ListenEvent, least: Duration| match event {
        ListenEvent::Failed { address: at, why, lasts } => {
            assert!(why.contains("in use") && *at == address && *lasts >= least, "{event:?}");
        }
        other => panic!("{other:?}"),
    };
    failed(&events[1], Duration::ZERO);
    failed(&events[2], Duration::from_millis(990));
    *taken.lock().unwrap() = None;
    let events = heard_of(&listener, 1).await;
    assert_eq!(events.last(), Some(&ListenEvent::Restored { address }));
    client.abort("done");
}

/// Persistent failures to receive: the socket is tried rarely, and replaced after a second.
#[tokio::test]
async fn a_socket_that_only_fails_is_left_alone_and_replaced() {
    let listener = listen();
    let fails = |core: &mut core::Core, now| {
        let slot = core.sockets.iter_mut().next().unwrap();
        let (memory, later) = (std::io::Error::from_raw_os_error(libc::ENOMEM), Duration::from_millis(900));
        slot.cannot_receive(now, &memory);
        assert!(slot.socket.is_some());
        slot.cannot_receive(now + later, &memory);
        assert!(slot.socket.is_some(), "for a moment it is endured");
        slot.cannot_receive(now + 2 * later, &memory);
        assert!(slot.socket.is_none());
    };
    listener.driver().call(fails).await.unwrap();
    assert!(matches!(
        heard_of(&listener, 2).await[..],
        [ListenEvent::Lost { .. }, ListenEvent::Restored { .. }]
    ));
    let client = connect(listener.driver().local_addrs()[0], 1);
    assert_eq!(client.connected().await, Ok(true));
}

/// A listener is deaf while its socket is closed or fails, but not while it is open without arrivals.
#[tokio::test]
async fn a_listener_that_is_idle_is_not_deaf() {
    let listener = listen();
    let fails = |core: &mut core::Core, now| {
        let error = std::io::Error::from_raw_os_error(libc::EBADF);
        let mut lasted = Vec::new();
        // The first failure after it has been open for a long time.
        for seconds in [20, 29, 38] {
            core.sockets.iter_mut().for_each(|slot| slot.broke(&error));
            core.sockets.listen_again(now + Duration::from_secs(seconds));
            lasted.extend(core.sockets.events.drain(..).map(|event| match event {
                ListenEvent::Failed { lasts, .. } => Some(lasts),
                ListenEvent::Lost { .. } | ListenEvent::Restored { .. } => None,
            }));
        }
        let zero = Some(Duration::ZERO);
        assert_eq!(lasted, [None, None, zero, None, zero, None], "lost and restored three times");
    };
    listener.driver().call(fails).await.unwrap();
}

/// Sends and receives one message.
async fn exchange(from: &AssociationHandle, to: &AssociationHandle, payload: &'static [u8]) {
    from.send(Bytes::from_static(payload), SendOptions::default()).await.unwrap();
    let got = tokio::time::timeout(Duration::from_secs(8), to.recv()).await.expect("it goes on").unwrap();
    assert_eq!(got.payload, payload);
}

/// The local addresses of an association's paths that are in use.
async fn in_use(association: &AssociationHandle) -> Vec<SocketAddr> {
    let seen = association.snapshot().await.unwrap();
    let active = seen.paths.iter().filter(|p| p.view.state == PathState::Active);
    active.map(|p| p.tuple.local).collect()
}

#[tokio::test]
async fn a_listing_of_interfaces_that_fails_closes_no_path() {
    let (client, server, _listener) = pair(2).await;
    exchange(&client, &server, b"before").await;
    while in_use(&client).await.len() < 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let before = in_use(&client).await;
    let fail = |core: &mut core::Core, _| {
        core.interfaces.list = || Err(std::io::Error::from_raw_os_error(libc::EMFILE));
    };
    client.driver().call(fail).await.unwrap();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    exchange(&client, &server, b"meanwhile").await;
    assert_eq!(in_use(&client).await, before);
    client.driver().call(|core, _| core.interfaces.list = crate::interface::interfaces).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1200)).await;
    exchange(&client, &server, b"after").await;
    assert_eq!(in_use(&client).await, before);
}

#[tokio::test]
async fn an_address_that_one_list_lacks_is_not_gone() {
    let (client, server, _listener) = pair(1).await;
    let before = in_use(&client).await;
    let look = |list: fn() -> std::io::Result<Vec<crate::interface::Interface>>| {
        move |core: &mut core::Core, now| {
            core.interfaces.list = list;
            core.reconcile_interfaces(now);
            core.interfaces.list = crate::interface::interfaces;
            core.sockets.slot(0).socket.is_some()
        }
    };
    // The path is bound to an address of the machine that no interface then has.
    assert!(client.driver().call(look(|| Ok(Vec::new()))).await.unwrap(), "the first list");
    assert!(client.driver().call(look(crate::interface::interfaces)).await.unwrap());
    assert!(client.driver().call(look(|| Ok(Vec::new()))).await.unwrap(), "again the first");
    exchange(&client, &server, b"on").await;
    assert_eq!(in_use(&client).await, before);
    let gone = |core: &mut core::Core, now| {
        core.interfaces.list = || Ok(Vec::new());
        core.reconcile_interfaces(now);
        core.reconcile_interfaces(now);
        core.sockets.slot(0).socket.is_some()
    };
    assert!(!client.driver().call(gone).await.unwrap(), "two lists are evidence");
}

/// An address of the loopback that accepts every datagram and never answers.
fn silent(ip: &str) -> (std::net::UdpSocket, SocketAddr) {
    let socket = std::net::UdpSocket::bind((ip, 0)).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// A listener on all addresses of both families.
fn listen_everywhere() -> (Listener, u16) {
    let accept: SchemeFactory = Arc::new(|_| plain::simple());
    let endpoint = EndpointConfig { accept: Some(accept), ..EndpointConfig::default() };
    let listen = vec![SocketAddr::new(std::net::Ipv6Addr::UNSPECIFIED.into(), 0)];
    let listener = Server { endpoint, listen, seal: None, tap: None }.listen().expect("a free port");
    let port = listener.driver().local_addrs()[0].port();
    (listener, port)
}

/// An uplink over the loopback, for either family.
fn over_loopback(remotes: &[SocketAddr]) -> Uplink {
    Uplink::new(PathSpec::interface("lo"), remotes)
}

fn client_of(uplinks: Vec<Uplink>) -> AssociationHandle {
    let transport = Arc::new(TransportConfig::live());
    let endpoint = EndpointConfig { transport, ..EndpointConfig::default() };
    let client = Client { endpoint, uplinks, port: 5000, scheme: plain::simple(), seal: None, tap: None };
    client.connect().expect("loopback can be bound")
}

#[tokio::test]
async fn each_uplink_connects_to_the_first_address_that_answers() {
    let (mut listener, port) = listen_everywhere();
    let (silence, mute) = silent("127.0.0.9");
    let remotes = [mute, SocketAddr::new("::1".parse().unwrap(), port), SocketAddr::new(LOOPBACK.ip(), port)];
    let client = client_of(vec![over_loopback(&remotes), over_loopback(&remotes)]);
    let begun = tokio::time::Instant::now();
    assert_eq!(client.connected().await, Ok(true));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let server = listener.accept().await.unwrap();
    exchange(&client, &server, b"there").await;
    // One path each; unanswered ones are closed.
    let end = tokio::time::Instant::now() + Duration::from_secs(5);
    loop {
        let seen = client.snapshot().await.unwrap();
        let open =
            client.driver().call(|core, _| core.sockets.iter_mut().filter(|s| s.socket.is_some()).count());
        let settled =
            seen.paths.len() == 2 && seen.paths.iter().all(|p| p.confirmed) && open.await == Some(2);
        if settled {
            break;
        }
        assert!(tokio::time::Instant::now() < end, "{:#?}", seen.paths);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    exchange(&client, &server, b"and there").await;
    drop(silence);
}

/// More addresses than are tried at a time; only the last one answers.
#[tokio::test]
async fn all_addresses_get_their_turn() {
    let (mut listener, port) = listen_everywhere();
    let one = SocketAddr::new(LOOPBACK.ip(), port);
    let mutes: Vec<_> = (0..6).map(|i| silent(&format!("127.0.0.{}", 20 + i))).collect();
    let mut remotes: Vec<SocketAddr> = mutes.iter().map(|(_, at)| *at).collect();
    remotes.push(SocketAddr::new("::1".parse().unwrap(), port));
    let client = client_of(vec![over_loopback(&[one]), over_loopback(&remotes)]);
    assert_eq!(client.connected().await, Ok(true));
    let _server = listener.accept().await.unwrap();
    let end = tokio::time::Instant::now() + Duration::from_secs(8);
    while in_use(&client).await.len() < 2 {
        assert!(tokio::time::Instant::now() < end, "{:#?}", client.snapshot().await.unwrap().paths);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(in_use(&client).await.iter().any(SocketAddr::is_ipv6));
}

/// Keeps the latest sample of a link.
#[derive(Clone, Debug, Default)]
struct LinkProbe(Arc<Mutex<Option<LinkSample>>>);

impl Policy for LinkProbe {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        if let Signal::Link(sample) = signal {
            *self.0.lock().unwrap() = Some((*sample).clone());
        }
    }

    fn diagnostics(&self, _: &View<'_>, out: &mut Vec<&'static str>) {
        if self.0.lock().unwrap().is_none() {
            out.push("no link counts frames");
        }
    }
}

impl PathEstimator for LinkProbe {
    fn estimate(&self, _: PathId, _: &mut Estimate) {}
}

#[tokio::test]
async fn a_links_counters_reach_schemes_and_snapshots() {
    let mut listener = listen();
    let (probe, mut parts) = (LinkProbe::default(), rfc::scheme());
    parts.estimators.push(Box::new(probe.clone()));
    let client = connect_by(Box::new(parts), listener.driver().local_addrs()[0], 1);
    client.connected().await.unwrap();
    let _server = listener.accept().await.unwrap();
    let before = client.snapshot().await.unwrap();
    assert_eq!((before.diagnostics, before.paths[0].link.is_none()), (vec!["no link counts frames"], true));
    // A source that treats the loopback as a radio: 7 frames between two queries, one of them sent twice.
    let (mut packets, mut retries) = (1000, 50);
    let stations = move |_| {
        (packets, retries) = (packets + 6, retries + 1);
        let (tx_packets, tx_retries) = (Some(packets), Some(retries));
        Ok(vec![Station { tx_packets, tx_retries, signal_dbm: Some(-50), ..Station::default() }])
    };
    let source = Source { is_wireless: |_| true, stations: Box::new(stations) };
    let begin = |core: &mut core::Core, now| {
        core.monitor = Monitor::of(source);
        let _ = core.reconcile_interfaces(now);
    };
    client.driver().call(begin).await.unwrap();
    let reading = loop {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let now = client.snapshot().await.unwrap();
        let link = now.paths[0].link.clone();
        if let Some(link) = link.filter(|l| l.sample.tx_frames > 0) {
            assert_eq!(now.diagnostics, Vec::<&str>::new());
            assert!(now.monitor.readings >= 2 && now.monitor.refused == 0);
            break link;
        }
    };
    assert_eq!(reading.signal_dbm, Some(-50));
    assert_eq!(reading.sample.tx_frames, 7 * reading.sample.tx_retries);
    let heard = probe.0.lock().unwrap().clone().expect("a snapshot has no more than the scheme got");
    assert!(heard.path.is_some() && heard.tx_frames >= reading.sample.tx_frames);
    client.abort("done");
}
