//! Ctrl-C during a measurement of another program: the measurement ends, the program continues. The only test in its
//! file, since the signal affects the whole process.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use strandcast_cli::perf_client;
use strandcast_schemes::Presets;

use crate::common::{port, start};

#[test]
fn interrupted_measurements_do_not_end_the_program() {
    let place = format!("127.0.0.1:{}", port());
    let server = start(&format!("perf server {place}"));
    server.says("listening");
    let args = [place.as_str(), "--plain", "--time", "60", "--quiet"].map(OsString::from);
    let client = std::thread::spawn(move || perf_client(args.to_vec(), Arc::new(Presets)));
    // By then the client handles signals.
    server.says("receiving from");
    let begun = Instant::now();
    kill(Pid::this(), Signal::SIGINT).expect("it is our own process");
    assert_eq!(client.join().expect("no panic"), Err((1, "interrupted".to_owned())));
    assert!(begun.elapsed() < Duration::from_secs(5), "it took {:?}", begun.elapsed());
    server.signal(Signal::SIGTERM);
    server.end().succeeds();
}
