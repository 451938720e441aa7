//! Number of datagrams of a stream, sealed and in clear.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use crate::common;
use crate::common::home::Home;
use crate::common::wire::{Direction, Wire};
use crate::common::{clip, port, seconds};

/// Shorter ones carry no media: a transport packet has 188 bytes.
const LEAST: usize = 188;
/// Maximum IP-level size of a datagram.
const MTU: usize = 1400;

/// The sizes of the datagrams that carried a stream to the receiver over a path whose MTU is 1400, UDP payload.
fn datagrams(input: &Path, ip: IpAddr, sealed: bool) -> Vec<usize> {
    let name = format!("datagrams-{}-{sealed}", if ip.is_ipv4() { 4 } else { 6 });
    let (studio, van) = (Home::new(&format!("{name}-studio")), Home::new(&format!("{name}-van")));
    let at = SocketAddr::new(ip, port());
    let wire = Wire::between(at, |_, bytes| vec![bytes.to_vec()]);
    let front = SocketAddr::new(ip, wire.port());
    let (plain, to) = if sealed { ("", "@studio".into()) } else { ("--plain", front.to_string()) };
    if sealed {
        let text = studio.pairing(&front.to_string(), "");
        van.reads("key add studio", &text).succeeds();
    }
    let out = common::file(&format!("{name}.ts"));
    let receiver = studio.start(&format!("receive {at} {} --once {plain}", out.display()));
    receiver.says("listening");
    let path = format!("--path bind={ip},mtu={MTU} --latency 500 {plain}");
    van.run(&format!("send {} {to} {path}", input.display())).succeeds();
    receiver.end().succeeds();
    assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(input).unwrap());
    let recorded = wire.recorded();
    // Byte 0 of a sealed datagram is 1, of a handshake's 2 and more, of a plain one that of an SCTP port (5000).
    let media = |bytes: &[u8]| bytes.len() > LEAST && (bytes[0] == 1 || !sealed);
    let to_receiver = recorded.iter().filter(|r| r.direction == Direction::ToReceiver && media(&r.bytes));
    to_receiver.map(|r| r.bytes.len()).collect()
}

#[test]
fn a_sealed_stream_takes_few_datagrams_more_than_a_plain_one() {
    let (input, bytes) = seconds(4, "datagrams.ts");
    assert!(std::fs::metadata(clip()).unwrap().len() as usize > bytes.len());
    let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    for ip in loopback {
        let [plain, sealed] = [false, true].map(|sealed| datagrams(&input, ip, sealed));
        let most = MTU - if ip.is_ipv4() { 28 } else { 48 };
        let longest = |sizes: &[usize]| sizes.iter().copied().max().unwrap();
        println!(
            "{ip}: {} sealed of at most {}, {} plain of at most {}",
            sealed.len(),
            longest(&sealed),
            plain.len(),
            longest(&plain)
        );
        assert!(longest(&sealed) <= most, "{} in {most}", longest(&sealed));
        let ratio = sealed.len() as f64 / plain.len() as f64;
        assert!(ratio <= 1.2, "{ip}: {ratio}, {} to {}", sealed.len(), plain.len());
    }
}
