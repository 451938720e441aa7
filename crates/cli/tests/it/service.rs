//! `send` and `receive` under a service manager, which here is the test.

use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use nix::sys::signal::Signal;

use crate::common::home::Home;
use crate::common::{LONG, file, port, spawn};

/// The manager's socket.
struct Manager(UnixDatagram, PathBuf);

impl Manager {
    fn new(name: &str) -> Manager {
        // Names of sockets are short.
        let path = std::env::temp_dir().join(format!("strandcast-{}-{name}", std::process::id()));
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        Manager(socket, path)
    }

    /// The next message.
    fn hears(&self) -> String {
        let mut buffer = [0; 256];
        let length = self.0.recv(&mut buffer).expect("it says something");
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.1);
    }
}

#[test]
fn readiness_life_and_end_are_reported() {
    let home = Home::new("notify");
    let (port, udp) = (port(), port());
    home.reads("key add studio", &home.pairing(&format!("127.0.0.1:{port}"), "")).succeeds();
    for (name, command) in [
        ("receive", format!("receive 127.0.0.1:{port} /dev/null")),
        ("send", format!("send udp://127.0.0.1:{udp} @studio --retry forever")),
    ] {
        let manager = Manager::new(name);
        let mut command = home.command(&command);
        command.env("NOTIFY_SOCKET", &manager.1).env("WATCHDOG_USEC", "600000").env_remove("WATCHDOG_PID");
        let running = spawn(command.stdin(std::process::Stdio::null()));
        assert_eq!(manager.hears(), "READY=1", "{name}");
        for _ in 0..3 {
            assert_eq!(manager.hears(), "WATCHDOG=1", "{name}");
        }
        running.signal(Signal::SIGTERM);
        while manager.hears() != "STOPPING=1" {}
        running.end();
    }
}

#[test]
fn without_a_watchdog_there_are_no_signs_of_life_and_an_end_is_reported() {
    let home = Home::new("no-watchdog");
    let manager = Manager::new("quiet");
    let mut command = home.command(&format!("receive 127.0.0.1:{} /dev/null", port()));
    // A watchdog that is meant for another process.
    command.env("NOTIFY_SOCKET", &manager.1).env("WATCHDOG_USEC", "1000").env("WATCHDOG_PID", "1");
    let running = spawn(command.stdin(std::process::Stdio::null()));
    assert_eq!(manager.hears(), "READY=1");
    running.says("listening");
    running.signal(Signal::SIGTERM);
    assert_eq!(manager.hears(), "STOPPING=1");
    running.end().succeeds();
}

/// Lines of the journal have their weight in front; others do not.
#[test]
fn the_journal_gets_the_weight_of_lines() {
    use std::os::unix::fs::MetadataExt as _;
    let home = Home::new("journal");
    let path = file("journal.txt");
    let journal = std::fs::File::create(&path).unwrap();
    let seen = journal.metadata().unwrap();
    let mut command = home.command("send - @absent");
    command
        .env("JOURNAL_STREAM", format!("{}:{}", seen.dev(), seen.ino()))
        .stderr(journal)
        .stdin(std::process::Stdio::null());
    assert_eq!(command.status().unwrap().code(), Some(2));
    let lines = std::fs::read_to_string(&path).unwrap();
    assert!(!lines.is_empty() && lines.lines().all(|line| line.starts_with("<3>strandcast: ")), "{lines}");
    let ended = home.run("send /dev/null @absent");
    assert!(!ended.err.contains("<3>"), "{ended:?}");
}

mod thorough {
    use std::collections::BTreeMap;
    use std::io::Write as _;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::common::{clip, start, start_with};

    /// Times of a kill.
    const KILLS: usize = 20;

    /// A receiver that is killed at any moment and started again by its service manager.
    #[test]
    fn recordings_survive_twenty_kills() {
        let (port, folder) = (port(), file("killed"));
        std::fs::create_dir_all(&folder).unwrap();
        let (ours, mut theirs) = std::io::pipe().unwrap();
        let sender =
            start_with(&format!("send - 127.0.0.1:{port} --retry forever --latency 300"), ours.into());
        // About 1 Mbit/s, as the clip is meant.
        let media = std::fs::read(clip()).unwrap();
        let feed = std::thread::spawn(move || {
            for piece in media.chunks_exact(188 * 7).cycle() {
                if theirs.write_all(piece).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let sizes = || -> BTreeMap<PathBuf, Vec<u8>> {
            let all = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            all.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
        };
        let mut kept: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
        for kill in 0..KILLS {
            let pattern = folder.join("%Y%m%d-%H%M%S.ts");
            let receiver = start(&format!("receive 127.0.0.1:{port} {}", pattern.display()));
            let begun = Instant::now();
            let recorded =
                || sizes().iter().any(|(path, bytes)| !kept.contains_key(path) && bytes.len() > 20_000);
            while !recorded() {
                assert!(begun.elapsed() < LONG, "kill {kill}: {}", receiver.said());
                std::thread::sleep(Duration::from_millis(50 + 7 * kill as u64));
            }
            receiver.signal(Signal::SIGKILL);
            receiver.end();
            let now = sizes();
            for (path, bytes) in &kept {
                assert!(now[path] == *bytes, "kill {kill} changed {}", path.display());
            }
            kept = now;
        }
        assert!(kept.len() >= KILLS, "{:?}", kept.keys());
        for (path, bytes) in &kept {
            let whole = bytes.len() % 188 == 0 && bytes.iter().step_by(188).all(|sync| *sync == 0x47);
            assert!(whole, "{} has {} bytes", path.display(), bytes.len());
        }
        sender.signal(Signal::SIGKILL);
        sender.end();
        feed.join().unwrap();
        std::fs::remove_dir_all(folder).unwrap();
    }
}
