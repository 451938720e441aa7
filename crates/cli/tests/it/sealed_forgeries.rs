//! Chunks that an observer forges for a stream with keys, once in clear and once in an envelope with the stream's own
//! connection ids. The observer has everything of the association except its keys: verification tags, TSNs, the cookie,
//! the stream's number. Without keys most of these chunks end the stream or play something else (`forged.rs`,
//! `takeover.rs`).

use std::path::Path;

use bytes::Bytes;
use strandcast_media::pack::{self, Body, End, Message};
use strandcast_proto::wire::chunk::{
    Abort, CookieEcho, Data, DataHeader, ForwardTsn, GapBlock, Init, Report, ReportItem, ReportItemFlavour,
    Sack, SackHeader, Shutdown, report,
};
use strandcast_proto::wire::{Cause, Chunk, Header, Packet, PacketWriter, Tsn, VerificationTag};

use crate::common;
use crate::common::scene::{Scene, as_it_is};
use crate::common::wire::{Direction, Wire};
use crate::common::{Running, captured, clip, file, port, start};

/// Far beyond what was sent, at the maximum distance by which a TSN can be ahead of another.
const BEYOND: u32 = 1 << 23;
/// Bytes before and after the ciphertext (ADR 17).
const ENVELOPE: (usize, usize) = (13, 16);

/// Values of an association from `--pcap` of the sender.
struct Association {
    to_receiver: Header,
    to_sender: Header,
    init: Init,
    cookie: CookieEcho,
    /// The newest chunk of data, and the media header in it.
    data: DataHeader,
    media: pack::Header,
    acked: Tsn,
}

impl Association {
    /// Reads a capture, as soon as all is there.
    fn seen(receiver: &Running, pcap: &Path) -> Association {
        let found = std::cell::RefCell::new(None);
        receiver.until("a capture", || {
            *found.borrow_mut() = Association::read(captured::packets(pcap));
            found.borrow().is_some()
        });
        found.into_inner().unwrap()
    }

    fn read(packets: Vec<Vec<u8>>) -> Option<Association> {
        let (mut init, mut cookie, mut data, mut acked) = (None, None, None, None);
        for packet in packets {
            let packet = Packet::authentic(packet.into()).unwrap();
            for chunk in packet.chunks() {
                match chunk.unwrap().1 {
                    Chunk::Init(chunk) => init = Some(chunk),
                    Chunk::CookieEcho(chunk) => cookie = Some(chunk),
                    Chunk::Sack(sack) => acked = Some((packet.header, sack.header.cumulative_tsn_ack)),
                    Chunk::Data(chunk) => {
                        let media = Message::decode(chunk.payload);
                        data = media.map(|m| (packet.header, chunk.header, m.header)).ok().or(data);
                    }
                    _ => {}
                }
            }
        }
        let ((to_receiver, data, media), (to_sender, acked)) = (data?, acked?);
        Some(Association { to_receiver, to_sender, init: init?, cookie: cookie?, data, media, acked })
    }

    /// A chunk of data behind the newest one.
    fn data(&self, behind: u32, media: Message) -> Chunk {
        let header = DataHeader { tsn: self.data.tsn + behind, ..self.data };
        Data { header, payload: media.encode() }.into()
    }

    /// The header of a media message behind the newest one.
    fn media(&self, behind: u32) -> pack::Header {
        pack::Header { sequence: self.media.sequence.wrapping_add(behind), ..self.media }
    }
}

/// A forgery, and the side that receives it.
struct Forgery {
    name: &'static str,
    to: Direction,
    /// True if it harms a stream without keys.
    harms: bool,
    /// Packets of chunks.
    packets: fn(&Association) -> Vec<Vec<Chunk>>,
}

/// Packets with the tag of the side that they are for; an INIT has none.
fn packet(of: &Association, to: Direction, chunks: &[Chunk]) -> Vec<u8> {
    let mut header = if to == Direction::ToReceiver { of.to_receiver } else { of.to_sender };
    if matches!(chunks, [Chunk::Init(_)]) {
        header.verification_tag = VerificationTag(0);
    }
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, header);
    assert!(chunks.iter().all(|chunk| writer.chunk(chunk)));
    writer.finish();
    out
}

/// Returns the packet in envelopes like the newest that passed: after it, far ahead of it, and in the next generation
/// of keys; unchanged, and as any wrong key would leave it.
fn enveloped(scene: &Scene, to: Direction, packet: &[u8]) -> Vec<Vec<u8>> {
    let recorded = scene.wire.recorded();
    let newest =
        recorded.iter().rfind(|r| r.direction == to && r.bytes[0] == 1).expect("data passed").bytes.clone();
    let (front, number) = (&newest[..ENVELOPE.0 - 4], u32::from_be_bytes(newest[9..13].try_into().unwrap()));
    let scrambled: Vec<u8> = packet.iter().enumerate().map(|(n, b)| b ^ (n * 167 + 59) as u8).collect();
    let numbers = [1, 1000, 1 << 22].map(|ahead| number.wrapping_add(ahead).to_be_bytes());
    let of = |number: &[u8; 4], inside: &[u8]| [front, number, inside, &[0xa5; ENVELOPE.1]].concat();
    numbers.iter().flat_map(|number| [of(number, packet), of(number, &scrambled)]).collect()
}

/// Streams continue when each of these packets is forged for them.
fn have_no_effect(forgeries: &[Forgery]) {
    std::thread::scope(|scope| {
        for forgery in forgeries {
            scope.spawn(|| has_no_effect(forgery));
        }
    });
}

fn has_no_effect(forgery: &Forgery) {
    let (name, to) = (format!("forged-{}", forgery.name), forgery.to);
    let pcap = file(&format!("{name}.pcap"));
    let scene = Scene::set(&name, as_it_is);
    scene.plays_on(4, &format!("--pcap {}", pcap.display()), |scene| {
        let of = Association::seen(&scene.receiver, &pcap);
        for chunks in (forgery.packets)(&of) {
            scene.strike(to, &packet(&of, to, &chunks));
        }
        scene.goes_on();
        let of = Association::seen(&scene.receiver, &pcap);
        for chunks in (forgery.packets)(&of) {
            for datagram in enveloped(scene, to, &packet(&of, to, &chunks)) {
                scene.strike(to, &datagram);
            }
        }
        scene.goes_on();
    });
}

/// The forgeries are effective: without keys they interrupt or end a stream, or something else is played.
fn harms(forgery: &Forgery) {
    let [out, pcap] = ["ts", "pcap"].map(|end| file(&format!("harmful-{}.{end}", forgery.name)));
    let (port, clip) = (port(), std::fs::read(clip()).unwrap());
    let receiver = start(&format!("receive 127.0.0.1:{port} {}", out.display()));
    receiver.says("listening");
    let wire = Wire::honest(port);
    let to = format!("127.0.0.1:{} --pcap {}", wire.port(), pcap.display());
    let sender = start(&format!("send {} {to} --latency 500", common::clip().display()));
    let played = || std::fs::read(&out).unwrap_or_default();
    receiver.until("data", || played().len() > 20_000);
    let of = Association::seen(&receiver, &pcap);
    for chunks in (forgery.packets)(&of) {
        wire.forge(forgery.to, &packet(&of, forgery.to, &chunks));
    }
    let ended = || ["is back as", "played "].iter().any(|words| receiver.said().contains(words));
    let harmed = || ended() || sender.said().contains("refuses: forged") || !clip.starts_with(&played());
    receiver.until(forgery.name, harmed);
}

fn abort(words: &'static str) -> Vec<Vec<Chunk>> {
    let causes = vec![Cause::UserInitiatedAbort(Bytes::from_static(words.as_bytes()))];
    vec![vec![Abort { reflected_tag: false, causes }.into()]]
}

fn sack(to: Tsn, a_rwnd: u32, gap_blocks: &[GapBlock]) -> Vec<Vec<Chunk>> {
    let header = SackHeader { cumulative_tsn_ack: to, a_rwnd, flags: 1 };
    vec![vec![Sack::new(header, gap_blocks, &[]).into()]]
}

/// Transport packets of the attacker's own.
fn own() -> Body {
    let mut packet = [b'z'; 188];
    packet[0] = 0x47;
    Body::Data(packet.repeat(7).into())
}

const FOR_A_RECEIVER: &[Forgery] = &[
    Forgery {
        name: "forward-tsn",
        to: Direction::ToReceiver,
        harms: true,
        packets: |of| {
            let new_cumulative_tsn = of.data.tsn + BEYOND;
            vec![vec![ForwardTsn { new_cumulative_tsn, streams: Default::default() }.into()]]
        },
    },
    Forgery {
        name: "shutdown-to-receiver",
        to: Direction::ToReceiver,
        harms: true,
        packets: |of| vec![vec![Shutdown { cumulative_tsn_ack: of.data.tsn + BEYOND }.into()]],
    },
    Forgery {
        name: "data",
        to: Direction::ToReceiver,
        harms: true,
        packets: |of| {
            let message = |n| Message { header: of.media(n), body: own() };
            (1..=30).map(|n| vec![of.data(n, message(n))]).collect()
        },
    },
    Forgery {
        name: "end",
        to: Direction::ToReceiver,
        harms: true,
        packets: |of| {
            let messages = u64::from(of.media.sequence) + 1;
            let end = End { messages, bytes: messages * 7 * 188, crc32c: 0 };
            vec![vec![of.data(1, Message { header: of.media(1), body: Body::End(end) })]]
        },
    },
    Forgery { name: "abort-to-receiver", to: Direction::ToReceiver, harms: true, packets: |_| abort("") },
    Forgery {
        name: "fragments",
        to: Direction::ToReceiver,
        harms: true,
        packets: |of| {
            let fragment = |n: u32, beginning| {
                let header = DataHeader {
                    tsn: of.data.tsn + n,
                    beginning,
                    ending: false,
                    unordered: false,
                    ..of.data
                };
                Data { header, payload: Bytes::from_static(&[7; 100]) }.into()
            };
            vec![vec![fragment(1, true), fragment(2, true)], vec![fragment(3, false)]]
        },
    },
    Forgery {
        name: "moved",
        to: Direction::ToReceiver,
        harms: false,
        packets: |_| {
            let item = |path| ReportItem {
                kind: report::KIND_MOVED,
                path: Some(path),
                reliability: ReportItemFlavour::Reliable(1000 + u32::from(path)),
                payload: Bytes::new(),
            };
            vec![vec![Report { items: (0..2).map(item).collect() }.into()]; 10]
        },
    },
];

const FOR_A_SENDER: &[Forgery] = &[
    Forgery { name: "refusal", to: Direction::ToSender, harms: true, packets: |_| abort("refused: forged") },
    Forgery { name: "abort-to-sender", to: Direction::ToSender, harms: true, packets: |_| abort("") },
    Forgery {
        name: "shutdown-to-sender",
        to: Direction::ToSender,
        harms: true,
        packets: |of| vec![vec![Shutdown { cumulative_tsn_ack: of.acked }.into()]],
    },
    Forgery {
        name: "sack-5-ahead",
        to: Direction::ToSender,
        harms: false,
        packets: |of| sack(of.data.tsn + 5, 1 << 20, &[]),
    },
    Forgery {
        name: "sack-far-ahead",
        to: Direction::ToSender,
        harms: true,
        packets: |of| sack(of.data.tsn + BEYOND, 1 << 20, &[]),
    },
    Forgery {
        name: "no-window",
        to: Direction::ToSender,
        harms: false,
        packets: |of| sack(of.acked, 0, &[]),
    },
    Forgery {
        name: "long-sack",
        to: Direction::ToSender,
        harms: false,
        packets: |of| sack(of.acked, 1 << 20, &[GapBlock { start: 2, end: u16::MAX }; 16_000]),
    },
];

#[test]
fn forged_chunks_do_nothing_to_a_receiver() {
    have_no_effect(FOR_A_RECEIVER);
}

#[test]
fn forged_chunks_do_nothing_to_a_sender() {
    have_no_effect(FOR_A_SENDER);
}

#[test]
fn the_same_chunks_harm_a_stream_without_keys() {
    std::thread::scope(|scope| {
        for forgery in FOR_A_RECEIVER.iter().chain(FOR_A_SENDER).filter(|forgery| forgery.harms) {
            scope.spawn(|| harms(forgery));
        }
    });
}

/// A cookie that was seen, echoed from elsewhere, and a handshake in the sender's name with the number of its stream.
#[test]
fn a_seen_handshake_and_a_seen_stream_take_nothing_over() {
    let to = Direction::ToReceiver;
    have_no_effect(&[
        Forgery { name: "cookie", to, harms: false, packets: |of| vec![vec![of.cookie.clone().into()]; 10] },
        Forgery {
            name: "takeover",
            to,
            harms: false,
            packets: |of| {
                let media = Message { header: pack::Header { sequence: 0, ..of.media }, body: own() };
                let header = DataHeader { tsn: of.init.initial_tsn, ..of.data };
                let data = Data { header, payload: media.encode() };
                vec![vec![of.init.clone().into()], vec![of.cookie.clone().into(), data.into()]]
            },
        },
    ]);
}
