//! Sealed drivers over loopback sockets: admission, changes in transit, and packets on the wire.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use strandcast_net::driver::{ClientSeal, PacketDirection, PacketTap, SealHooks};
use strandcast_proto::association::{CloseReason, SendOptions};
use strandcast_proto::wire::{Chunk, Packet};
use strandcast_seal::{Access, Grant, Peer, PublicKey, SealEvent, SecretKey, Token};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::common::*;

#[tokio::test]
async fn messages_go_both_ways_and_both_know_who_is_there() {
    let (client, server, _listener) = pair(2).await;
    let big = Bytes::from(vec![7; 300_000]);
    client.send(big.clone(), SendOptions::default()).await.expect("open");
    assert_eq!(timeout(LONG, server.recv()).await.expect("in time").expect("a message").payload, big);
    server.send(big.clone(), SendOptions::default()).await.expect("open");
    assert_eq!(timeout(LONG, client.recv()).await.expect("in time").expect("a message").payload, big);
    assert_eq!(client.peer_key().await, Some(receiver().public()));
    assert_eq!(server.peer_key().await, Some(sender().public()));
    let stats = client.driver().seal_stats().await.expect("a seal");
    // 300 000 bytes in packets of less than 1500.
    assert!(stats.sealed > 200 && stats.opened > 200 && stats.failed == 0, "{stats:?}");
    client.shutdown();
    assert_eq!(timeout(LONG, server.closed()).await.expect("in time"), CloseReason::Shutdown);
    assert_eq!(timeout(LONG, client.closed()).await.expect("in time"), CloseReason::Shutdown);
    timeout(LONG, client.driver().finished()).await.expect("a client's driver ends");
}

/// A relay between the two sides that forwards and records everything. `rebind` changes the server's view, as
/// a NAT does.
struct Relay {
    address: SocketAddr,
    rebind: tokio::sync::mpsc::UnboundedSender<()>,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
    task: JoinHandle<()>,
}

impl Relay {
    async fn new(server: SocketAddr) -> Relay {
        let inside = UdpSocket::bind(LOOPBACK).await.expect("loopback");
        let address = inside.local_addr().expect("bound");
        let (rebind, mut asked) = tokio::sync::mpsc::unbounded_channel();
        let seen: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let book = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            let mut outside = UdpSocket::bind(LOOPBACK).await.expect("loopback");
            let (mut a, mut b) = (vec![0; 1 << 16], vec![0; 1 << 16]);
            let mut client = None;
            loop {
                tokio::select! {
                    Some(()) = asked.recv() => outside = UdpSocket::bind(LOOPBACK).await.expect("loopback"),
                    Ok((len, from)) = inside.recv_from(&mut a) => {
                        client = Some(from);
                        book.lock().expect("no panic").push(a[..len].to_vec());
                        let _ = outside.send_to(&a[..len], server).await;
                    }
                    Ok((len, _)) = outside.recv_from(&mut b) => {
                        book.lock().expect("no panic").push(b[..len].to_vec());
                        if let Some(client) = client {
                            let _ = inside.send_to(&b[..len], client).await;
                        }
                    }
                }
            }
        });
        Relay { address, rebind, seen, task }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test]
async fn a_nat_that_forgets_loses_nothing_and_nothing_readable_passes() {
    let (mut listener, events) = sealed_server(access());
    let relay = Relay::new(listener.driver().local_addrs()[0]).await;
    let (client, _) = sealed_client(relay.address, 1, sender(), peer());
    assert_eq!(timeout(LONG, client.connected()).await.expect("in time"), Ok(true));
    let server = timeout(LONG, listener.accept()).await.expect("in time").expect("a driver");
    for _ in 0..5 {
        carry(&client, &server, 40).await;
        carry(&server, &client, 40).await;
        relay.rebind.send(()).expect("the relay runs");
        // Only the client can show the server its new address.
        carry(&client, &server, 40).await;
        carry(&server, &client, 40).await;
    }
    let moves =
        events.lock().expect("no panic").iter().filter(|e| matches!(e, SealEvent::Moved { .. })).count();
    assert!(moves >= 5, "{moves} moves");
    let snapshot = server.snapshot().await.expect("it lives");
    assert_eq!(snapshot.stats.messages_sent, 400, "the association continued");
    let marker = 17u32.to_be_bytes().repeat(5);
    for datagram in relay.seen.lock().expect("no panic").iter() {
        assert!(matches!(datagram[0], 1..=4), "type {}", datagram[0]);
        assert!(!datagram.windows(marker.len()).any(|w| w == marker), "payload in the clear");
    }
}

/// Repeated, changed or invented datagrams have no effect.
#[tokio::test]
async fn recorded_and_changed_datagrams_do_nothing() {
    let (mut listener, _) = sealed_server(access());
    let to = listener.driver().local_addrs()[0];
    let relay = Relay::new(to).await;
    let (client, _) = sealed_client(relay.address, 1, sender(), peer());
    assert_eq!(timeout(LONG, client.connected()).await.expect("in time"), Ok(true));
    let server = timeout(LONG, listener.accept()).await.expect("in time").expect("a driver");
    carry(&client, &server, 50).await;
    let attacker = UdpSocket::bind(LOOPBACK).await.expect("loopback");
    let recorded = relay.seen.lock().expect("no panic").clone();
    for (n, datagram) in recorded.iter().enumerate() {
        let _ = attacker.send_to(datagram, to).await;
        let mut changed = datagram.clone();
        let at = n % changed.len();
        changed[at] ^= 1 << (n % 8);
        let _ = attacker.send_to(&changed, to).await;
        let _ = attacker.send_to(&datagram[..datagram.len() / 2], to).await;
    }
    carry(&client, &server, 50).await;
    carry(&server, &client, 50).await;
    let stats = listener.driver().seal_stats().await.expect("a seal");
    assert!(stats.replayed > 0 && stats.failed > 0, "{stats:?}");
    assert_eq!((stats.sessions, stats.moved), (1, 0), "{stats:?}");
    assert!(timeout(Duration::from_millis(200), listener.accept()).await.is_err(), "no other association");
}

#[tokio::test]
async fn only_the_right_key_under_the_right_token_connects() {
    let (mut listener, events) = sealed_server(access());
    let to = listener.driver().local_addrs()[0];
    let unknown = SecretKey::from_bytes([9; 32]);
    let tries: [(SecretKey, Peer, bool); 3] = [
        // The receiver refuses an unknown key,
        (unknown.clone(), peer(), true),
        // and does not answer a sender that names another token or expects another receiver.
        (sender(), Peer { token: Token::from_bytes([8; 32]), ..peer() }, false),
        (sender(), Peer { key: unknown.public(), ..peer() }, false),
    ];
    for (n, (identity, peer, answered)) in tries.into_iter().enumerate() {
        let (client, _) = sealed_client(to, 1, identity, peer);
        if answered {
            let closed = timeout(LONG, client.connected()).await.expect("in time");
            assert!(matches!(closed, Err(CloseReason::SealLost(_))), "{n}: {closed:?}");
        } else {
            assert!(timeout(Duration::from_millis(1500), client.connected()).await.is_err(), "{n}");
        }
        assert_eq!(client.peer_key().await, None, "{n}");
        client.driver().stop();
    }
    assert!(timeout(Duration::from_millis(100), listener.accept()).await.is_err(), "no association");
    let told = events.lock().expect("no panic").clone();
    // The refusal of the unknown key; the others proved no key.
    assert!(matches!(told[..], [SealEvent::Refused { key, .. }] if key == unknown.public()), "{told:?}");
    // The server still works.
    let (client, _) = sealed_client(to, 1, sender(), peer());
    assert_eq!(timeout(LONG, client.connected()).await.expect("in time"), Ok(true));
}

#[tokio::test]
async fn who_is_revoked_is_out() {
    let (client, server, listener) = pair(2).await;
    carry(&client, &server, 10).await;
    let revoked = Access { revoked: BTreeSet::from([sender().public()]), ..access() };
    listener.driver().set_access(revoked).await;
    let reason = timeout(Duration::from_secs(2), server.closed()).await.expect("at once");
    assert!(matches!(reason, CloseReason::SealLost(_)), "{reason:?}");
    let reason = timeout(LONG, client.closed()).await.expect("in time");
    assert!(matches!(reason, CloseReason::SealLost(_)), "{reason:?}");
}

#[tokio::test]
async fn an_open_token_takes_the_first_who_comes() {
    let grants = vec![Grant { token: token(), senders: BTreeSet::new(), open: true, once: true }];
    let (mut listener, events) = sealed_server(Access { grants, revoked: BTreeSet::new() });
    let to = listener.driver().local_addrs()[0];
    let (client, _) = sealed_client(to, 1, sender(), peer());
    assert_eq!(timeout(LONG, client.connected()).await.expect("in time"), Ok(true));
    let server = timeout(LONG, listener.accept()).await.expect("in time").expect("a driver");
    assert_eq!(server.peer_key().await, Some(sender().public()));
    let enrolled: Vec<PublicKey> = events
        .lock()
        .expect("no panic")
        .iter()
        .filter_map(|e| if let SealEvent::Enrolled { key, .. } = e { Some(*key) } else { None })
        .collect();
    assert_eq!(enrolled, [sender().public()]);
    let (second, _) = sealed_client(to, 1, SecretKey::from_bytes([9; 32]), peer());
    let reason = timeout(LONG, second.connected()).await.expect("in time");
    assert!(matches!(reason, Err(CloseReason::SealLost(_))), "{reason:?}");
}

#[tokio::test]
async fn plain_and_sealed_say_so() {
    let plain = listen(None, None);
    let (client, events) = sealed_client(plain.driver().local_addrs()[0], 1, sender(), peer());
    let heard = || events.lock().expect("no panic").iter().any(|e| matches!(e, SealEvent::PlainPeer { .. }));
    timeout(LONG, async {
        while !heard() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .expect("a hint");
    client.driver().stop();
    let (listener, _) = sealed_server(access());
    let client = connect(listener.driver().local_addrs()[0], 1, None, None);
    let reason = timeout(LONG, client.connected()).await.expect("in time");
    assert!(
        matches!(&reason, Err(CloseReason::PeerAborted(words)) if words.contains("sealed")),
        "{reason:?}"
    );
}

type Tapped = (PacketDirection, Vec<u8>);

/// A capture contains SCTP packets even if the wire carries sealed ones.
#[tokio::test]
async fn taps_see_packets() {
    let packets: Arc<Mutex<Vec<Tapped>>> = Arc::default();
    let book = Arc::clone(&packets);
    let tap: PacketTap = Box::new(move |_, _, direction, packet| {
        book.lock().expect("no panic").push((direction, packet.to_vec()));
    });
    let (mut listener, _) = sealed_server(access());
    let seal = ClientSeal { identity: sender(), peer: peer(), hooks: SealHooks::default() };
    let client = connect(listener.driver().local_addrs()[0], 1, Some(seal), Some(tap));
    assert_eq!(timeout(LONG, client.connected()).await.expect("in time"), Ok(true));
    let server = timeout(LONG, listener.accept()).await.expect("in time").expect("a driver");
    carry(&client, &server, 20).await;
    let chunks: Vec<(PacketDirection, Chunk)> = packets
        .lock()
        .expect("no panic")
        .iter()
        .flat_map(|(direction, packet)| {
            let packet = Packet::authentic(Bytes::copy_from_slice(packet)).expect("an SCTP packet");
            let all: Vec<Chunk> = packet.chunks().map(|c| c.expect("well-formed").1).collect();
            all.into_iter().map(|chunk| (*direction, chunk))
        })
        .collect();
    assert!(matches!(chunks[0], (PacketDirection::Sent, Chunk::Init(_))), "{:?}", chunks[0]);
    let has = |direction, of: fn(&Chunk) -> bool| chunks.iter().any(|(d, c)| *d == direction && of(c));
    assert!(has(PacketDirection::Received, |c| matches!(c, Chunk::InitAck(_))));
    assert!(has(PacketDirection::Sent, |c| matches!(c, Chunk::CookieEcho(_))));
    assert!(has(PacketDirection::Sent, |c| matches!(c, Chunk::Data(_))));
    assert!(has(PacketDirection::Received, |c| matches!(c, Chunk::Sack(_))));
}
