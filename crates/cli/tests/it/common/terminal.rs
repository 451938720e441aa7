//! A command at a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::LONG;

/// A running command whose standard input, output and error are one terminal.
pub struct Terminal {
    child: Child,
    keyboard: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Starts a command at a terminal of this width.
    pub fn start(command: &mut Command, columns: u16) -> Terminal {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let side = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        tcsetwinsize(&side, Winsize { ws_row: 60, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let stdio = || side.try_clone().unwrap();
        let child = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap();
        // The command still holds this side of it: it would never end to be read.
        command.stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        drop(side);
        let keyboard = File::from(controller);
        let (mut screen, seen) = (keyboard.try_clone().unwrap(), Arc::<Mutex<Vec<u8>>>::default());
        let into = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The end of a terminal is an error.
            while let Ok(n @ 1..) = screen.read(&mut buffer) {
                into.lock().unwrap().extend_from_slice(&buffer[..n]);
            }
        });
        Terminal { child, keyboard, seen }
    }

    /// Text on the terminal, without colours.
    pub fn seen(&self) -> String {
        let text = String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned();
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("\x1b[") {
            plain.push_str(&rest[..at]);
            let end = rest[at + 2..].find(|c: char| c.is_ascii_alphabetic());
            rest = end.map_or("", |end| &rest[at + 2 + end + 1..]);
        }
        plain + rest
    }

    /// Waits until it shows `text`.
    #[track_caller]
    pub fn shows(&self, text: &str) {
        let start = Instant::now();
        while !self.seen().contains(text) {
            assert!(start.elapsed() < LONG, "no {text:?} on {:?}", self.seen());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Types a text.
    pub fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Sends the command a signal.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Waits for the command's end; its exit code and what is on the terminal.
    #[track_caller]
    pub fn end(mut self) -> (Option<i32>, String) {
        let start = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(start.elapsed() < LONG, "it hangs: {:?}", self.seen());
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        // The last lines may still be on their way from one side to the other.
        let mut before = usize::MAX;
        while before != self.seen().len() {
            before = self.seen().len();
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        (code, self.seen())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended, or the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
