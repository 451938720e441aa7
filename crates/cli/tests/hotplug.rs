//! A stream while its four uplinks are unplugged, plugged in, renumbered and renamed at random, sent by a user without any
//! privilege, in network namespaces of this test: it does not touch the machine's network.
//!
//! Each uplink leads to a router of its own, which carries 1.6 Mbit/s and translates addresses. Two of the uplinks have one
//! address, network and gateway, as two modems of one make have. Nothing may end the stream, and an uplink that has its address
//! and route again must carry data within 3 s. `HOTPLUG_SECONDS` is how long it takes in each mode, `HOTPLUG_SEED` another run.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use strandcast_net::emulate::{Relay, RelayConfig};
use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::seeds::Seeds;

// The crate itself would have every crate below built once more, with its features.
#[path = "../../testing/src/namespaces.rs"]
#[expect(dead_code, reason = "tests of the driver use the rest of it")]
mod namespaces;
use namespaces::{ip, play};

/// Routers with the receiver's address, behind which it is.
const NETWORK: &str = r#"
export ROUTERS=
for i in 1 2 3 4; do
    unshare -n sleep 3600 &
    router=$!
    until [ "$(readlink /proc/$router/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
    in_router() { nsenter --preserve-credentials -t $router -n "$@"; }
    in_router ip link set lo up
    in_router ip addr add 203.0.113.1/32 dev lo
    in_router ip link add far$i type veth peer name near$i netns $server
    in_router ip addr add 10.90.$i.2/24 dev far$i
    in_router ip link set far$i up
    in_server ip addr add 10.90.$i.1/24 dev near$i
    in_server ip link set near$i up
    ROUTERS="$ROUTERS $router"
    ROLE=router UPLINK=$i nsenter --preserve-credentials -t $router -n "$PROGRAM" &
done
"#;
const UPLINKS: usize = 4;
/// Rates in bit/s: three uplinks carry the stream.
const UPLINK: u64 = 1_600_000;
const STREAM: u64 = 4_200_000;
/// Time in which an uplink that has returned carries data in a run of a chosen length, and on a busy machine.
const SOON: Duration = Duration::from_secs(3);
const BUSY: Duration = Duration::from_secs(15);
/// Bytes that count as data.
const DATA: u64 = 20_000;
/// For how long an uplink is then left alone.
const LEFT_ALONE: Duration = Duration::from_millis(3500);

fn main() {
    let seconds: u32 = setting("HOTPLUG_SECONDS").unwrap_or(20);
    match std::env::var("ROLE").as_deref() {
        Ok("server") => server(),
        Ok("router") => router(),
        Ok("client") => client(Duration::from_secs(seconds.into())),
        _ => ["", "--path if=up*"].into_iter().for_each(|mode| {
            play("a_stream_over_uplinks_that_come_and_go", NETWORK, seconds + 60, &[("MODE", mode)]);
        }),
    }
}

fn setting<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

fn out(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hotplug-{name}"))
}

fn server() {
    let args = "receive :9899 /dev/null --plain --once --json --overwrite";
    let json = std::fs::File::create(out("receive.json")).expect("a file");
    let lines = std::fs::File::create(out("receive.txt")).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_strandcast"));
    let done = command.args(args.split(' ')).stdout(json).stderr(lines).status();
    assert!(done.is_ok_and(|status| status.success()), "the receiver failed");
}

fn router() {
    let uplink: u8 = setting("UPLINK").expect("the network's script says it");
    let direction = || LinkConfig {
        rate: Rate::Constant(UPLINK),
        delay: Number::from(Duration::from_millis(10 * u64::from(uplink))),
        queue: Queue::packets(50),
        ..LinkConfig::default()
    };
    let network =
        PathNetwork { name: format!("uplink {uplink}"), forward: direction(), reverse: direction() };
    let listen = SocketAddr::from(([203, 0, 113, 1], 9899));
    let config = RelayConfig { listen, server: SocketAddr::from(([10, 90, uplink, 1], 9899)), network };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let _relay = Relay::start(config, &Seeds::new(1, 0)).expect("the router has the address");
        std::future::pending::<()>().await;
    });
}

/// An uplink at the client.
struct Uplink {
    number: usize,
    router: String,
    /// Name of its interface, and the last number of its address.
    name: String,
    host: u8,
    /// Time at which its address and route returned, and the bytes that it had sent by then; `None` once it carries data.
    returned: Option<(Instant, u64)>,
    /// Time of its next change.
    next: Instant,
    away: bool,
    carried: u64,
}

impl Uplink {
    fn network(&self) -> &'static str {
        ["192.168.8", "192.168.8", "10.73.0", "10.74.0"][self.number - 1]
    }

    fn plug(&mut self) {
        let (n, name) = (self.number, format!("up{}", self.number));
        self.in_router(&format!("link add down{n} type veth peer name new{n}"));
        self.in_router(&format!("addr add {}.1/24 dev down{n}", self.network()));
        self.in_router(&format!("link set down{n} up"));
        self.in_router(&format!("link set new{n} netns {}", std::process::id()));
        ip(&format!("link set new{n} name {name}"));
        self.name = name;
        ip(&format!("link set {} up", self.name));
        self.address();
    }

    /// Address and route.
    fn address(&mut self) {
        let (network, name) = (self.network(), &self.name);
        ip(&format!("addr add {network}.{}/24 dev {name}", self.host));
        self.route();
    }

    fn route(&mut self) {
        ip(&format!("route add default via {}.1 dev {} metric {}00", self.network(), self.name, self.number));
        self.returned = Some((Instant::now(), self.sent()));
        self.next = Instant::now() + LEFT_ALONE;
    }

    fn unplug(&mut self) {
        self.carried += self.sent();
        ip(&format!("link del {}", self.name));
        (self.away, self.returned) = (true, None);
    }

    fn renumber(&mut self) {
        ip(&format!("addr flush dev {}", self.name));
        // The first two keep their address: two of one make have the same one.
        self.host = if self.number < 3 { 100 } else { self.host % 200 + 2 };
        self.address();
    }

    fn rename(&mut self, name: String) {
        ip(&format!("link set {} down", self.name));
        ip(&format!("link set {} name {name}", self.name));
        self.name = name;
        ip(&format!("link set {} up", self.name));
        self.route();
    }

    /// Bytes that its interface has sent.
    fn sent(&self) -> u64 {
        let table = std::fs::read_to_string("/proc/net/dev").expect("a list of interfaces");
        let row = table.lines().find_map(|line| line.trim().strip_prefix(&format!("{}:", self.name)));
        row.and_then(|row| row.split_whitespace().nth(8)).map_or(0, |bytes| bytes.parse().expect("a number"))
    }

    fn in_router(&self, args: &str) {
        let enter = ["--preserve-credentials", "-t", &self.router, "-n", "ip"];
        let done = Command::new("nsenter").args(enter).args(args.split(' ')).status();
        assert!(done.is_ok_and(|status| status.success()), "ip {args}");
    }
}

fn client(time: Duration) {
    let routers = std::env::var("ROUTERS").expect("the network's script says it");
    let uplink = |(at, router): (usize, &str)| Uplink {
        number: at + 1,
        router: router.to_owned(),
        name: String::new(),
        host: 100,
        returned: None,
        next: Instant::now(),
        away: false,
        carried: 0,
    };
    let mut uplinks: Vec<Uplink> = routers.split_whitespace().enumerate().map(uplink).collect();
    assert_eq!(uplinks.len(), UPLINKS);
    // One comes after the start.
    uplinks[..3].iter_mut().for_each(Uplink::plug);
    uplinks[3].away = true;
    let mut sender = send();
    let over = Arc::new(AtomicBool::new(false));
    let source = std::thread::spawn({
        let (stdin, over) = (sender.stdin.take().expect("a pipe"), Arc::clone(&over));
        move || source(stdin, &over)
    });
    std::thread::sleep(Duration::from_secs(2));
    uplinks.iter_mut().for_each(|uplink| uplink.next = Instant::now());
    let trial = disturb(&mut uplinks, time);
    kill(Pid::from_raw(sender.id() as i32), Signal::SIGINT).expect("it runs");
    let ended = sender.wait_with_output().expect("it ends");
    over.store(true, Ordering::Relaxed);
    source.join().expect("it ends with the sender");
    uplinks.iter_mut().filter(|uplink| !uplink.away).for_each(|uplink| uplink.carried += uplink.sent());
    verdict(&trial, &uplinks, &ended);
}

/// Starts a sender that may do nothing but what any user may.
fn send() -> Child {
    let mode = std::env::var("MODE").unwrap_or_default();
    let args = format!("send - 203.0.113.1 --plain --latency 1000 --retry 30 --json {mode}");
    let mut command = Command::new("setpriv");
    command.args([
        "--bounding-set",
        "-all",
        "--inh-caps",
        "-all",
        "--no-new-privs",
        env!("CARGO_BIN_EXE_strandcast"),
    ]);
    let lines = std::fs::File::create(out("send.txt")).expect("a file");
    let command =
        command.args(args.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(lines);
    command.spawn().expect("setpriv is there")
}

/// Transport packets at the stream's rate.
fn source(mut to: std::process::ChildStdin, over: &AtomicBool) {
    let (begun, mut packets) = (Instant::now(), 0u64);
    while !over.load(Ordering::Relaxed) {
        let due = begun.elapsed().as_nanos() as u64 / 1000 * STREAM / 8 / 188 / 1_000_000;
        let mut bytes = Vec::new();
        while packets < due {
            bytes.extend([0x47, 0x01, 0x00, 0x10 | (packets % 16) as u8]);
            bytes.extend([packets as u8; 184]);
            packets += 1;
        }
        // The sender has ended.
        if to.write_all(&bytes).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Changes, and the times after which uplinks carried data.
#[derive(Default)]
struct Trial {
    done: BTreeMap<&'static str, u32>,
    took: Vec<Duration>,
}

fn disturb(uplinks: &mut [Uplink], time: Duration) -> Trial {
    let seed: u64 = setting("HOTPLUG_SEED").unwrap_or(1);
    let mut random = Seeds::new(seed, 0).stream("hotplug");
    let soon = if setting::<u32>("HOTPLUG_SECONDS").is_some() { SOON } else { BUSY };
    let (mut trial, end) = (Trial::default(), Instant::now() + time);
    while Instant::now() < end {
        for uplink in uplinks.iter_mut() {
            if let Some((since, before)) = uplink.returned {
                if uplink.sent().saturating_sub(before) >= DATA {
                    trial.took.push(since.elapsed());
                    uplink.returned = None;
                }
                assert!(since.elapsed() < soon, "{} carries no data: {}", uplink.name, said());
            }
            if uplink.returned.is_some() || Instant::now() < uplink.next {
                continue;
            }
            let what = match (uplink.away, random.u32() % 3) {
                (true, _) => {
                    uplink.away = false;
                    uplink.plug();
                    "plugged in"
                }
                (_, 0) => {
                    uplink.unplug();
                    uplink.next =
                        Instant::now() + Duration::from_millis(u64::from(500 + random.u32() % 3500));
                    "unplugged"
                }
                (_, 1) => {
                    uplink.renumber();
                    "renumbered"
                }
                // Also to names that no wish has.
                _ => {
                    let number = uplink.number;
                    let other = [format!("up{number}"), format!("up{number}b"), format!("tel{number}")];
                    let names = other.into_iter().filter(|name| *name != uplink.name).collect::<Vec<_>>();
                    uplink.rename(names[random.u32() as usize % names.len()].clone());
                    "renamed"
                }
            };
            *trial.done.entry(what).or_default() += 1;
            // Not all at the same time.
            uplink.next += Duration::from_millis(u64::from(random.u32() % 4000));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    trial
}

fn said() -> String {
    std::fs::read_to_string(out("send.txt")).unwrap_or_default()
}

fn verdict(trial: &Trial, uplinks: &[Uplink], ended: &std::process::Output) {
    let said = said();
    assert!(ended.status.success(), "{:?}: {said}", ended.status);
    let sent: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("a summary");
    assert_eq!((&sent["reconnects"], &sent["outages"]), (&0.into(), &0.into()), "{said}");
    // The receiver ends at the same time.
    let deadline = Instant::now() + Duration::from_secs(10);
    let got: serde_json::Value = loop {
        let text = std::fs::read_to_string(out("receive.json")).unwrap_or_default();
        match serde_json::from_str(&text) {
            Ok(summary) => break summary,
            Err(_) => assert!(Instant::now() < deadline, "no summary of the receiver"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(got["reconnects"], 0, "{got}");
    let mut took = trial.took.clone();
    took.sort();
    let carried: Vec<u64> = uplinks.iter().map(|uplink| uplink.carried / 1000).collect();
    println!(
        "{:?}: {:?}; {} uplinks came back and carried data after {:?} in the median, at most {:?};",
        std::env::var("MODE"),
        trial.done,
        took.len(),
        took.get(took.len() / 2),
        took.last()
    );
    println!(
        "{carried:?} kB by uplink; of {} messages {} came late or never",
        sent["messages"],
        got["late"].as_f64().unwrap_or(0.0) + got["lost"].as_f64().unwrap_or(0.0)
    );
    assert!(
        carried.iter().all(|kilobytes| *kilobytes > 100),
        "each is used, also the two with one address: {carried:?}"
    );
}
