//! In steady state sockets and seals allocate nothing per packet and nothing per batch.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use strandcast_net::pool::RecvPool;
use strandcast_net::socket::{BindSpec, PathSocket, SendOutcome, Transmit};
use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, EndpointConfig, SchemeFactory};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_seal::{Access, Grant, Peer, SealConfig, SealedEndpoint, SecretKey, Token};

#[allow(dead_code, reason = "each test binary uses its part of it")]
#[path = "../../proto/tests/common/scheme.rs"]
mod scheme;

fn loopback() -> PathSocket {
    let address = Some("127.0.0.1".parse().expect("an address"));
    PathSocket::bind(&BindSpec { address, ..BindSpec::default() }).expect("loopback")
}

#[test]
fn sending_and_receiving_allocate_nothing_in_steady_state() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let enter = runtime.enter();
    let (a, b, mut pool) = (loopback(), loopback(), RecvPool::new());
    drop(enter);
    let contents = vec![7; 20 * 1400];
    let mut exchange = |batches: usize| {
        for _ in 0..batches {
            let batch =
                Transmit { remote: b.local_addr(), src_ip: None, segment_size: 1400, contents: &contents };
            assert!(matches!(a.try_send(&batch), SendOutcome::Sent));
            runtime.block_on(async {
                let mut datagrams = 0;
                while datagrams < 20 {
                    b.readable().await.expect("the runtime runs");
                    if let Some(received) = b.try_recv(&mut pool).expect("the socket lives") {
                        datagrams += received.datagrams().inspect(|d| assert_eq!(d.len(), 1400)).count();
                    }
                }
            });
        }
    };
    exchange(100);
    let counted = allocation_counter::measure(|| exchange(500));
    assert_eq!(counted.count_total, 0, "{counted:?} for 10,000 datagrams");
}

/// One end of an association over loopback, and what it got.
struct End {
    endpoint: SealedEndpoint,
    socket: PathSocket,
    peer: SocketAddr,
    pool: RecvPool,
    buffer: Vec<u8>,
    id: Option<AssociationId>,
    /// Packets sent, messages received.
    packets: u64,
    messages: u64,
}

impl End {
    fn new(socket: PathSocket, peer: SocketAddr, identity: Option<u8>, server: bool) -> End {
        let transport = TransportConfig { mtu_discovery: None, ..TransportConfig::live() };
        let accept: SchemeFactory = Arc::new(|_| scheme::windowed(100_000));
        let config = EndpointConfig {
            transport: Arc::new(transport),
            accept: server.then_some(accept),
            ..EndpointConfig::default()
        };
        let seal = identity.map(|n| SealConfig::new(SecretKey::from_bytes([n; 32]), access()));
        let endpoint = SealedEndpoint::new(config, seal, &Seeds::new(u64::from(server), 0));
        End {
            endpoint,
            socket,
            peer,
            pool: RecvPool::new(),
            buffer: Vec::new(),
            id: None,
            packets: 0,
            messages: 0,
        }
    }

    fn tuple(&self) -> FourTuple {
        FourTuple::new(LinkId(0), self.socket.local_addr(), self.peer)
    }

    /// Sends, receives and reads all there is; whether there was anything.
    fn turn(&mut self, now: Instant) -> bool {
        let mut any = false;
        while let Some(transmit) = self.endpoint.poll_output(now, &mut self.buffer) {
            any = true;
            self.packets += self.buffer.len().div_ceil(transmit.segment_size) as u64;
            let (segment_size, contents) = (transmit.segment_size, &self.buffer[..]);
            let batch = Transmit { remote: self.peer, src_ip: None, segment_size, contents };
            assert!(matches!(self.socket.try_send(&batch), SendOutcome::Sent));
            self.buffer.clear();
        }
        while let Some(received) = self.socket.try_recv(&mut self.pool).expect("the socket lives") {
            any = true;
            self.endpoint.receive(now, self.tuple(), received.contents, received.stride);
        }
        while let Some((id, _)) = self.endpoint.poll_event() {
            self.id = Some(id);
        }
        while self.endpoint.poll_seal_event().is_some() {}
        while let Some(id) = self.id
            && self.endpoint.endpoint_mut().recv(id).is_some()
        {
            self.messages += 1;
        }
        any
    }
}

/// A token for all keys.
fn access() -> Access {
    let grant =
        Grant { token: Token::from_bytes([3; 32]), senders: BTreeSet::new(), open: true, once: false };
    Access { grants: vec![grant], revoked: BTreeSet::new() }
}

/// Allocations of 20 000 messages in steady state, and the packets of both sides.
fn transfer(sealed: bool) -> (u64, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let enter = runtime.enter();
    let (a, b) = (loopback(), loopback());
    let (at, to) = (a.local_addr(), b.local_addr());
    let mut ends = [End::new(a, to, sealed.then_some(1), false), End::new(b, at, sealed.then_some(2), true)];
    let mut now = Instant::from_millis(1000);
    let key = SecretKey::from_bytes([2; 32]).public();
    let peer = sealed.then(|| Peer { key, token: Token::from_bytes([3; 32]) });
    let paths = vec![(ends[0].tuple(), None)];
    let connect = Connect { paths, port: 5000, scheme: scheme::windowed(100_000), transport: None };
    ends[0].id = Some(ends[0].endpoint.connect(now, connect, peer).expect("a free endpoint"));
    let payload = Bytes::from_static(&[7; 1300]);
    let mut exchange = |ends: &mut [End; 2], messages: u64| {
        let (target, mut left) = (ends[1].messages + messages, messages);
        let mut idle = 0;
        while ends[1].messages < target {
            let id = ends[0].id.expect("it was opened");
            while left > 0
                && ends[0]
                    .endpoint
                    .endpoint_mut()
                    .send(now, id, payload.clone(), SendOptions::default())
                    .is_ok()
            {
                left -= 1;
            }
            let busy = ends.iter_mut().fold(false, |any, end| end.turn(now) | any);
            now += Duration::from_micros(20);
            idle = if busy { 0 } else { idle + 1 };
            if idle > 10 {
                // Readiness is the runtime's news.
                runtime.block_on(tokio::task::yield_now());
                now += Duration::from_millis(1);
                ends.iter_mut().for_each(|end| end.endpoint.handle_timeout(now));
            }
        }
    };
    exchange(&mut ends, 40_000);
    let before = ends[0].packets + ends[1].packets;
    let counted = allocation_counter::measure(|| exchange(&mut ends, 20_000));
    drop(enter);
    (counted.count_total, ends[0].packets + ends[1].packets - before)
}

#[test]
fn sealing_and_opening_allocate_nothing_more() {
    let [(plain, _), (sealed, packets)] = [transfer(false), transfer(true)];
    assert!(packets > 20_000, "{packets}");
    // What the transport allocates beside, for both.
    assert!(sealed <= plain + packets / 1000, "sealed {sealed}, plain {plain}, for {packets} packets");
}
