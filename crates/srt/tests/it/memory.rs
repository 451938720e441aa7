//! Heap of endpoints under load.

use strandcast_proto::seeds::Seeds;
use strandcast_srt::{Config, Direction, Endpoint};

use crate::common::*;

/// A listener keeps nothing of callers that do not conclude.
#[test]
fn inductions_take_no_memory() {
    let mut listener = Endpoint::listen(Config::new(Direction::Receive), &Seeds::new(1, 0));
    let mut buf = Vec::with_capacity(2048);
    let used = allocation_counter::measure(|| {
        for n in 0..20_000_u32 {
            let from = format!("198.51.{}.{}:{}", n >> 8 & 0xff, n & 0xff, 1000 + n % 50_000);
            listener.handle_datagram(
                at(u64::from(n / 100)),
                address(&from),
                &Hs::induction(n).packet(0, 0, &[]),
            );
            while listener.poll_output(at(u64::from(n / 100)), &mut buf).is_some() {}
        }
    });
    assert!(used.bytes_current.abs() < 4096, "{} bytes stay", used.bytes_current);
    assert!(used.bytes_max < 64 << 10, "{} bytes at most", used.bytes_max);
}

/// A listener keeps nothing of callers that it refuses, but a table of fixed size.
#[test]
fn refused_callers_take_no_memory() {
    let mut listener = Endpoint::listen(encrypted(Direction::Receive), &Seeds::new(1, 0));
    let hs = Hs { extension: 3, ..Hs::conclusion(CALLER_ID, 0) };
    let mut wrong = crate::vectors::material(16);
    wrong[40] ^= 1;
    let request = [(1, hs_message(LIVE, 120, 120)), (3, wrong), (5, vec![b'a'; 512])];
    let used = allocation_counter::measure(|| {
        for n in 0..1000_u64 {
            let from = format!("198.51.100.{}:{}", n & 0xff, 1000 + n);
            conclude(&mut listener, at(10 * n), &from, hs, &request);
        }
    });
    assert!(used.bytes_current < 64 << 10, "{} bytes stay", used.bytes_current);
    assert_eq!(listener.connections(), 0);
}

/// Answers that are not taken are bounded as well.
#[test]
fn waiting_answers_are_bounded() {
    let mut listener = Endpoint::listen(Config::new(Direction::Receive), &Seeds::new(1, 0));
    let used = allocation_counter::measure(|| {
        for n in 0..20_000 {
            listener.handle_datagram(at(0), address(CALLER), &Hs::induction(n).packet(0, 0, &[]));
        }
    });
    assert!(used.bytes_current < 128 << 10, "{} bytes", used.bytes_current);
}

/// Buffers of a receiver hold as many packets as they are configured for, whatever a peer sends.
#[test]
fn a_receiver_holds_no_more_than_its_buffer() {
    let config = Config { buffer_packets: 256, ..Config::new(Direction::Receive) };
    let mut peer = Scripted::connect(config, &[]);
    let mut random = Seeds::new(8, 0).stream("numbers");
    let used = allocation_counter::measure(|| {
        for n in 0..20_000_u32 {
            let seq = 100 + random.below(20_000) as u32;
            peer.handle(1, &data_packet(seq, 1 + n, random.u32(), peer.to, &[7; 1456]));
            if n % 16 == 0 {
                let range = [seq, seq + random.below(1 << 30) as u32].map(u32::to_be_bytes).concat();
                peer.handle(1, &control(0x0007_0000, 0, 0, peer.to, &range));
            }
        }
    });
    assert!(used.bytes_max < 1 << 20, "{} bytes", used.bytes_max);
}
