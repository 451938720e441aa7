//! Media of viewers.

use std::io::{Read as _, Write as _};

use super::Served;
use super::http::Stream;
use crate::common::seconds;

/// Length of a transport packet.
const PACKET: usize = 188;

fn view(served: &Served, path: &str) -> Box<dyn Stream> {
    let mut stream = served.port.connect().expect("it listens");
    // The end of a response of HTTP/1.0 is that of its connection: no chunks.
    stream
        .write_all(format!("GET {path} HTTP/1.0\r\nhost: localhost\r\n\r\n").as_bytes())
        .expect("it is open");
    stream
}

/// Reads the head of a response byte by byte.
fn head(stream: &mut dyn Stream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a head");
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).to_lowercase()
}

#[test]
fn a_viewer_gets_what_is_recorded_from_a_key_frame_on() {
    let served = Served::start("view", "");
    let (clip, media) = seconds(4, "api-view.ts");
    let mut viewer = view(&served, "/streams/a.ts");
    // One that never reads changes nothing for others.
    let _idle = view(&served, "/streams/a.ts");
    let text = head(&mut *viewer);
    assert!(text.starts_with("http/1.0 200") && text.contains("content-type: video/mp2t"), "{text}");
    let van = &served.studio.van;
    let sends = van.start(&format!("send {} @studio --stream a --latency 500", clip.display()));
    let mut seen = vec![0; 500 * PACKET];
    viewer.read_exact(&mut seen).expect("media come in time");
    assert!(seen.chunks(PACKET).all(|packet| packet[0] == 0x47));
    assert_eq!(u16::from_be_bytes([seen[1], seen[2]]) & 0x1fff, 0, "the association table is first");
    // Random access: adaptation field with its flags.
    let first = &seen[2 * PACKET..3 * PACKET];
    assert!(first[3] & 0x20 != 0 && first[4] > 0 && first[5] & 0x40 != 0, "{:?}", &first[..6]);
    assert!(
        media.windows(seen.len() - 2 * PACKET).any(|part| part == &seen[2 * PACKET..]),
        "it is as it was sent"
    );
    // One that asks for the last key frame has a picture at once, and the other one waits for the next.
    let mut late = view(&served, "/streams/a.ts?from=last");
    let mut next = view(&served, "/streams/a.ts");
    let begins = |viewer: &mut Box<dyn Stream>| {
        head(&mut **viewer);
        let mut seen = vec![0; 20 * PACKET];
        viewer.read_exact(&mut seen).expect("media come in time");
        assert_eq!(u16::from_be_bytes([seen[1], seen[2]]) & 0x1fff, 0, "the association table is first");
        media.windows(18 * PACKET).position(|part| part == &seen[2 * PACKET..]).expect("it is as it was sent")
    };
    let (late, next) = (begins(&mut late), begins(&mut next));
    assert!(late < next, "{late} and {next}");
    sends.end().succeeds();
    served.server.until("a recording", || served.studio.recorded("a") == [media.clone()]);
    // The stream is stopped: so are its viewers.
    assert_eq!(served.socket.asks("POST /v1/streams/a/stop", &[]).status, 200);
    viewer.read_to_end(&mut seen).expect("it ends");
    served.server.until("it is stopped", || served.port.get("/streams/a.ts").status == 409);
    assert_eq!(served.port.get("/streams/c.ts").status, 404);
    assert_eq!(served.port.asks("HEAD /streams/b.ts", &[]).status, 200);
}
