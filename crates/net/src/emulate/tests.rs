//! Tests with a paused clock: it jumps to the next timer when everything waits, so delays are exact and cost
//! no time.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::task::Poll;
use std::time::Duration;

use strandcast_netem::link::{LinkConfig, Queue, Rate, Reorder};
use strandcast_netem::loss::LossModel;
use strandcast_netem::number::{Every, Number};
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::seeds::Seeds;
use tokio::net::UdpSocket;
use tokio::time::Instant;

use super::*;

async fn socket() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").await.unwrap()
}

/// A relay to `server` with `link` in both directions.
fn relay(server: &UdpSocket, link: LinkConfig, seed: u64) -> Relay {
    let network = PathNetwork { name: "test".into(), forward: link.clone(), reverse: link };
    let listen = "127.0.0.1:0".parse().unwrap();
    let config = RelayConfig { listen, server: server.local_addr().unwrap(), network };
    Relay::start(config, &Seeds::new(seed, 0)).unwrap()
}

/// The next datagram and its sender; `None` if none arrives within 10 s.
async fn next(socket: &UdpSocket) -> Option<(Vec<u8>, SocketAddr)> {
    let mut buf = [0; 2000];
    let got = tokio::time::timeout(Duration::from_secs(10), socket.recv_from(&mut buf)).await;
    got.ok().map(|got| {
        let (len, from) = got.unwrap();
        (buf[..len].to_vec(), from)
    })
}

/// Numbers of the datagrams that arrive until none does.
async fn numbers(socket: &UdpSocket) -> Vec<u32> {
    let mut all = Vec::new();
    while let Some((datagram, _)) = next(socket).await {
        all.push(u32::from_be_bytes(datagram[..4].try_into().unwrap()));
    }
    all
}

async fn send_numbered(from: &UdpSocket, to: SocketAddr, numbers: impl Iterator<Item = u32>, len: usize) {
    for n in numbers {
        let mut datagram = vec![0; len];
        datagram[..4].copy_from_slice(&n.to_be_bytes());
        from.send_to(&datagram, to).await.unwrap();
    }
}

fn delay(ms: u64) -> LinkConfig {
    LinkConfig { delay: Number::from(Duration::from_millis(ms)), ..LinkConfig::default() }
}

#[tokio::test(start_paused = true)]
async fn datagrams_cross_unchanged_and_no_earlier_than_the_delay() {
    let (client, server) = (socket().await, socket().await);
    let relay = relay(&server, delay(80), 1);
    let start = Instant::now();
    client.send_to(b"question", relay.local_addr()).await.unwrap();
    let (question, nat) = next(&server).await.unwrap();
    assert_eq!(question, b"question");
    assert!(nat != client.local_addr().unwrap() && nat != relay.local_addr());
    assert!(start.elapsed() >= Duration::from_millis(80));
    server.send_to(b"answer", nat).await.unwrap();
    assert_eq!(next(&client).await.unwrap(), (b"answer".to_vec(), relay.local_addr()));
    let elapsed = start.elapsed();
    assert!((160..170).contains(&elapsed.as_millis()), "{elapsed:?}");
    let stats = relay.stats();
    assert_eq!((stats.clients, stats.unsent), (1, 0));
    assert_eq!((stats.forward.delivered.bytes, stats.reverse.delivered.bytes), (8 + 28, 6 + 28));
}

#[tokio::test(start_paused = true)]
async fn a_relay_measures_how_long_each_direction_is_quiet() {
    let (client, server) = (socket().await, socket().await);
    let relay = relay(&server, delay(80), 1);
    client.send_to(b"x", relay.local_addr()).await.unwrap();
    assert_eq!(relay.quiet(Direction::Forward), None);
    next(&server).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let quiet = relay.quiet(Direction::Forward).unwrap();
    assert!((300..310).contains(&quiet.as_millis()), "{quiet:?}");
    // A datagram dropped by a black hole does not end the silence.
    relay.set_black_hole(Direction::Forward, true);
    client.send_to(b"y", relay.local_addr()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(relay.quiet(Direction::Forward).unwrap() >= Duration::from_millis(600));
    assert_eq!(relay.quiet(Direction::Reverse), None);
}

#[tokio::test]
async fn in_real_time_the_delay_is_real() {
    let (client, server) = (socket().await, socket().await);
    let relay = relay(&server, delay(50), 1);
    let start = std::time::Instant::now();
    client.send_to(b"x", relay.local_addr()).await.unwrap();
    assert!(next(&server).await.is_some());
    assert!(start.elapsed() >= Duration::from_millis(50));
}

#[tokio::test(start_paused = true)]
async fn throughput_is_the_links_rate() {
    let (client, server) = (socket().await, socket().await);
    let relay = relay(&server, LinkConfig { rate: Rate::Constant(2_000_000), ..LinkConfig::default() }, 1);
    // 1222 bytes and 28 of headers take 5 ms at 2 Mbit/s.
    let start = Instant::now();
    send_numbered(&client, relay.local_addr(), 0..400, 1222).await;
    for expected in 0..400u32 {
        assert_eq!(next(&server).await.unwrap().0[..4], expected.to_be_bytes());
    }
    let elapsed = start.elapsed().as_secs_f64();
    assert!((elapsed / 2.0 - 1.0).abs() < 0.05, "{elapsed} s instead of 2 s");
}

#[tokio::test(start_paused = true)]
async fn packets_beyond_the_queue_are_dropped_and_counted() {
    let (client, server) = (socket().await, socket().await);
    let link =
        LinkConfig { rate: Rate::Constant(1_000_000), queue: Queue::packets(9), ..LinkConfig::default() };
    let relay = relay(&server, link, 1);
    send_numbered(&client, relay.local_addr(), 0..40, 1222).await;
    // One on the wire, nine in the queue; a few more when the burst takes longer than a packet.
    let got = numbers(&server).await;
    assert!((10..15).contains(&got.len()) && got[..10] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "{got:?}");
    assert_eq!(relay.stats().forward.dropped_queue.packets, 40 - got.len() as u64);
}

#[tokio::test(start_paused = true)]
async fn a_black_hole_drops_one_direction_including_packets_in_transit() {
    let (client, server) = (socket().await, socket().await);
    let relay = relay(&server, delay(10), 1);
    send_numbered(&client, relay.local_addr(), 0..1, 100).await;
    let (_, nat) = next(&server).await.unwrap();
    send_numbered(&client, relay.local_addr(), 1..3, 100).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(relay.stats().forward.offered.packets, 3);
    relay.set_black_hole(Direction::Forward, true);
    server.send_to(b"back", nat).await.unwrap();
    assert_eq!(next(&client).await.unwrap().0, b"back");
    assert!(numbers(&server).await.is_empty());
    relay.set_black_hole(Direction::Forward, false);
    send_numbered(&client, relay.local_addr(), 3..5, 100).await;
    assert_eq!(numbers(&server).await, [3, 4]);
    assert_eq!(relay.stats().forward.dropped_black_hole.packets, 2);
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_down_refuses_until_it_is_up() {
    let (client, server) = (socket().await, socket().await);
    let relay = relay(&server, delay(10), 1);
    relay.set_down(Direction::Forward, true);
    send_numbered(&client, relay.local_addr(), 0..2, 100).await;
    assert!(numbers(&server).await.is_empty());
    assert_eq!(relay.stats().forward.dropped_down.packets, 2);
    relay.set_down(Direction::Forward, false);
    send_numbered(&client, relay.local_addr(), 2..3, 100).await;
    assert_eq!(numbers(&server).await, [2]);
}

#[tokio::test(start_paused = true)]
async fn rebinding_gives_another_port_and_closes_the_old_one() {
    let (client, server) = (socket().await, socket().await);
    let relay = relay(&server, delay(10), 1);
    let mut ports = Vec::new();
    for n in 0..2 {
        send_numbered(&client, relay.local_addr(), n..n + 1, 100).await;
        ports.push(next(&server).await.unwrap().1);
        relay.rebind().unwrap();
    }
    assert_ne!(ports[0], ports[1]);
    for (old, word) in ports.iter().zip(["a", "b"]) {
        server.send_to(word.as_bytes(), old).await.unwrap();
    }
    assert_eq!(next(&client).await, None);
    send_numbered(&client, relay.local_addr(), 2..3, 100).await;
    let (_, now) = next(&server).await.unwrap();
    server.send_to(b"c", now).await.unwrap();
    assert_eq!(next(&client).await.unwrap().0, b"c");
}

#[tokio::test(start_paused = true)]
async fn each_client_has_its_port_and_unknown_sources_are_dropped() {
    let (a, b, server, outsider) = (socket().await, socket().await, socket().await, socket().await);
    let relay = relay(&server, delay(10), 1);
    let mut ports = Vec::new();
    for (client, word) in [(&a, b"a"), (&b, b"b")] {
        client.send_to(word, relay.local_addr()).await.unwrap();
        let (heard, port) = next(&server).await.unwrap();
        assert_eq!(heard, word);
        outsider.send_to(b"spam", port).await.unwrap();
        ports.push(port);
    }
    for (port, word) in ports.iter().zip([b"A", b"B"]) {
        server.send_to(word, port).await.unwrap();
    }
    assert_eq!(next(&a).await.unwrap().0, b"A");
    assert_eq!(next(&b).await.unwrap().0, b"B");
    assert_eq!((next(&a).await, next(&b).await), (None, None));
}

/// Numbers that arrive of 1000 datagrams over a link with loss.
async fn survivors(seed: u64, batch: u32) -> Vec<u32> {
    let (client, server) = (socket().await, socket().await);
    let losses = vec![LossModel::uniform(0.1), LossModel::bursts(0.05, 4.0)];
    let relay = relay(&server, LinkConfig { losses, ..delay(5) }, seed);
    let mut got = Vec::new();
    for start in (0..1000).step_by(batch as usize) {
        send_numbered(&client, relay.local_addr(), start..start + batch, 60).await;
        got.extend(numbers(&server).await);
    }
    got
}

#[tokio::test(start_paused = true)]
async fn losses_depend_only_on_the_seed_and_packet_number() {
    let first = survivors(7, 100).await;
    assert!(first.len() > 700 && first.len() < 950, "{}", first.len());
    assert_eq!(survivors(7, 50).await, first);
    assert_ne!(survivors(8, 100).await, first);
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_taken_apart() {
    use crate::socket::{BindSpec, PathSocket, SendOutcome, Transmit};
    let server = socket().await;
    let relay = relay(&server, delay(1), 1);
    let spec = BindSpec { address: Some("127.0.0.1".parse().unwrap()), ..BindSpec::default() };
    let client = PathSocket::bind(&spec).unwrap();
    let contents: Vec<u8> = (0..20u32).flat_map(|n| [n.to_be_bytes(); 50].concat()).collect();
    let batch = Transmit { remote: relay.local_addr(), src_ip: None, segment_size: 200, contents: &contents };
    assert!(matches!(client.try_send(&batch), SendOutcome::Sent));
    assert_eq!(numbers(&server).await, (0..20).collect::<Vec<_>>());
    assert_eq!(relay.stats().forward.offered.packets, 20);
    assert_eq!(relay.stats().forward.offered.bytes, 20 * (200 + 28));
}

#[tokio::test(start_paused = true)]
async fn datagrams_overtake_each_other_where_the_link_keeps_no_order() {
    let (client, server) = (socket().await, socket().await);
    let delay = Number::Uniform { low: 0.02, high: 0.06, every: Every::Packet };
    let jitter = LinkConfig { delay, keep_order: false, ..LinkConfig::default() };
    let first = relay(&server, jitter.clone(), 1);
    send_numbered(&client, first.local_addr(), 0..100, 100).await;
    let got = numbers(&server).await;
    let mut sorted = got.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..100).collect::<Vec<_>>(), "nothing is lost or doubled");
    assert!(!got.is_sorted());
    let overtaking = first.stats().forward.reordered.packets;
    assert!(overtaking > 50, "{overtaking}");
    let ordered = relay(&server, LinkConfig { keep_order: true, ..jitter }, 1);
    send_numbered(&client, ordered.local_addr(), 0..100, 100).await;
    assert!(numbers(&server).await.is_sorted());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_relay_ends_it() {
    let (client, server) = (socket().await, socket().await);
    let relay = relay(&server, delay(10), 1);
    let addr = relay.local_addr();
    client.send_to(b"x", addr).await.unwrap();
    assert!(next(&server).await.is_some());
    drop(relay);
    // The port is free as soon as the task has been dropped.
    let freed = poll_fn(|cx| {
        cx.waker().wake_by_ref();
        std::net::UdpSocket::bind(addr).map_or(Poll::Pending, Poll::Ready)
    });
    assert!(tokio::time::timeout(Duration::from_secs(10), freed).await.is_ok());
}

#[tokio::test]
async fn invalid_links_are_reported_in_one_line() {
    let server = socket().await;
    let reorder = Some(Reorder { probability: 2.0, extra: Duration::ZERO });
    for link in [LinkConfig { rate: Rate::Constant(0), ..delay(1) }, LinkConfig { reorder, ..delay(1) }] {
        let network = PathNetwork { name: "odd".into(), forward: delay(1), reverse: link };
        let listen = "127.0.0.1:0".parse().unwrap();
        let config = RelayConfig { listen, server: server.local_addr().unwrap(), network };
        let error = Relay::start(config, &Seeds::new(1, 0)).unwrap_err().to_string();
        assert!(error.starts_with("emulated path odd: ") && !error.contains('\n'), "{error}");
    }
}
