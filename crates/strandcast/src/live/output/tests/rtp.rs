//! RTP as other programs take it.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::super::{Batch, Output as _, Udp};

/// Bytes per second of the clip, at which it is sent.
const RATE: usize = 2_850_000 / 8;
/// Seven transport packets.
const PAYLOAD: usize = 7 * 188;

/// Returns true if a part of the tests does not run here, and says so.
fn skipped(part: &str) -> bool {
    let parts = std::env::var("STRANDCAST_PARTS").unwrap_or_default();
    let skipped = !parts.split_whitespace().any(|named| named == part);
    if skipped {
        println!("not run: {part} is not in STRANDCAST_PARTS");
    }
    skipped
}

fn clip() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../media/clip.ts")).expect("the clip")
}

/// Sends the clip to a program that listens on `port`, and returns what it writes.
async fn played(port: u16, mut program: Command) -> Vec<u8> {
    program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = program.spawn().expect("the program");
    let mut output = child.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        output.read_to_end(&mut all).map(|_| all)
    });
    for _ in 0..6000 {
        if is_open(port) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(is_open(port), "the program does not listen");
    let url = format!("rtp://127.0.0.1:{port}").parse().expect("a URL");
    let mut rtp = Udp::open(&url).await.expect("a socket");
    let (begun, clip) = (tokio::time::Instant::now(), clip());
    for (n, payload) in clip.chunks(PAYLOAD).enumerate() {
        tokio::time::sleep_until(begun + Duration::from_secs_f64((n * PAYLOAD) as f64 / RATE as f64)).await;
        rtp.write(&Batch::from_iter([payload])).await.expect("it continues");
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(rtp.troubles(), [], "all of it left");
    end(&mut child);
    reader.join().expect("no panic").expect("a pipe")
}

/// Ends a program as a user does.
fn end(child: &mut Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    child.wait().expect("it ends");
}

/// Returns whether a program has opened a UDP port.
fn is_open(port: u16) -> bool {
    let tables =
        ["/proc/net/udp", "/proc/net/udp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    tables.iter().flat_map(|table| table.lines()).any(|line| {
        let local = line.split_whitespace().nth(1).unwrap_or_default();
        local.ends_with(&format!(":{port:04X}"))
    })
}

fn free_port() -> u16 {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.local_addr().expect("an address").port() & !1
}

mod thorough {
    use super::*;

    /// GStreamer's depayloader gives every byte.
    #[tokio::test]
    async fn gstreamer_takes_every_byte() {
        if skipped("gstreamer") {
            return;
        }
        let port = free_port();
        let mut program = Command::new("gst-launch-1.0");
        program.args(["-q", "udpsrc", &format!("port={port}"), "buffer-size=4000000"]);
        program.args(["caps=application/x-rtp,media=video,clock-rate=90000,encoding-name=MP2T"]);
        program.args(["!", "rtpmp2tdepay", "!", "fdsink", "fd=1", "sync=false"]);
        let got = played(port, program).await;
        assert!(got == clip(), "{} of {} bytes", got.len(), clip().len());
    }

    /// ffmpeg finds the stream in RTP without a description, and has its pictures from the first key frame on.
    #[tokio::test]
    async fn ffmpeg_finds_the_stream() {
        if skipped("ffmpeg") {
            return;
        }
        let port = free_port();
        let mut program = Command::new("ffmpeg");
        program.args(["-v", "error", "-i", &format!("rtp://127.0.0.1:{port}?buffer_size=4000000")]);
        program.args(["-map", "0:v", "-c", "copy", "-f", "h264", "pipe:1"]);
        let got = played(port, program).await;
        let mut program = Command::new("ffmpeg");
        program.args(["-v", "error", "-i", concat!(env!("CARGO_MANIFEST_DIR"), "/../../media/clip.ts")]);
        program.args(["-map", "0:v", "-c", "copy", "-f", "h264", "pipe:1"]);
        let whole = program.output().expect("ffmpeg").stdout;
        assert!(got.len() * 10 > whole.len() * 8, "{} of {} bytes", got.len(), whole.len());
        // It may hold back the last pictures.
        let middle = &got[got.len() / 4..got.len() / 4 * 3];
        assert!(whole.windows(middle.len()).any(|part| part == middle), "the pictures differ");
    }
}
