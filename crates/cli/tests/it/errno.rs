//! Errors of the system, which a library preloaded before the C library causes at a chosen call: a receiver continues
//! to receive.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::common::{Running, clip, file, port, spawn, start};

/// The calls of one kind from number `from` to `to` fail with `errno`: FAIL=send|recv|input,FROM,TO,ERRNO; `input`: those that read a sender's UDP
/// input.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int fails(const char *kind, int *calls) {
    char wanted[8];
    int from, to, error;
    const char *plan = getenv("FAIL");
    if (!plan || sscanf(plan, "%7[a-z],%d,%d,%d", wanted, &from, &to, &error) != 4 || strcmp(wanted, kind)) return 0;
    int call = __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);
    if (call < from || call > to) return 0;
    errno = error;
    return 1;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags) {
    static int calls;
    static ssize_t (*next)(int, const struct msghdr *, int);
    if (!next) next = dlsym(RTLD_NEXT, "sendmsg");
    return fails("send", &calls) ? -1 : next(fd, m, flags);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags) {
    static int calls;
    static ssize_t (*next)(int, struct msghdr *, int);
    if (!next) next = dlsym(RTLD_NEXT, "recvmsg");
    return fails("recv", &calls) ? -1 : next(fd, m, flags);
}

ssize_t recv(int fd, void *bytes, size_t room, int flags) {
    static int calls;
    static ssize_t (*next)(int, void *, size_t, int);
    if (!next) next = dlsym(RTLD_NEXT, "recv");
    return fails("input", &calls) ? -1 : next(fd, bytes, room, flags);
}

int recvmmsg(int fd, struct mmsghdr *m, unsigned int n, int flags, struct timespec *t) {
    static int calls;
    static int (*next)(int, struct mmsghdr *, unsigned int, int, struct timespec *);
    if (!next) next = dlsym(RTLD_NEXT, "recvmmsg");
    return fails("recv", &calls) ? -1 : next(fd, m, n, flags, t);
}
"#;

/// The library, made once; none where there is no C compiler.
fn shim() -> Option<&'static Path> {
    static SHIM_AT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let made = SHIM_AT.get_or_init(|| {
        let (source, library) = (file("errno.c"), file("errno.so"));
        std::fs::write(&source, SHIM).unwrap();
        let cc = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .status();
        cc.ok().filter(std::process::ExitStatus::success).map(|_| library)
    });
    if made.is_none() {
        println!("errno not run: there is no C compiler");
    }
    made.as_deref()
}

/// A receiver whose calls fail as `plan` says.
fn receive(plan: &str, name: &str) -> Option<(Running, u16, PathBuf)> {
    let (port, out) = (port(), file(name));
    let mut command = Command::new(env!("CARGO_BIN_EXE_strandcast"));
    command.args(["receive", "--plain", "--once", &format!("127.0.0.1:{port}")]).arg(&out);
    command.env("LD_PRELOAD", shim()?).env("FAIL", plan).stdin(Stdio::null());
    let receiver = spawn(&mut command);
    receiver.says("listening");
    Some((receiver, port, out))
}

/// One errno each, at a call in the middle of a stream: all that a system may say, and no list has.
#[test]
fn a_receiver_hears_on_after_any_error_of_one_call() {
    let plans =
        [("send", 12), ("send", 14), ("send", 92), ("send", 95), ("send", 126), ("recv", 5), ("recv", 12)];
    let streams = plans.map(|(kind, errno)| {
        std::thread::spawn(move || {
            let name = format!("errno-{kind}-{errno}.ts");
            let Some((receiver, port, out)) = receive(&format!("{kind},200,200,{errno}"), &name) else {
                return;
            };
            let sender = start(&format!("send {} 127.0.0.1:{port} --latency 500", clip().display()));
            sender.end().succeeds();
            receiver.end().succeeds();
            let (sent, played) =
                (std::fs::metadata(clip()).unwrap().len(), std::fs::metadata(out).unwrap().len());
            assert!(played + 20_000 > sent, "{kind} {errno}: {played} of {sent} bytes");
        })
    });
    streams.into_iter().for_each(|stream| stream.join().unwrap());
}

/// A sender of a live input whose calls fail by `plan`, a receiver, and an encoder that sends for `seconds`.
fn send_live(plan: &str, name: &str, seconds: u64) -> Option<(Running, Running)> {
    let (input, port, out) = (port(), port(), file(name));
    let receiver = start(&format!("receive 127.0.0.1:{port} {} --once", out.display()));
    receiver.says("listening");
    let mut command = Command::new(env!("CARGO_BIN_EXE_strandcast"));
    command.args(["send", "--plain", "--latency", "300"]);
    command.args([format!("udp://127.0.0.1:{input}"), format!("127.0.0.1:{port}")]);
    command.env("LD_PRELOAD", shim()?).env("FAIL", plan).stdin(Stdio::null());
    let sender = spawn(&mut command);
    let clip = std::fs::read(clip()).unwrap();
    std::thread::spawn(move || {
        let encoder = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        // A megabit per second.
        for datagram in clip.chunks(1316).take(usize::try_from(seconds * 95).unwrap()) {
            std::thread::sleep(std::time::Duration::from_micros(10_526));
            let _ = encoder.send_to(datagram, ("127.0.0.1", input));
        }
    });
    Some((sender, receiver))
}

/// Some calls for a live input fail with any error of the system: the stream continues.
#[test]
fn a_live_input_is_read_on_after_any_error_of_some_calls() {
    let streams = [105, 12, 5].map(|errno| {
        std::thread::spawn(move || {
            let plan = format!("input,100,140,{errno}");
            let name = format!("errno-input-{errno}.ts");
            let Some((sender, receiver)) = send_live(&plan, &name, 20) else {
                return;
            };
            // The calls that fail are behind a third of that.
            let played = || std::fs::metadata(file(&name)).map_or(0, |m| m.len());
            receiver.until("played on", || played() > 400_000);
            sender.signal(nix::sys::signal::Signal::SIGTERM);
            sender.end().succeeds();
            receiver.end().succeeds();
        })
    });
    streams.into_iter().for_each(|stream| stream.join().unwrap());
}

/// An input that only fails ends the sender, so that its supervisor can react.
#[test]
fn a_live_input_that_only_fails_ends_the_sender() {
    let Some((sender, receiver)) = send_live("input,100,2000000000,12", "errno-input-gone.ts", 15) else {
        return;
    };
    receiver.says("receiving from");
    let begun = std::time::Instant::now();
    sender.end().fails(3, &["cannot read udp://"]);
    assert!(begun.elapsed().as_secs() >= 8, "it ended after {:?}", begun.elapsed());
    receiver.end();
}

/// The system reports that the descriptor is invalid: another socket listens there at once, and one line reports it.
#[test]
fn a_receiver_without_its_socket_opens_another_one() {
    let Some((receiver, port, out)) = receive("recv,200,200,9", "errno-gone.ts") else { return };
    let sender = start(&format!("send {} 127.0.0.1:{port} --latency 500", clip().display()));
    receiver.says("failed (Bad file descriptor (os error 9)); listening again");
    receiver.says("again");
    sender.end().succeeds();
    receiver.end().succeeds();
    assert!(std::fs::metadata(out).unwrap().len() > 2_000_000);
}

/// The system never receives again: sockets are replaced, without haste, and then the receiver ends, so that a supervisor
/// starts it anew.
#[test]
fn a_receiver_that_only_fails_to_receive_ends() {
    let Some((receiver, port, _)) = receive("recv,100,2000000000,12", "errno-for-ever.ts") else { return };
    let _sender = start(&format!("send {} 127.0.0.1:{port} --latency 500", clip().display()));
    receiver.says("listening again");
    let cpu = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", receiver.id())).unwrap();
        let after = stat.rsplit(')').next().unwrap().split_ascii_whitespace().collect::<Vec<_>>();
        after[11].parse::<u64>().unwrap() + after[12].parse::<u64>().unwrap()
    };
    let before = cpu();
    std::thread::sleep(std::time::Duration::from_secs(3));
    let spent = cpu() - before;
    assert!(spent < 100, "{spent} of 300 hundredths of a second");
    receiver.end().fails(4, &["nothing was received for"]);
}
