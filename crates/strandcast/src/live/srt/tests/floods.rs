//! A listener that strangers flood, over sockets of this machine.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_srt::{Config, Direction, Endpoint, Event, Passphrase};
use tokio::sync::mpsc;
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

fn caller(to: SocketAddr, passphrase: Option<&str>, seed: u64) -> Endpoint {
    let passphrase = passphrase.map(|text| Passphrase::new(text).expect("it is long enough"));
    let config = Config { passphrase, ..Config::new(Direction::Send) };
    Endpoint::call(Instant::ZERO, config, to, &Seeds::new(seed, 0))
}

/// Both requests of a caller, the second one with the listener's cookie.
fn requests(socket: &UdpSocket, to: SocketAddr, passphrase: Option<&str>, seed: u64) -> [Vec<u8>; 2] {
    let mut end = caller(to, passphrase, seed);
    let (mut first, mut second, mut buffer) = (Vec::new(), Vec::new(), [0; 2048]);
    end.poll_output(Instant::ZERO, &mut first).expect("a request");
    socket.set_read_timeout(Some(Duration::from_secs(1))).expect("a timeout");
    // The listener is busy with other sockets.
    for _ in 0..10 {
        socket.send_to(&first, to).expect("it leaves");
        if let Ok((len, from)) = socket.recv_from(&mut buffer) {
            end.handle_datagram(Instant::ZERO, from, &buffer[..len]);
            end.poll_output(Instant::ZERO, &mut second).expect("a second request");
            return [first, second];
        }
    }
    panic!("no answer to a request");
}

/// Datagrams of all kinds, from sixteen addresses: mutated requests of both kinds, and random bytes.
fn rogue_datagrams(to: SocketAddr, passphrase: Option<&str>) {
    let (sockets, mut random) = ([(); 16].map(|()| socket()), Seeds::new(1, 0).stream("rogues"));
    let requests: Vec<_> =
        (0..).zip(&sockets).map(|(seed, socket)| requests(socket, to, passphrase, seed)).collect();
    for n in 0..DATAGRAMS {
        let (place, kind) = (n % 16, n % 3);
        let mut data = match requests[place].get(kind) {
            Some(request) => request.clone(),
            None => {
                let head = KINDS[random.below(9) as usize].to_be_bytes().to_vec();
                let rest = (0..random.below(200)).map(|_| random.u32() as u8);
                head.into_iter().chain(rest).collect()
            }
        };
        let at = random.below(data.len() as u64) as usize;
        data[at] ^= random.u32() as u8;
        // A port that is closed is a listener that has stopped.
        let _ = sockets[place].send_to(&data, to);
        if n % BURST == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Callers that ask with another passphrase and do not wait for the answer.
fn rogue_callers(to: SocketAddr) {
    let (mut out, mut buffer) = (Vec::new(), [0; 2048]);
    for seed in 0..CALLERS {
        let (socket, mut end) = (socket(), caller(to, Some("another-passphrase"), seed));
        socket.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
        let mut ask = |end: &mut Endpoint| {
            while let Some(to) = end.poll_output(Instant::ZERO, &mut out) {
                let _ = socket.send_to(&out, to);
            }
        };
        ask(&mut end);
        if let Ok((len, from)) = socket.recv_from(&mut buffer) {
            end.handle_datagram(Instant::ZERO, from, &buffer[..len]);
        }
        ask(&mut end);
    }
}

/// Both floods, on threads of their own.
fn floods(port: u16) -> [tokio::task::JoinHandle<()>; 2] {
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    [
        spawn_blocking(move || rogue_datagrams(to, Some("another-passphrase"))),
        spawn_blocking(move || rogue_callers(to)),
    ]
}

/// Calls a port of this machine from an address of it. Returns the time until the connection, or `None` without one
/// within the patience. The connection ends at once.
fn connect_from(address: [u8; 4], port: u16) -> Option<Duration> {
    let socket = UdpSocket::bind(SocketAddr::from((address, 0))).expect("an address of this machine");
    socket.set_read_timeout(Some(Duration::from_millis(1))).expect("a timeout");
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    let config = Config {
        passphrase: Some(Passphrase::new("correct-horse").expect("it is long enough")),
        connect_timeout: PATIENCE,
        ..Config::new(Direction::Send)
    };
    let seeds = Seeds::new(u64::from(socket.local_addr().expect("an address").port()), 1);
    let begun = std::time::Instant::now();
    let now = || Instant::ZERO + begun.elapsed();
    let mut end = Endpoint::call(now(), config, to, &seeds);
    let (mut out, mut buffer) = (Vec::new(), [0; 2048]);
    let mut send = |end: &mut Endpoint| {
        while let Some(to) = end.poll_output(now(), &mut out) {
            // A port that is closed is one that does not answer.
            let _ = socket.send_to(&out, to);
        }
    };
    loop {
        send(&mut end);
        if let Ok((len, from)) = socket.recv_from(&mut buffer) {
            end.handle_datagram(now(), from, &buffer[..len]);
        }
        match end.poll_event() {
            Some(Event::Connected { .. }) => {
                let time = begun.elapsed();
                end.leave();
                send(&mut end);
                return Some(time);
            }
            Some(Event::Failed { .. }) => return None,
            _ => {}
        }
    }
}

/// Largest resident memory of a process until now in kB; `None` after its end.
fn peak_kb(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

mod thorough {
    use super::*;

    /// Rogue callers and the callers after them have one address, the caller among them another one.
    #[tokio::test]
    async fn a_flood_costs_a_running_stream_nothing_and_keeps_no_caller_out() {
        let (port, count) = (free_port(), 4000);
        let keys = "latency=1000&passphrase=correct-horse";
        let listen = url(&format!("srt://127.0.0.1:{port}?mode=listener&{keys}"));
        let config_of_listener = Config { max_connections: 3, ..config(&listen, Direction::Receive) };
        let (_listener, mut received) = receiver(&listen, config_of_listener).await;
        let call = url(&format!("srt://127.0.0.1:{port}?{keys}"));
        let (_first, sent) = sender(&call, config(&call, Direction::Send)).await;
        sleep(Duration::from_secs(1)).await;
        let floods = floods(port);
        let among = spawn_blocking(move || connect_from([127, 0, 0, 2], port));
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
        let among = among.await.expect("no panic").expect("a connection during the flood");
        let after = spawn_blocking(move || connect_from([127, 0, 0, 1], port));
        let after = after.await.expect("no panic").expect("a connection after the flood");
        println!(
            "a caller was connected after {among:?} during the flood, and after {after:?} when it was over"
        );
    }

    /// Mutated requests and random bytes reach a listener without a passphrase, which accepts some of them as callers.
    /// Five seconds later a caller sends media from this machine. Returns true if all of them came out.
    async fn plays_after_a_flood(port: u16, mut output: mpsc::Receiver<Vec<u8>>) -> bool {
        let to = SocketAddr::from(([127, 0, 0, 1], port));
        spawn_blocking(move || rogue_datagrams(to, None)).await.expect("no panic");
        sleep(Duration::from_secs(5)).await;
        while output.try_recv().is_ok() {}
        let call = url(&format!("srt://127.0.0.1:{port}?latency=1000"));
        let (driver, sent) = sender(&call, config(&call, Direction::Send)).await;
        for _ in 0..200 {
            sleep(Duration::from_millis(50)).await;
            if driver.was_connected() {
                break;
            }
        }
        send(&sent, 200).await;
        let mut got = Vec::new();
        while let Ok(Some(read)) = timeout(Duration::from_secs(3), output.recv()).await {
            got.extend_from_slice(&read);
        }
        let whole = payloads(150);
        got.windows(whole.len()).any(|part| part == whole)
    }

    #[tokio::test]
    async fn a_flood_does_not_make_a_listener_without_a_passphrase_deaf() {
        let port = free_port();
        let listen = url(&format!("srt://127.0.0.1:{port}?mode=listener&latency=1000"));
        let (_listener, received) = receiver(&listen, config(&listen, Direction::Receive)).await;
        assert!(plays_after_a_flood(port, received).await);
    }

    /// Callers with another passphrase do what they are for: libsrt 1.5.1 holds memory for each of them for some time. The
    /// listener here holds none (`refused_callers_take_no_memory` of the crate).
    #[tokio::test]
    async fn the_same_callers_take_memory_of_a_listener_of_libsrt() {
        if !part("srt") {
            return;
        }
        let port = free_port();
        let listen = format!("srt://127.0.0.1:{port}?mode=listener&latency=1000&passphrase=correct-horse");
        let mut command = std::process::Command::new("prlimit");
        command.args(["--as=4000000000", "srt-live-transmit", "-q", "-a:yes", &listen, "file://con"]);
        let quiet = std::process::Stdio::null;
        let mut child = command.stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().expect("prlimit");
        sleep(Duration::from_secs(1)).await;
        let before = peak_kb(child.id()).expect("the listener of libsrt runs");
        let to = SocketAddr::from(([127, 0, 0, 1], port));
        spawn_blocking(move || rogue_callers(to)).await.expect("no panic");
        let after = peak_kb(child.id());
        let _ = child.kill();
        let _ = child.wait();
        println!("libsrt held {before} kB before, {after:?} kB after {CALLERS} callers");
        // A listener that has ended has no memory.
        assert!(after.is_none_or(|after| after > 2 * before));
    }
}
