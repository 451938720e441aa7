use std::net::{IpAddr, SocketAddr};

use super::*;
use crate::pool::RecvPool;

fn on(address: &str) -> PathSocket {
    let spec = BindSpec { address: Some(address.parse().unwrap()), ..BindSpec::default() };
    PathSocket::bind(&spec).unwrap()
}

/// Returns whether this machine has IPv6; prints a line if it does not.
fn has_ipv6() -> bool {
    let has = std::net::UdpSocket::bind("[::1]:0").is_ok();
    if !has {
        eprintln!("skipped: no IPv6 on this machine");
    }
    has
}

fn transmit(remote: SocketAddr, contents: &[u8]) -> Transmit<'_> {
    Transmit { remote, src_ip: None, segment_size: contents.len(), contents }
}

/// Sends everything, waiting while the kernel's buffer is full.
async fn send(socket: &PathSocket, transmit: Transmit<'_>) {
    let mut rest = transmit;
    loop {
        match socket.try_send(&rest) {
            SendOutcome::Sent => return,
            SendOutcome::Blocked(sent) => rest.contents = &rest.contents[sent..],
            other => panic!("{other:?}"),
        }
        socket.writable().await.unwrap();
    }
}

async fn receive(socket: &PathSocket, pool: &mut RecvPool) -> Received {
    loop {
        if let Some(received) = socket.try_recv(pool).unwrap() {
            return received;
        }
        socket.readable().await.unwrap();
    }
}

/// `count` datagrams of `size` bytes, each filled with its number; the last is `last` bytes long.
fn numbered(count: usize, size: usize, last: usize) -> Vec<u8> {
    (0..count).flat_map(|i| vec![i as u8; if i + 1 == count { last } else { size }]).collect()
}

#[tokio::test]
async fn a_batch_arrives_as_separate_datagrams() {
    let families = if has_ipv6() { ["127.0.0.1", "::1"] } else { ["127.0.0.1"; 2] };
    for address in families {
        let (a, b, mut pool) = (on(address), on(address), RecvPool::new());
        let contents = numbered(40, 1200, 700);
        let batch =
            Transmit { remote: b.local_addr(), src_ip: None, segment_size: 1200, contents: &contents };
        send(&a, batch).await;
        let mut datagrams = Vec::new();
        while datagrams.len() < 40 {
            let received = receive(&b, &mut pool).await;
            assert_eq!((received.remote, received.local_ip), (a.local_addr(), Some(b.local_addr().ip())));
            datagrams.extend(received.into_datagrams());
        }
        for (i, datagram) in datagrams.iter().enumerate() {
            let len = if i == 39 { 700 } else { 1200 };
            assert!(
                datagram.len() == len && datagram.iter().all(|&byte| usize::from(byte) == i),
                "{address} {i}"
            );
        }
    }
}

#[tokio::test]
async fn batches_longer_than_the_kernel_takes_are_split() {
    let (a, b, mut pool) = (on("127.0.0.1"), on("127.0.0.1"), RecvPool::new());
    let contents = numbered(100, 1400, 1400);
    assert!(contents.len() > 2 * usize::from(u16::MAX));
    let batch = Transmit { remote: b.local_addr(), src_ip: None, segment_size: 1400, contents: &contents };
    send(&a, batch).await;
    let mut bytes = Vec::new();
    while bytes.len() < contents.len() {
        let received = receive(&b, &mut pool).await;
        assert!(received.datagrams().all(|d| d.len() == 1400));
        bytes.extend_from_slice(&received.contents);
    }
    assert_eq!(bytes, contents);
}

#[tokio::test]
async fn a_wildcard_socket_answers_from_the_address_it_was_sent_to() {
    let server = PathSocket::bind(&BindSpec::default()).unwrap();
    assert_eq!(server.bound(), Bound::Nothing);
    let (client, mut pool) = (on("127.0.0.1"), RecvPool::new());
    // All of 127.0.0.0/8 is local; by default the kernel would answer from 127.0.0.1.
    let asked: IpAddr = "127.0.0.5".parse().unwrap();
    let remote = SocketAddr::new(asked, server.local_addr().port());
    send(&client, transmit(remote, b"question")).await;
    let question = receive(&server, &mut pool).await;
    assert_eq!((question.remote, question.local_ip), (client.local_addr(), Some(asked)));
    assert!(question.interface_index.is_some());
    let answer = Transmit { src_ip: question.local_ip, ..transmit(question.remote, b"answer") };
    send(&server, answer).await;
    let answer = receive(&client, &mut pool).await;
    assert_eq!((answer.remote, &answer.contents[..]), (remote, &b"answer"[..]));
}

#[tokio::test]
async fn a_wildcard_socket_speaks_ipv6_as_well() {
    if !has_ipv6() {
        return;
    }
    let server = PathSocket::bind(&BindSpec::default()).unwrap();
    let (client, mut pool) = (on("::1"), RecvPool::new());
    let remote = SocketAddr::new("::1".parse().unwrap(), server.local_addr().port());
    send(&client, transmit(remote, b"question")).await;
    let question = receive(&server, &mut pool).await;
    assert_eq!((question.remote, question.local_ip), (client.local_addr(), Some(remote.ip())));
    send(&server, Transmit { src_ip: question.local_ip, ..transmit(question.remote, b"answer") }).await;
    assert_eq!(receive(&client, &mut pool).await.remote, remote);
}

#[tokio::test]
async fn an_empty_datagram_is_received_as_nothing() {
    let (a, mut pool) = (on("127.0.0.1"), RecvPool::new());
    let plain = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    plain.send_to(&[], a.local_addr()).unwrap();
    plain.send_to(b"x", a.local_addr()).unwrap();
    assert_eq!(receive(&a, &mut pool).await.datagrams().count(), 0);
    assert_eq!(receive(&a, &mut pool).await.datagrams().count(), 1);
}

#[tokio::test]
async fn a_datagram_that_is_too_long_is_reported() {
    let a = on("127.0.0.1");
    let outcome = a.try_send(&transmit(a.local_addr(), &[0; 65_508]));
    assert!(matches!(outcome, SendOutcome::TooBig), "{outcome:?}");
}

#[tokio::test]
async fn unreachable_networks_do_not_break_the_socket() {
    let (a, mut pool) = (on("127.0.0.1"), RecvPool::new());
    // The loopback address may not leave the machine, and broadcasting needs permission.
    for remote in ["203.0.113.1:9", "255.255.255.255:9"] {
        let outcome = a.try_send(&transmit(remote.parse().unwrap(), b"x"));
        assert!(matches!(outcome, SendOutcome::Lost), "{outcome:?}");
    }
    let closed = on("127.0.0.1").local_addr();
    for _ in 0..3 {
        send(&a, transmit(closed, b"x")).await;
    }
    send(&a, transmit(a.local_addr(), b"still here")).await;
    assert_eq!(&receive(&a, &mut pool).await.contents[..], b"still here");
}

#[tokio::test]
async fn each_failure_to_bind_has_its_own_message() {
    let spec = |address: &str, interface: Option<&str>, port| BindSpec {
        address: Some(address.parse().unwrap()),
        interface: interface.map(str::to_owned),
        port,
        scope: 0,
    };
    let taken = on("127.0.0.1");
    let port = taken.local_addr().port();
    let cases = [
        (spec("127.0.0.1", None, port), format!("UDP port {port} is in use on 127.0.0.1")),
        (spec("192.0.2.77", None, 0), "192.0.2.77 is not an address of this machine".into()),
        (spec("127.0.0.1", Some("nonesuch9"), 0), "no network interface is called nonesuch9".into()),
        (spec("127.0.0.1", Some(""), 0), "no network interface is called ".into()),
    ];
    for (spec, expected) in cases {
        assert_eq!(PathSocket::bind(&spec).unwrap_err().to_string(), expected);
    }
    assert!(matches!(
        PathSocket::bind(&BindSpec { port, ..BindSpec::default() }),
        Err(SocketError::PortInUse(_))
    ));
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_socket_bound_to_an_interface_receives_from_it_alone() {
    let spec = BindSpec { interface: Some("lo".into()), ..BindSpec::default() };
    let (a, mut pool) = (PathSocket::bind(&spec).unwrap(), RecvPool::new());
    assert_eq!(a.bound(), Bound::Interface);
    let b = on("127.0.0.1");
    let remote = SocketAddr::new("127.0.0.1".parse().unwrap(), a.local_addr().port());
    send(&b, transmit(remote, b"x")).await;
    assert_eq!(receive(&a, &mut pool).await.remote, b.local_addr());
    // The loopback reaches only this machine.
    let outcome = a.try_send(&transmit("[2001:db8::1]:9".parse().unwrap(), b"x"));
    assert!(matches!(outcome, SendOutcome::Lost), "{outcome:?}");
}

#[tokio::test]
async fn kernel_buffers_grow_as_far_as_the_system_lets_them() {
    let (receive, send) = on("127.0.0.1").kernel_buffers().unwrap();
    let plain = socket2::Socket::from(std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
    assert!(receive >= plain.recv_buffer_size().unwrap() && send >= plain.send_buffer_size().unwrap());
}

#[tokio::test]
async fn steady_receiving_reuses_its_buffers() {
    let (a, b, mut pool) = (on("127.0.0.1"), on("127.0.0.1"), RecvPool::new());
    let contents = numbered(20, 1400, 1400);
    let batch = Transmit { remote: b.local_addr(), src_ip: None, segment_size: 1400, contents: &contents };
    for _ in 0..200 {
        send(&a, batch).await;
        let mut got = 0;
        while got < contents.len() {
            got += receive(&b, &mut pool).await.contents.len();
        }
    }
    assert!(pool.arenas_allocated() <= 2, "{}", pool.arenas_allocated());
}
