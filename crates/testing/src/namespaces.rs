//! A client and a server in separate network namespaces. The network of the machine is not changed.
//!
//! A test that uses this module is a program without a test harness. The test starts itself again inside two namespaces
//! (`unshare`, as any user if the system permits it): once with `ROLE=server`, and once with `ROLE=client` and the
//! server's process in `SERVER`. If namespaces are not possible, the test prints this and passes.

use std::env;
use std::process::Command;

/// Shell text before the commands that create a network. The commands that create the network may call `in_server`.
const HOSTS: &str = r#"
set -e
ip link set lo up
unshare -n sleep 3600 &
server=$!
until [ "$(readlink /proc/$server/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
in_server() { nsenter --preserve-credentials -t $server -n "$@"; }
in_server ip link set lo up
"#;
/// Shell text after these commands.
const ROLES: &str = r#"
ROLE=server nsenter --preserve-credentials -t $server -n "$PROGRAM" &
ROLE=client SERVER=$server "$PROGRAM"
"#;

/// Runs this program as both hosts of a network, with `settings` in their environment.
///
/// # Panics
/// Panics if the client failed, or if it took more than `seconds`.
pub fn play(test: &str, network: &str, seconds: u32, settings: &[(&str, &str)]) {
    let may = ["-rnpf", "--mount-proc", "ip", "link", "set", "lo", "up"];
    if !Command::new("unshare").args(may).output().is_ok_and(|done| done.status.success()) {
        println!("{test} skipped: no network namespaces for this user (unshare, ip)");
        return;
    }
    let program = env::current_exe().expect("a running program");
    let (script, limit) = (format!("{HOSTS}{network}{ROLES}"), seconds.to_string());
    let mut command = Command::new("timeout");
    // A process namespace as well, so that nothing survives its shell; unshare itself reacts only to SIGKILL.
    command.args(["-sKILL", &limit, "unshare", "-rnpf", "--mount-proc", "--kill-child", "sh", "-c", &script]);
    let done = command.env("PROGRAM", program).envs(settings.iter().copied()).status();
    assert!(done.is_ok_and(|status| status.success()), "the client failed");
    println!("{test} ok, {settings:?}");
}

/// Runs `ip` with these arguments on the client's side.
///
/// # Panics
/// Panics if the command fails.
pub fn ip(args: &str) {
    succeeds(Command::new("ip"), args);
}

/// Runs `ip` with these arguments on the server's side.
///
/// # Panics
/// Panics if the command fails.
pub fn in_server(args: &str) {
    let server = env::var("SERVER").expect("the client has the server's process");
    let mut command = Command::new("nsenter");
    command.args(["--preserve-credentials", "-t", &server, "-n", "ip"]);
    succeeds(command, args);
}

fn succeeds(mut command: Command, args: &str) {
    let done = command.args(args.split(' ')).status();
    assert!(done.is_ok_and(|status| status.success()), "ip {args}");
}
