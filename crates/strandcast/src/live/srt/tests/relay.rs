//! A network between two programs: loss and delay in both directions, or neither.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use strandcast_proto::seeds::Seeds;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// Loss and delay of each direction.
const LOSS: f64 = 0.05;
const DELAY: Duration = Duration::from_millis(40);
/// Datagrams that are not lost, those of the handshake: libsrt 1.5.1 does not repeat its last answer.
const SPARED: u32 = 40;

/// A relay for one caller, which ends when this is dropped.
pub(super) struct Relay {
    /// Port that the caller calls.
    pub(super) port: u16,
    task: JoinHandle<()>,
    counts: Arc<Counts>,
}

/// Counts of data packets.
#[derive(Debug, Default)]
struct Counts {
    lost: AtomicU64,
    again: AtomicU64,
    /// First transmissions whose key is not that of the one before.
    key_changes: AtomicU64,
}

impl Counts {
    /// Counts a packet. `key` is the key of the first transmission before it.
    fn add(&self, data: &[u8], kept: bool, key: &mut Option<u8>) {
        // Data packets have the first bit 0. The second word has the key in its fourth and fifth bit, and its sixth bit
        // says that the packet is sent again.
        if data.len() < 16 || data[0] & 0x80 != 0 {
            return;
        }
        let again = data[4] & 4 != 0;
        let bump = |count: &AtomicU64, by: bool| count.fetch_add(u64::from(by), Ordering::Relaxed);
        bump(&self.lost, !kept);
        bump(&self.again, again);
        if !again {
            let own = data[4] >> 3 & 3;
            bump(&self.key_changes, key.replace(own).is_some_and(|before| before != own));
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Relay {
    /// Starts a relay to a port of this machine. Without a seed nothing is lost or delayed.
    pub(super) async fn start(to: u16, seed: Option<u64>) -> Relay {
        let front = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
        let back = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
        back.connect(("127.0.0.1", to)).await.expect("a port");
        let port = front.local_addr().expect("an address").port();
        let counts = Arc::<Counts>::default();
        Relay { port, task: tokio::spawn(run(front, back, seed, Arc::clone(&counts))), counts }
    }

    /// Data packets that were lost here, and those that were sent again.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.counts.lost.load(Ordering::Relaxed), self.counts.again.load(Ordering::Relaxed))
    }

    /// Number of times that the key of the data packets changed.
    pub(super) fn key_changes(&self) -> u64 {
        self.counts.key_changes.load(Ordering::Relaxed)
    }
}

async fn run(front: UdpSocket, back: UdpSocket, seed: Option<u64>, counts: Arc<Counts>) {
    let mut random = Seeds::new(seed.unwrap_or_default(), 0).stream("relay");
    let (loss, wait) = seed.map_or((0.0, Duration::ZERO), |_| (LOSS, DELAY));
    let (mut caller, mut buffers, mut key) = (None::<SocketAddr>, [[0; 2048]; 2], None);
    let (delay, mut delayed) = mpsc::unbounded_channel::<(Instant, bool, Vec<u8>)>();
    let (mut next, mut count) = (None, 0_u32);
    loop {
        if next.is_none() {
            next = delayed.try_recv().ok();
        }
        let due = next.as_ref().map(|(at, ..)| *at);
        let [to_back, to_front] = &mut buffers;
        let (forth, data) = tokio::select! {
            () = async { sleep_until(due.expect("checked")).await }, if due.is_some() => {
                let (_, forth, data) = next.take().expect("it is due");
                // An end that has left is a loss.
                let _ = match caller.filter(|_| !forth) {
                    Some(caller) => front.send_to(&data, caller).await,
                    None => back.send(&data).await,
                };
                continue;
            }
            came = front.recv_from(to_back) => {
                let Ok((len, from)) = came else { continue };
                caller = Some(from);
                (true, to_back[..len].to_vec())
            }
            came = back.recv(to_front) => {
                let Ok(len) = came else { continue };
                (false, to_front[..len].to_vec())
            }
        };
        count = count.saturating_add(1);
        let kept = count <= SPARED || !random.chance(loss);
        counts.add(&data, kept, &mut key);
        if kept {
            delay.send((Instant::now() + wait, forth, data)).expect("the other end is here");
        }
    }
}
