//! A NAT between clients and a server, whose mappings change.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Interval at which a thread checks that its mapping still exists.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Mappings {
    /// Sources inside, and the outside socket of each.
    of: BTreeMap<SocketAddr, Arc<UdpSocket>>,
    /// The outside address.
    address: Option<IpAddr>,
}

/// A NAT with one outside address. It lasts until the end of the test.
#[derive(Clone)]
pub struct Nat {
    front: Arc<UdpSocket>,
    server: SocketAddr,
    mappings: Arc<Mutex<Mappings>>,
}

impl Nat {
    pub fn start(server: SocketAddr, outside: IpAddr) -> Nat {
        let front = Arc::new(UdpSocket::bind("127.0.0.1:0").expect("loopback"));
        let nat = Nat { front, server, mappings: Arc::default() };
        nat.mappings.lock().expect("no panic").address = Some(outside);
        let forth = nat.clone();
        thread::spawn(move || forth.forth());
        nat
    }

    /// Address of the server inside the NAT.
    pub fn inside(&self) -> SocketAddr {
        self.front.local_addr().expect("bound")
    }

    /// Outside addresses, which the server sees.
    pub fn outside(&self) -> Vec<SocketAddr> {
        let mappings = self.mappings.lock().expect("no panic");
        mappings.of.values().map(|socket| socket.local_addr().expect("bound")).collect()
    }

    /// Moves every source to another outside address. Datagrams on their way to the old one are lost.
    pub fn moves(&self, outside: IpAddr) {
        let mut mappings = self.mappings.lock().expect("no panic");
        mappings.address = Some(outside);
        for socket in mappings.of.values_mut() {
            *socket = self.bind(outside);
        }
    }

    /// Exchanges the outside sockets of the two sources.
    pub fn swaps(&self) {
        let mut mappings = self.mappings.lock().expect("no panic");
        let [a, b] = &mut mappings.of.values_mut().collect::<Vec<_>>()[..] else { panic!("two sources") };
        std::mem::swap(*a, *b);
    }

    /// Binds an outside socket and forwards its datagrams to the source that owns it.
    fn bind(&self, outside: IpAddr) -> Arc<UdpSocket> {
        let socket = Arc::new(UdpSocket::bind((outside, 0)).expect("loopback"));
        socket.set_read_timeout(Some(LOOK)).expect("a socket");
        let (nat, own) = (self.clone(), Arc::clone(&socket));
        thread::spawn(move || nat.back(&own));
        socket
    }

    fn forth(&self) {
        let mut buffer = [0; 65_536];
        loop {
            let Ok((len, from)) = self.front.recv_from(&mut buffer) else { continue };
            let socket = {
                let mut mappings = self.mappings.lock().expect("no panic");
                let outside = mappings.address.expect("from the start");
                Arc::clone(mappings.of.entry(from).or_insert_with(|| self.bind(outside)))
            };
            // The server may have ended.
            let _ = socket.send_to(&buffer[..len], self.server);
        }
    }

    /// Forwards datagrams until the mapping ends.
    fn back(&self, socket: &Arc<UdpSocket>) {
        let mut buffer = [0; 65_536];
        loop {
            let received = socket.recv_from(&mut buffer);
            let waits = |e: &std::io::Error| matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            if received.as_ref().is_err_and(|e| !waits(e)) {
                continue;
            }
            let mappings = self.mappings.lock().expect("no panic");
            let owner = mappings.of.iter().find(|(_, of)| Arc::ptr_eq(of, socket)).map(|(inside, _)| *inside);
            drop(mappings);
            match (owner, received) {
                (Some(inside), Ok((len, _))) => drop(self.front.send_to(&buffer[..len], inside)),
                (Some(_), Err(_)) => {}
                (None, _) => return,
            }
        }
    }
}
