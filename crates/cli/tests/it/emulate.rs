//! `strandcast emulate`: mistakes in one line, and real programs over a scenario's links.

use crate::common::run;
use crate::scenarios::{TWO_PATHS, scenario};

#[test]
fn mistakes_are_named_before_anything_starts() {
    let file = scenario("emulate.toml", TWO_PATHS);
    let file = file.display();
    for (words, said) in [
        (
            format!("emulate {file} --flow dota -- true"),
            "--flow dota: there is no such flow; the scenario has data",
        ),
        (format!("emulate {file}"), "COMMAND"),
        (format!("emulate {file} true"), "unexpected argument 'true'"),
        (format!("emulate {file} --mtu 500 -- true"), "--mtu"),
        (format!("emulate {file} --set links.x.rate=fast -- true"), "rate"),
        (format!("emulate {file}x -- true"), "cannot read"),
    ] {
        let ended = run(&words);
        assert_eq!(ended.code, Some(2), "{words}: {}", ended.err);
        assert!(ended.err.contains(said), "{words}: {}", ended.err);
    }
}

#[test]
fn one_of_several_flows_must_be_named() {
    let two = format!("{}\n[flows.b]\nfrom = \"a\"\nto = \"b\"\n", TWO_PATHS.replace("compare = true", ""));
    let file =
        scenario("emulate-two.toml", &two.replace("[flows.b]\n", "[flows.b]\npaths.y.via = [\"y\"]\n"));
    let ended = run(&format!("emulate {} -- true", file.display()));
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("--flow, one of b, data"), "{}", ended.err);
}

mod thorough {
    use std::process::Command;

    use serde_json::Value;

    use super::*;
    use crate::common::{Ended, spawn};

    /// Runs a line of the shell over the network; `None` where the machine has no namespaces.
    fn emulate(options: &[&str], line: &str) -> Option<Ended> {
        if !std::env::var("STRANDCAST_PARTS").unwrap_or_default().split(' ').any(|part| part == "netns") {
            println!("not run: netns is not in STRANDCAST_PARTS");
            return None;
        }
        if std::fs::File::options().read(true).write(true).open("/dev/net/tun").is_err() {
            println!("not run: /dev/net/tun cannot be opened");
            return None;
        }
        let name = format!("emulate-{}.toml", options.len());
        let file = scenario(&name, TWO_PATHS);
        let mut command = Command::new(env!("CARGO_BIN_EXE_strandcast"));
        command.env("STRANDCAST", env!("CARGO_BIN_EXE_strandcast"));
        command.arg("emulate").arg(file).args(options).args(["--", "sh", "-c", line]);
        Some(spawn(&mut command).end())
    }

    #[test]
    fn a_transfer_takes_both_paths_and_no_more_than_their_rates() {
        let far = "exec \"$STRANDCAST\" perf server --plain";
        let near = "exec \"$STRANDCAST\" perf client --plain \"$STRANDCAST_FAR_HOST\" --time 8 --json";
        let Some(ended) = emulate(&["--json", "--far", far], near) else { return };
        ended.succeeds();
        let result = ended.json();
        let goodput = result["end"]["sum_received"]["bits_per_second"].as_f64().expect("a goodput");
        // 3 Mbit/s in all; slow start and the handshake take their part of 8 s.
        assert!((1.8e6..3.0e6).contains(&goodput), "{goodput}: {}", ended.err);
        let last = ended.err.lines().rev().find(|line| line.starts_with('{')).expect("counters");
        let counters: Value = serde_json::from_str(last).unwrap();
        for link in counters["links"].as_array().unwrap() {
            let delivered = link["delivered"]["packets"].as_u64().unwrap();
            assert!(delivered > 100, "{link}");
            let lossy = link["link"] == "x" && link["direction"] == "forward";
            assert_eq!(link["dropped_loss"]["packets"].as_u64().unwrap() > 0, lossy, "{link}");
        }
    }

    #[test]
    fn the_exit_code_is_the_programs_and_both_families_work() {
        let udp = "import socket,sys\n\
                   for family,host in ((socket.AF_INET,'10.77.0.1'),(socket.AF_INET6,'fd77::1'),(socket.AF_INET,'10.77.2.1')):\n\
                   \x20s=socket.socket(family,socket.SOCK_DGRAM); s.settimeout(0.5)\n\
                   \x20for _ in range(60):\n\
                   \x20\x20s.sendto(b'x',(host,7000))\n\
                   \x20\x20try: s.recv(9); break\n\
                   \x20\x20except OSError: pass\n\
                   \x20else: sys.exit(host)\n\
                   sys.exit(7)";
        let echo = "exec python3 -c \"import socket\n\
                    s=socket.socket(socket.AF_INET6,socket.SOCK_DGRAM); s.bind(('::',7000))\n\
                    while True:\n\
                    \x20d,a=s.recvfrom(9); s.sendto(d,a)\"";
        let near = format!("exec python3 -c \"{udp}\"");
        let Some(ended) = emulate(&["--far", echo], &near) else { return };
        assert_eq!(ended.code, Some(7), "{}", ended.err);
        assert!(ended.err.contains("x: 10.77.1.2 to 10.77.1.1"), "{}", ended.err);
        assert!(!ended.err.contains("strandcast: "), "{}", ended.err);
    }

    #[test]
    fn programs_at_both_ends_end_with_the_command() {
        let near = "(sleep 987 & echo $!); $STRANDCAST_FAR sh -c 'sleep 987 & echo $!'";
        let Some(ended) = emulate(&["--far", "sleep 987; true"], near) else { return };
        ended.succeeds();
        let out = String::from_utf8(ended.out).unwrap();
        let left: Vec<&str> = out.split_whitespace().collect();
        assert_eq!(left.len(), 2, "{out}");
        for pid in left {
            // One that has ended may not have been waited for yet.
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            assert!(!state.contains("(sleep) S"), "{state}");
        }
    }

    #[test]
    fn standard_input_is_the_commands() {
        let file = scenario("emulate-input.toml", TWO_PATHS);
        let line = format!(
            "printf 'one\\n' | {} emulate {} --far 'cat | sed s/^/far-/' -- sh -c 'sleep 0.5; sed s/^/near-/'",
            env!("CARGO_BIN_EXE_strandcast"),
            file.display()
        );
        if emulate(&[], "true").is_none() {
            return;
        }
        let ended = spawn(Command::new("sh").arg("-c").arg(line)).end();
        ended.succeeds();
        assert_eq!(String::from_utf8_lossy(&ended.out), "near-one\n");
    }
}
