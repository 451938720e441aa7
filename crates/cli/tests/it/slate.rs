//! `receive --slate`: ffmpeg as encoder and as judge of the stream that players have.

use std::fs::File;
use std::io::Write as _;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::common::{file, port, run, start};

fn has(part: &str) -> bool {
    let parts = std::env::var("STRANDCAST_PARTS").unwrap_or_default();
    let has = parts.split(' ').any(|named| named == part);
    if !has {
        println!("not run: {part} is not in STRANDCAST_PARTS");
    }
    has
}

/// Encodes a picture and a sound with a key frame every second.
fn encode(name: &str, picture: &str, seconds: u32) -> PathBuf {
    let path = file(name);
    let picture = format!("{picture}=size=320x180:rate=25");
    let encoded = Command::new("ffmpeg")
        .args(["-v", "error", "-y", "-f", "lavfi", "-i", &picture, "-f", "lavfi", "-i", "sine"])
        .args(["-t", &seconds.to_string(), "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"])
        .args(["-g", "25", "-sc_threshold", "0", "-b:v", "400k", "-c:a", "aac", "-f", "mpegts"])
        .arg(&path)
        .stdin(Stdio::null())
        .status();
    assert!(encoded.expect("ffmpeg starts").success());
    path
}

/// Writes each datagram of a port to a file until `ends`.
fn record(port: u16, path: &Path, ends: &Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    let socket = UdpSocket::bind(("127.0.0.1", port)).expect("the port is free");
    socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    let (mut file, ends) = (File::create(path).expect("it can be written"), Arc::clone(ends));
    std::thread::spawn(move || {
        let mut buffer = [0; 2048];
        while !ends.load(Ordering::Relaxed) {
            if let Ok(length) = socket.recv(&mut buffer) {
                file.write_all(&buffer[..length]).expect("it can be written");
            }
        }
    })
}

/// An SRT player that writes to a file and does not call again.
fn player(port: u16, path: &Path) -> Child {
    let file = File::create(path).expect("it can be written");
    Command::new("srt-live-transmit")
        .args(["-a:no", "-chunk:1316", &format!("srt://127.0.0.1:{port}?latency=4000"), "file://con"])
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(Stdio::null())
        .spawn()
        .expect("srt-live-transmit starts")
}

/// Asserts that ffmpeg finds no continuity error in a stream, and returns the times of its
/// pictures in seconds.
fn judged(path: &Path) -> Vec<f64> {
    let probed = Command::new("ffprobe")
        .args([
            "-v",
            "debug",
            "-f",
            "mpegts",
            "-select_streams",
            "v:0",
            "-show_entries",
            "packet=pts_time",
            "-of",
            "csv=p=0",
        ])
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .expect("ffprobe starts");
    let said = String::from_utf8_lossy(&probed.stderr);
    let wrong: Vec<&str> = said.lines().filter(|line| line.contains("Continuity check failed")).collect();
    assert!(wrong.is_empty(), "{}: {wrong:#?}", path.display());
    let out = String::from_utf8_lossy(&probed.stdout);
    out.lines().filter_map(|line| line.trim_end_matches(',').parse().ok()).collect()
}

#[test]
fn players_stay_and_have_one_stream_while_senders_come_and_go() {
    if !has("ffmpeg") || !has("srt") {
        return;
    }
    let (slate, van) = (encode("slate.ts", "smptebars", 3), encode("van.ts", "testsrc2", 8));
    let (at, udp, srt) = (port(), port(), port());
    let (watched, called) = (file("watched.ts"), file("called.ts"));
    let ends = Arc::default();
    let recorder = record(udp, &watched, &ends);
    let mut receiver = start(&format!(
        "receive 127.0.0.1:{at} udp://127.0.0.1:{udp} srt://127.0.0.1:{srt}?mode=listener&latency=4000 \
         --silence 2 --slate {}",
        slate.display()
    ));
    receiver.says("no sender plays: outputs get the slate, ");
    let mut player = player(srt, &called);
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    receiver.until("the slate at both players", || length(&watched) > 50_000 && length(&called) > 50_000);
    let sender = start(&format!("send {} 127.0.0.1:{at} --latency 1000", van.display()));
    receiver.says("outputs get the sender from its key frame on");
    std::thread::sleep(Duration::from_secs(3));
    // It is gone in the middle of a picture, without a word.
    sender.signal(Signal::SIGKILL);
    sender.end();
    receiver.until("the slate again", || receiver.said().matches("no sender plays").count() == 2);
    receiver.says("silent for 2 s");
    std::thread::sleep(Duration::from_secs(5));
    run(&format!("send {} 127.0.0.1:{at} --latency 1000", van.display())).succeeds();
    receiver.until("the slate once more", || receiver.said().matches("no sender plays").count() == 3);
    std::thread::sleep(Duration::from_secs(2));
    assert!(player.try_wait().expect("it can be asked").is_none(), "the player is still there");
    assert!(!receiver.is_over());
    receiver.signal(Signal::SIGTERM);
    receiver.end();
    player.kill().expect("it runs");
    player.wait().expect("it ends");
    ends.store(true, Ordering::Relaxed);
    recorder.join().expect("it ends");
    for path in [&watched, &called] {
        let pictures = judged(path);
        // 3 s and 8 s of the sender, and at least 8 s of the slate, of which SRT holds 4 s.
        assert!(pictures.len() > 14 * 25, "{}: {} pictures", path.display(), pictures.len());
    }
}

#[test]
fn a_file_that_cannot_be_a_slate_ends_the_command_before_it_listens() {
    let at = port();
    let path = file("slate.png");
    std::fs::write(&path, [0x89, b'P', b'N', 0].repeat(20_000)).expect("it can be written");
    for (slate, words) in [
        ("/no/such/clip.ts".to_owned(), "/no/such/clip.ts cannot be a slate: no such file or directory"),
        (path.display().to_string(), "slate.png cannot be a slate: not an MPEG transport stream"),
    ] {
        let out = file("out.ts");
        run(&format!("receive 127.0.0.1:{at} {} --slate {slate}", out.display())).fails(2, &[words]);
    }
    run(&format!("receive 127.0.0.1:{at} - --once --slate null")).fails(2, &["--slate", "--once"]);
}
