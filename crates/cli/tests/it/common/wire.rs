//! A wire between a sender and its receiver, on which an attacker records everything and adds what it likes.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    ToReceiver,
    ToSender,
}

/// A datagram that passed.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Time since 1970.
    pub at: Duration,
    pub direction: Direction,
    pub bytes: Vec<u8>,
}

/// Function that returns the datagrams to deliver in place of one.
type Attack = Box<dyn FnMut(Direction, &[u8]) -> Vec<Vec<u8>> + Send>;

type Last = Option<(SocketAddr, Arc<UdpSocket>)>;

#[derive(Clone)]
pub struct Wire {
    front: Arc<UdpSocket>,
    back: SocketAddr,
    recorded: Arc<Mutex<Vec<Recorded>>>,
    attack: Arc<Mutex<Attack>>,
    /// The sender's address and the socket that the receiver sees.
    last: Arc<Mutex<Last>>,
}

impl Wire {
    /// A wire to a receiver on this port, which passes on what `attack` makes of each datagram. It lasts until the end of
    /// the test.
    pub fn start(
        receiver: u16,
        attack: impl FnMut(Direction, &[u8]) -> Vec<Vec<u8>> + Send + 'static,
    ) -> Wire {
        Wire::between((Ipv4Addr::LOCALHOST, receiver), attack)
    }

    /// A wire on the address that the receiver listens on.
    pub fn between(
        receiver: impl Into<SocketAddr>,
        attack: impl FnMut(Direction, &[u8]) -> Vec<Vec<u8>> + Send + 'static,
    ) -> Wire {
        let back = receiver.into();
        let wire = Wire {
            front: Arc::new(UdpSocket::bind((back.ip(), 0)).unwrap()),
            back,
            recorded: Arc::default(),
            attack: Arc::new(Mutex::new(Box::new(attack))),
            last: Arc::default(),
        };
        let forth = wire.clone();
        thread::spawn(move || forth.forth());
        wire
    }

    /// A wire that changes nothing.
    pub fn honest(receiver: u16) -> Wire {
        Wire::start(receiver, |_, bytes| vec![bytes.to_vec()])
    }

    pub fn port(&self) -> u16 {
        self.front.local_addr().unwrap().port()
    }

    /// The sender's address, once something has passed.
    pub fn sender(&self) -> SocketAddr {
        self.last.lock().unwrap().as_ref().expect("something has passed").0
    }

    /// All that passed until now.
    pub fn recorded(&self) -> Vec<Recorded> {
        self.recorded.lock().unwrap().clone()
    }

    /// Sends a datagram in the name of one side to the other.
    pub fn forge(&self, direction: Direction, bytes: &[u8]) {
        let last = self.last.lock().unwrap().clone();
        let (sender, socket) = last.expect("something has passed");
        // A receiver that has ended refuses it.
        let _ = match direction {
            Direction::ToReceiver => socket.send_to(bytes, self.back),
            Direction::ToSender => self.front.send_to(bytes, sender),
        };
    }

    fn forth(&self) {
        let mut ways: BTreeMap<SocketAddr, Arc<UdpSocket>> = BTreeMap::new();
        let mut buffer = [0; 65_536];
        loop {
            let Ok((len, from)) = self.front.recv_from(&mut buffer) else { continue };
            let socket = ways.entry(from).or_insert_with(|| {
                let socket = Arc::new(UdpSocket::bind((self.back.ip(), 0)).unwrap());
                let (wire, own) = (self.clone(), Arc::clone(&socket));
                thread::spawn(move || wire.back_to(from, &own));
                socket
            });
            *self.last.lock().unwrap() = Some((from, Arc::clone(socket)));
            for bytes in self.pass(Direction::ToReceiver, &buffer[..len]) {
                // The receiver has not started yet, or has ended.
                let _ = socket.send_to(&bytes, self.back);
            }
        }
    }

    fn back_to(&self, sender: SocketAddr, socket: &UdpSocket) {
        let mut buffer = [0; 65_536];
        loop {
            let Ok((len, _)) = socket.recv_from(&mut buffer) else { continue };
            for bytes in self.pass(Direction::ToSender, &buffer[..len]) {
                // As above.
                let _ = self.front.send_to(&bytes, sender);
            }
        }
    }

    fn pass(&self, direction: Direction, bytes: &[u8]) -> Vec<Vec<u8>> {
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        self.recorded.lock().unwrap().push(Recorded { at, direction, bytes: bytes.to_vec() });
        (self.attack.lock().unwrap())(direction, bytes)
    }
}
