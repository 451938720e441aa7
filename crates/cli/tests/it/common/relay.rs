//! A relay between a sender and its receiver that sees all packets and can forge packets.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use bytes::Bytes;
use strandcast_proto::wire::chunk::{ChunkEncode, SackHeader};
use strandcast_proto::wire::{Chunk, Header, Packet, PacketWriter, Tsn};

/// The last packet seen in a direction.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub header: Header,
    /// The last TSN that was acknowledged (to the sender) or sent (to the receiver).
    pub tsn: Tsn,
}

#[derive(Default)]
struct Sights {
    to_sender: Option<Seen>,
    to_receiver: Option<Seen>,
    /// The sender's address, and the socket that the receiver sees.
    last: Option<(SocketAddr, Arc<UdpSocket>)>,
}

#[derive(Clone)]
pub struct Relay {
    front: Arc<UdpSocket>,
    back: SocketAddr,
    sights: Arc<Mutex<Sights>>,
    /// True if all packets are dropped.
    cut: Arc<AtomicBool>,
}

impl Relay {
    /// Relays to a receiver on this port; each sender address gets its own socket. Runs until the end of the test.
    pub fn start(receiver: u16) -> Relay {
        let front = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
        let back = SocketAddr::from(([127, 0, 0, 1], receiver));
        let relay = Relay { front, back, sights: Arc::default(), cut: Arc::default() };
        let forth = relay.clone();
        thread::spawn(move || forth.forth());
        relay
    }

    pub fn port(&self) -> u16 {
        self.front.local_addr().unwrap().port()
    }

    /// Drops all packets in both directions while on.
    pub fn cut(&self, cut: bool) {
        self.cut.store(cut, Ordering::Relaxed);
    }

    fn forth(&self) {
        let mut sockets: BTreeMap<SocketAddr, Arc<UdpSocket>> = BTreeMap::new();
        let mut buffer = [0; 65_536];
        loop {
            let Ok((len, from)) = self.front.recv_from(&mut buffer) else { continue };
            if self.cut.load(Ordering::Relaxed) {
                continue;
            }
            let socket = sockets.entry(from).or_insert_with(|| {
                let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
                let (relay, own) = (self.clone(), Arc::clone(&socket));
                thread::spawn(move || relay.back_to(from, &own));
                socket
            });
            let tsn =
                |chunk: &Chunk| if let Chunk::Data(data) = chunk { Some(data.header.tsn) } else { None };
            if let Some(seen) = seen(&buffer[..len], tsn) {
                let mut sights = self.sights.lock().unwrap();
                sights.to_receiver = Some(seen);
                sights.last = Some((from, Arc::clone(socket)));
            }
            // The receiver has not started yet, or has ended.
            let _ = socket.send_to(&buffer[..len], self.back);
        }
    }

    fn back_to(&self, sender: SocketAddr, socket: &UdpSocket) {
        let mut buffer = [0; 65_536];
        loop {
            let Ok((len, _)) = socket.recv_from(&mut buffer) else { continue };
            if self.cut.load(Ordering::Relaxed) {
                continue;
            }
            let tsn = |chunk: &Chunk| match chunk {
                Chunk::Sack(sack) => Some(sack.header.cumulative_tsn_ack),
                _ => None,
            };
            if let Some(seen) = seen(&buffer[..len], tsn) {
                self.sights.lock().unwrap().to_sender = Some(seen);
            }
            let _ = self.front.send_to(&buffer[..len], sender);
        }
    }

    /// Sends the sender a chunk in the receiver's name, once a SACK has been seen.
    pub fn forge_to_sender<C: ChunkEncode>(&self, chunk: impl Fn(Seen) -> C) {
        let seen = self.learn(|sights| sights.to_sender);
        let (sender, _) = self.learn(|sights| sights.last.clone());
        self.front.send_to(&packet(seen.header, &chunk(seen)), sender).unwrap();
    }

    /// Sends the receiver a chunk in the sender's name.
    pub fn forge_to_receiver<C: ChunkEncode>(&self, chunk: impl Fn(Seen) -> C) {
        let seen = self.learn(|sights| sights.to_receiver);
        let (_, socket) = self.learn(|sights| sights.last.clone());
        socket.send_to(&packet(seen.header, &chunk(seen)), self.back).unwrap();
    }

    fn learn<T>(&self, look: impl Fn(&Sights) -> Option<T>) -> T {
        loop {
            if let Some(found) = look(&self.sights.lock().unwrap()) {
                return found;
            }
            thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// The header and the last number of a packet that has one.
fn seen(bytes: &[u8], tsn: impl Fn(&Chunk) -> Option<Tsn>) -> Option<Seen> {
    let packet = Packet::parse(Bytes::copy_from_slice(bytes)).ok()?;
    let tsn = packet.chunks().flatten().filter_map(|(_, chunk)| tsn(&chunk)).last()?;
    Some(Seen { header: packet.header, tsn })
}

fn packet(header: Header, chunk: &impl ChunkEncode) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, header);
    assert!(writer.chunk(chunk));
    writer.finish();
    out
}

/// An acknowledgement of all up to this TSN.
pub fn sack(cumulative_tsn_ack: Tsn) -> strandcast_proto::wire::chunk::Sack {
    let header = SackHeader { cumulative_tsn_ack, a_rwnd: 1 << 20, flags: 0 };
    strandcast_proto::wire::chunk::Sack::new(header, &[], &[])
}
