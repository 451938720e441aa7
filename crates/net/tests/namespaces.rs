//! Two uplinks to one server, in network namespaces of this test: it does not touch the machine's network.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use strandcast_net::driver::Uplink;
use strandcast_net::interface::{Interface, PathSpec, Routes, interfaces};
use strandcast_net::pool::RecvPool;
use strandcast_net::socket::{BindSpec, Bound, PathSocket, SendOutcome, Transmit};
use strandcast_testing::namespaces::play;

/// The server's address, reached over both links, on neither's subnet.
const SERVER: &str = "203.0.113.1:9899";

/// Client: up1 (best default route), up2 (second), up3 (no route to the server). Server: down1, down2. MTU 1400.
const NETWORK: &str = r#"
in_server ip addr add 203.0.113.1/32 dev lo
for i in 1 2; do
    ip link add up$i mtu 1400 type veth peer name down$i mtu 1400 netns $server
    ip addr add 10.78.$i.2/24 dev up$i
    ip link set up$i up
    in_server ip addr add 10.78.$i.1/24 dev down$i
    in_server ip link set down$i up
    ip route add default via 10.78.$i.1 dev up$i metric ${i}00
done
ip link add up3 type veth peer name unplugged
ip link set unplugged up
ip addr add 10.78.3.2/24 dev up3
ip link set up3 up
"#;

/// Runs without a test harness: one program plays three roles.
fn main() {
    match std::env::var("ROLE").as_deref() {
        Ok("server") => run(server()),
        Ok("client") => run(client()),
        _ => play("two_uplinks_without_policy_routing", NETWORK, 30, &[]),
    }
}

fn run(role: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(role);
}

/// Answers every datagram from the address to which it was sent, with the name of the receiving interface.
async fn server() {
    let spec = BindSpec { port: SERVER.parse::<SocketAddr>().unwrap().port(), ..BindSpec::default() };
    let (socket, mut pool) = (PathSocket::bind(&spec).unwrap(), RecvPool::new());
    loop {
        socket.readable().await.unwrap();
        while let Some(question) = socket.try_recv(&mut pool).unwrap() {
            let all = interfaces().unwrap();
            // An interface may carry its first packets before it is listed as running; the client repeats its
            // datagram.
            let Some(by) = all.iter().find(|i| i.index == question.interface_index) else { continue };
            for datagram in question.datagrams() {
                let answer = format!("{} {}", by.name, datagram.len());
                let (remote, src_ip, contents) = (question.remote, question.local_ip, answer.as_bytes());
                let _ = socket.try_send(&Transmit { remote, src_ip, segment_size: contents.len(), contents });
            }
        }
    }
}

async fn client() {
    let host: SocketAddr = SERVER.parse().unwrap();
    let all = interfaces().unwrap();
    let taken = Uplink::new(PathSpec::any(), &[host]).takes(&all, &mut Routes::default());
    let spec = |i: &&Interface| PathSpec::interface(&i.name);
    let specs: Vec<PathSpec> = taken.iter().map(spec).collect();
    let named: Vec<String> = specs.iter().map(PathSpec::to_string).collect();
    assert_eq!(named, ["if=up1", "if=up2"]);
    let open = |spec: &PathSpec| PathSocket::bind(&spec.bind_spec(&all, host).unwrap()).unwrap();
    let sockets: Vec<PathSocket> = specs.iter().map(open).collect();
    assert!(sockets.iter().all(|socket| socket.bound() == Bound::Interface));
    wait_for_server(&sockets[0]).await;
    // The routing table alone would send both over up1.
    assert_eq!(ask(&sockets[0], 100).await.as_deref(), Some("down1 100"));
    assert_eq!(ask(&sockets[1], 100).await.as_deref(), Some("down2 100"));
    mtu(&sockets[1]).await;
    fall_and_rise(&sockets[1]).await;
    assert_eq!(ask(&sockets[0], 100).await.as_deref(), Some("down1 100"));
}

/// Datagrams are never fragmented: a datagram beyond the link's 1400 bytes is refused, alone and in a batch.
async fn mtu(socket: &PathSocket) {
    assert_eq!(ask(socket, 1372).await.as_deref(), Some("down2 1372"));
    assert!(matches!(send(socket, 1373, 1), SendOutcome::TooBig));
    assert!(matches!(send(socket, 1373, 10), SendOutcome::TooBig));
    assert!(matches!(send(socket, 1372, 10), SendOutcome::Sent));
    for _ in 0..10 {
        assert_eq!(answer(socket).await.as_deref(), Some("down2 1372"));
    }
}

/// The interface goes down and returns: sending fails, and the socket continues afterwards.
async fn fall_and_rise(socket: &PathSocket) {
    let ip = |args: &str| {
        let done = Command::new("ip").args(args.split(' ')).status();
        assert!(done.is_ok_and(|status| status.success()), "ip {args}");
    };
    ip("link set up2 down");
    assert!(matches!(send(socket, 100, 1), SendOutcome::Lost));
    ip("link set up2 up");
    ip("route add default via 10.78.2.1 dev up2 metric 200");
    assert_eq!(ask(socket, 100).await.as_deref(), Some("down2 100"));
    ip("addr del 10.78.2.2/24 dev up2");
    assert!(matches!(send(socket, 100, 1), SendOutcome::Lost));
}

async fn wait_for_server(socket: &PathSocket) {
    for _ in 0..50 {
        if ask(socket, 1).await.is_some() {
            return;
        }
    }
    panic!("the server does not answer");
}

async fn ask(socket: &PathSocket, len: usize) -> Option<String> {
    let outcome = send(socket, len, 1);
    assert!(matches!(outcome, SendOutcome::Sent), "{outcome:?}");
    answer(socket).await
}

fn send(socket: &PathSocket, len: usize, count: usize) -> SendOutcome {
    let contents = vec![0; len * count];
    let remote = SERVER.parse().unwrap();
    socket.try_send(&Transmit { remote, src_ip: None, segment_size: len, contents: &contents })
}

/// Returns the next answer, whose source must be the destination of the request; `None` if none arrives
/// within 200 ms.
async fn answer(socket: &PathSocket) -> Option<String> {
    let mut pool = RecvPool::new();
    let received = async {
        loop {
            socket.readable().await.unwrap();
            if let Some(received) = socket.try_recv(&mut pool).unwrap() {
                return received;
            }
        }
    };
    let received = tokio::time::timeout(Duration::from_millis(200), received).await.ok()?;
    assert_eq!(received.remote, SERVER.parse().unwrap());
    Some(String::from_utf8(received.contents.to_vec()).unwrap())
}
