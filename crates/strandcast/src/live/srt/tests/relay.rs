//! A network between two programs: loss and delay in both directions.

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
    counts: Arc<[AtomicU64; 2]>,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Relay {
    /// Starts a relay to a port of this machine.
    pub(super) async fn start(to: u16, seed: u64) -> Relay {
        let front = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
        let back = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
        back.connect(("127.0.0.1", to)).await.expect("a port");
        let port = front.local_addr().expect("an address").port();
        let counts = Arc::<[AtomicU64; 2]>::default();
        Relay { port, task: tokio::spawn(run(front, back, seed, Arc::clone(&counts))), counts }
    }

    /// Data packets that were lost here, and those that were sent again.
    pub(super) fn counts(&self) -> (u64, u64) {
        let [lost, again] = &*self.counts;
        (lost.load(Ordering::Relaxed), again.load(Ordering::Relaxed))
    }
}

async fn run(front: UdpSocket, back: UdpSocket, seed: u64, counts: Arc<[AtomicU64; 2]>) {
    let mut random = Seeds::new(seed, 0).stream("relay");
    let (mut caller, mut buffers) = (None::<SocketAddr>, [[0; 2048]; 2]);
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
        let kept = count <= SPARED || !random.chance(LOSS);
        // Data packets have the first bit 0; the sixth bit of the second word says that it is sent again.
        let is_data = data[0] & 0x80 == 0;
        counts[0].fetch_add(u64::from(is_data && !kept), Ordering::Relaxed);
        counts[1].fetch_add(u64::from(is_data && data[4] & 4 != 0), Ordering::Relaxed);
        if kept {
            delay.send((Instant::now() + DELAY, forth, data)).expect("the other end is here");
        }
    }
}
