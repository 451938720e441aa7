//! Sealed drivers over loopback sockets, through NATs that change, and many of them on one port.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant as Clock;

use bytes::{Bytes, BytesMut};
use strandcast_net::driver::{AssociationHandle, ServerSeal};
use strandcast_proto::association::{Event, SendOptions};
use strandcast_proto::endpoint::{AssociationId, Connect, EndpointConfig};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, PathState};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_seal::{Access, Grant, SealConfig, SealEvent, SealedEndpoint, SecretKey};
use tokio::time::{Duration, interval, sleep, timeout};

use crate::common::nat::Nat;
use crate::common::*;

fn loopback(host: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 8, host).into()
}

/// Sends numbered messages in both directions until `over` is set; all arrive, in order. Returns the number
/// per direction.
async fn talk(a: &AssociationHandle, b: &AssociationHandle, over: &AtomicBool) -> u32 {
    let mut ticks = interval(Duration::from_millis(5));
    let (mut sent, mut received) = (0u32, [0u32; 2]);
    let sides = [(a, b), (b, a)];
    let number = |payload: &Bytes| u32::from_be_bytes(payload[..4].try_into().expect("a number"));
    while !over.load(Ordering::Relaxed) || received != [sent; 2] {
        tokio::select! {
            _ = ticks.tick(), if !over.load(Ordering::Relaxed) => {
                for (from, _) in sides {
                    let message: Bytes = sent.to_be_bytes().repeat(250).into();
                    from.send(message, SendOptions::default()).await.expect("open");
                }
                sent += 1;
            }
            message = b.recv() => {
                assert_eq!(number(&message.expect("open").payload), received[0]);
                received[0] += 1;
            }
            message = a.recv() => {
                assert_eq!(number(&message.expect("open").payload), received[1]);
                received[1] += 1;
            }
            () = sleep(LONG) => panic!("nothing came: {received:?} of {sent}"),
        }
    }
    sent
}

#[tokio::test]
async fn an_address_that_changes_each_second_loses_nothing() {
    let (mut listener, events) = sealed_server(access());
    let nat = Nat::start(listener.driver().local_addrs()[0], loopback(1));
    let (client, _) = sealed_client(nat.inside(), 1, sender(), peer());
    assert_eq!(timeout(LONG, client.connected()).await.expect("in time"), Ok(true));
    let server = timeout(LONG, listener.accept()).await.expect("in time").expect("a driver");
    let over = AtomicBool::new(false);
    let changes = async {
        for host in 2..8 {
            sleep(Duration::from_secs(1)).await;
            nat.moves(loopback(host));
        }
        sleep(Duration::from_millis(500)).await;
        over.store(true, Ordering::Relaxed);
    };
    let (sent, ()) = tokio::join!(talk(&client, &server, &over), changes);
    assert!(sent > 500, "{sent} messages");
    let moved = |e: &&SealEvent| matches!(e, SealEvent::Moved { .. });
    assert_eq!(events.lock().expect("no panic").iter().filter(moved).count(), 6);
    let paths = server.snapshot().await.expect("open").paths;
    assert_eq!((paths.len(), paths[0].tuple.remote.ip()), (1, loopback(7)));
}

#[tokio::test]
async fn two_uplinks_behind_one_address_stay_two_paths_even_if_a_nat_exchanges_them() {
    let (mut listener, _) = sealed_server(access());
    let nat = Nat::start(listener.driver().local_addrs()[0], loopback(9));
    let (client, _) = sealed_client(nat.inside(), 2, sender(), peer());
    assert_eq!(timeout(LONG, client.connected()).await.expect("in time"), Ok(true));
    let server = timeout(LONG, listener.accept()).await.expect("in time").expect("a driver");
    let before = two_paths(&server, &nat).await;
    let over = AtomicBool::new(false);
    let changes = async {
        sleep(Duration::from_secs(1)).await;
        nat.swaps();
        sleep(Duration::from_secs(2)).await;
        over.store(true, Ordering::Relaxed);
    };
    let (sent, ()) = tokio::join!(talk(&client, &server, &over), changes);
    assert!(sent > 200, "{sent} messages");
    let after = two_paths(&server, &nat).await;
    assert_eq!([after[1], after[0]], [before[0], before[1]], "each path went where the NAT sent it");
    assert!(client.snapshot().await.expect("open").paths.iter().all(|p| p.view.state == PathState::Active));
}

/// Waits until the server has two active paths, at the two outside addresses. Returns these in the order of
/// paths.
async fn two_paths(server: &AssociationHandle, nat: &Nat) -> [SocketAddr; 2] {
    let begun = Clock::now();
    loop {
        let paths = server.snapshot().await.expect("open").paths;
        let active = paths.iter().filter(|p| p.view.state == PathState::Active);
        let at: Vec<SocketAddr> = active.map(|p| p.tuple.remote).collect();
        let (mut sorted, mut outside) = (at.clone(), nat.outside());
        sorted.sort();
        outside.sort();
        if let ([a, b], true) = (&at[..], sorted == outside) {
            assert_eq!(a.ip(), b.ip());
            return [*a, *b];
        }
        assert!(begun.elapsed() < LONG, "{at:?} {outside:?}");
        sleep(Duration::from_millis(20)).await;
    }
}

const SENDERS: usize = 125;
/// Number of senders that connect concurrently; another test (`seal`, floods) makes all connect at once.
const AT_ONCE: usize = 2;
/// Sessions per key, equal to the maximum.
const OF_KEY: usize = 8;
/// Messages of each association in each direction: one when it is open, the others when all are.
const MESSAGES: u8 = 3;

/// 1000 associations of 125 senders on one port: each receives its own messages, and none of another.
#[tokio::test]
async fn a_thousand_sealed_associations_on_one_port() {
    let grant = Grant { token: token(), senders: Default::default(), open: true, once: false };
    let (hooks, _) = hooks();
    let access = Access { grants: vec![grant], ..Access::default() };
    let mut listener =
        listen(Some(ServerSeal { identity: receiver(), access, max_sessions: None, hooks }), None);
    let to = listener.driver().local_addrs()[0];
    let clients = std::thread::spawn(move || connect_and_talk(to));
    for _ in 0..SENDERS * OF_KEY {
        let association = timeout(2 * LONG, listener.accept()).await.expect("in time").expect("a driver");
        tokio::spawn(async move {
            while let Some(message) = association.recv().await {
                association.send(message.payload, SendOptions::default()).await.expect("open");
            }
        });
    }
    while !clients.is_finished() {
        sleep(Duration::from_millis(10)).await;
    }
    clients.join().expect("every association has its own");
    let stats = listener.driver().seal_stats().await.expect("a seal");
    assert_eq!((stats.sessions, stats.established), (1000, 1000), "{stats:?}");
}

/// Runs all senders until each association has received its messages.
fn connect_and_talk(to: SocketAddr) {
    let (begun, mut clients, mut all_talk) = (Clock::now(), Vec::<Sender>::new(), false);
    while !clients.iter().all(Sender::is_done) || clients.len() < SENDERS {
        let now = Instant::ZERO + begun.elapsed();
        let connecting = clients.iter().filter(|client| !client.is_connected()).count();
        if connecting < AT_ONCE && clients.len() < SENDERS {
            clients.push(Sender::new(clients.len() as u8, to, now));
        } else if connecting == 0 && !all_talk {
            all_talk = true;
            clients.iter_mut().for_each(|client| client.talk(now));
        }
        clients.iter_mut().for_each(|client| client.turn(now));
        assert!(begun.elapsed() < 2 * LONG, "{connecting} of {} connect", clients.len());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// One sender with [`OF_KEY`] associations over one socket.
struct Sender {
    n: u8,
    socket: UdpSocket,
    end: SealedEndpoint,
    associations: Vec<Open>,
}

struct Open {
    id: AssociationId,
    connected: bool,
    /// Number of returned messages.
    got: u8,
}

impl Sender {
    fn new(n: u8, to: SocketAddr, now: Instant) -> Sender {
        let socket = UdpSocket::bind(LOOPBACK).expect("loopback");
        socket.set_nonblocking(true).expect("a socket");
        let config = EndpointConfig { accept: None, ..endpoint() };
        let seal = SealConfig::new(SecretKey::from_bytes([n + 100; 32]), Access::default());
        let mut end = SealedEndpoint::new(config, Some(seal), &Seeds::new(u64::from(n), 1));
        let tuple = FourTuple::new(LinkId(0), socket.local_addr().expect("bound"), to);
        let mut open = || {
            let connect = Connect {
                paths: vec![(tuple, None)],
                port: 5000,
                scheme: strandcast_testing::plain::simple(),
                transport: None,
            };
            let id = end.connect(now, connect, Some(peer())).expect("room");
            Open { id, connected: false, got: 0 }
        };
        let associations = (0..OF_KEY).map(|_| open()).collect();
        Sender { n, socket, end, associations }
    }

    fn is_connected(&self) -> bool {
        self.associations.iter().all(|open| open.connected)
    }

    fn is_done(&self) -> bool {
        self.associations.iter().all(|open| open.got == MESSAGES)
    }

    /// The nth message of an association.
    fn message(&self, at: usize, nth: u8) -> Bytes {
        [self.n, at as u8, nth].repeat(100).into()
    }

    fn send(&mut self, now: Instant, at: usize, nth: u8) {
        let (id, message) = (self.associations[at].id, self.message(at, nth));
        self.end.endpoint_mut().send(now, id, message, SendOptions::default()).expect("room");
        self.flush(now);
    }

    /// Sends all messages but the first.
    fn talk(&mut self, now: Instant) {
        for at in 0..OF_KEY {
            (1..MESSAGES).for_each(|nth| self.send(now, at, nth));
        }
    }

    fn turn(&mut self, now: Instant) {
        let (mut buffer, local) = ([0; 65_536], self.socket.local_addr().expect("bound"));
        while let Ok((len, from)) = self.socket.recv_from(&mut buffer) {
            let tuple = FourTuple::new(LinkId(0), local, from);
            self.end.receive(now, tuple, BytesMut::from(&buffer[..len]), len);
            self.flush(now);
        }
        if self.end.poll_timeout().is_some_and(|at| at <= now) {
            self.end.handle_timeout(now);
        }
        self.flush(now);
        while let Some((id, event)) = self.end.poll_event() {
            assert!(!matches!(event, Event::Closed(_)), "{event:?}");
            let at = self.associations.iter().position(|open| open.id == id).expect("its own");
            if matches!(event, Event::Connected { .. }) {
                self.associations[at].connected = true;
                self.send(now, at, 0);
            }
        }
        while self.end.poll_seal_event().is_some() {}
        for at in 0..self.associations.len() {
            while let Some(message) = self.end.endpoint_mut().recv(self.associations[at].id) {
                assert_eq!(message.payload, self.message(at, self.associations[at].got));
                self.associations[at].got += 1;
            }
        }
    }

    fn flush(&mut self, now: Instant) {
        let mut buffer = Vec::new();
        while let Some(transmit) = self.end.poll_output(now, &mut buffer) {
            for datagram in buffer.chunks(transmit.segment_size) {
                // Datagrams that exceed the kernel's buffer are lost, as on any network.
                let _ = self.socket.send_to(datagram, transmit.tuple.remote);
            }
            buffer.clear();
        }
    }
}
