//! A listener that strangers flood, over sockets of this machine.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_srt::{Config, Direction, Endpoint, Passphrase};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::*;

/// Rogue datagrams, and callers with another passphrase.
const DATAGRAMS: usize = 100_000;
const CALLERS: u64 = 1000;
/// Datagrams between two pauses.
const BURST: usize = 200;
/// First words of control packets of each type, and of data.
const KINDS: [u32; 9] = [
    0x8001_0000,
    0x8002_0000,
    0x8003_0000,
    0x8005_0000,
    0x8006_0000,
    0x8007_0000,
    0xffff_0003,
    0xffff_0004,
    7,
];

fn socket() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").expect("a socket")
}

fn caller(to: SocketAddr, passphrase: &str, seed: u64) -> Endpoint {
    let passphrase = Some(Passphrase::new(passphrase).expect("it is long enough"));
    let config = Config { passphrase, ..Config::new(Direction::Send) };
    Endpoint::call(Instant::ZERO, config, to, &Seeds::new(seed, 0))
}

/// Datagrams of all kinds, from sixteen addresses.
fn rogue_datagrams(to: SocketAddr) {
    let (sockets, mut random) = ([(); 16].map(|()| socket()), Seeds::new(1, 0).stream("rogues"));
    let mut handshake = Vec::new();
    caller(to, "correct-horse", 1).poll_output(Instant::ZERO, &mut handshake).expect("a request");
    for n in 0..DATAGRAMS {
        let mut data = handshake.clone();
        if n % 3 > 0 {
            data = KINDS[random.below(9) as usize].to_be_bytes().to_vec();
            data.extend((0..random.below(200)).map(|_| random.u32() as u8));
        }
        let place = random.below(data.len() as u64) as usize;
        data[place] ^= random.u32() as u8;
        sockets[n % 16].send_to(&data, to).expect("it leaves");
        if n % BURST == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Callers that ask with another passphrase and do not wait for the answer.
fn rogue_callers(to: SocketAddr) {
    let (mut out, mut buffer) = (Vec::new(), [0; 2048]);
    for seed in 0..CALLERS {
        let (socket, mut end) = (socket(), caller(to, "another-passphrase", seed));
        socket.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
        let mut ask = |end: &mut Endpoint| {
            while let Some(to) = end.poll_output(Instant::ZERO, &mut out) {
                socket.send_to(&out, to).expect("it leaves");
            }
        };
        ask(&mut end);
        if let Ok((len, from)) = socket.recv_from(&mut buffer) {
            end.handle_datagram(Instant::ZERO, from, &buffer[..len]);
        }
        ask(&mut end);
    }
}

mod thorough {
    use super::*;

    /// The stream has every byte, and a new caller is connected soon after.
    #[tokio::test]
    async fn a_flood_costs_a_running_stream_nothing_and_keeps_no_caller_out() {
        let (port, count) = (free_port(), 4000);
        let keys = "latency=1000&passphrase=correct-horse";
        let listen = url(&format!("srt://127.0.0.1:{port}?mode=listener&{keys}"));
        let two = Config { max_connections: 2, ..config(&listen, Direction::Receive) };
        let (_listener, mut received) = receiver(&listen, two).await;
        let call = url(&format!("srt://127.0.0.1:{port}?{keys}"));
        let (_first, sent) = sender(&call, config(&call, Direction::Send)).await;
        sleep(Duration::from_secs(1)).await;
        let to = SocketAddr::from(([127, 0, 0, 1], port));
        let floods = [spawn_blocking(move || rogue_datagrams(to)), spawn_blocking(move || rogue_callers(to))];
        let sending = tokio::spawn(async move {
            send(&sent, count).await;
            sent
        });
        let got = collect(&mut received, count * PAYLOAD).await;
        assert!(got == payloads(count), "{} of {count} payloads", got.len() / PAYLOAD);
        let _sent = sending.await.expect("no panic");
        for flood in floods {
            flood.await.expect("no panic");
        }
        let begun = tokio::time::Instant::now();
        let (_second, sent) = sender(&call, config(&call, Direction::Send)).await;
        let connected = timeout(PATIENCE, async {
            loop {
                sent.send(b"new".to_vec()).await.expect("the driver runs");
                if let Ok(Some(_)) = timeout(Duration::from_millis(20), received.recv()).await {
                    return;
                }
            }
        });
        connected.await.expect("a connection");
        println!("the new caller's media were played after {:?}, with 1 s of latency", begun.elapsed());
    }
}
