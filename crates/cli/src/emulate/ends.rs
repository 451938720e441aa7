//! The network namespaces of the two ends, and the programs in them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use nix::sched::{CloneFlags, unshare};
use strandcast_lab::simulation::End;
use tun_rs::SyncDevice;

use super::network::{FAR_HOST, PathDevice, configure};
use crate::error::{CliError, why};

/// Moves this thread into a network of its own. Without the right to do that it also becomes root in a user namespace of
/// its own, which needs a process with one thread.
///
/// # Errors
/// The system allows neither.
fn leave() -> Result<(), CliError> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    if unshare(CloneFlags::CLONE_NEWNET).is_ok() {
        return Ok(());
    }
    let refused = |error: std::io::Error| {
        let mend = "run it as root, or allow unprivileged user namespaces (sysctl user.max_user_namespaces, \
                    kernel.apparmor_restrict_unprivileged_userns=0)";
        CliError::Network(format!("cannot make network namespaces: {}; {mend}", why(&error)))
    };
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).map_err(|error| refused(error.into()))?;
    fs::write("/proc/self/setgroups", "deny").map_err(refused)?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1")).map_err(refused)?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1")).map_err(refused)
}

/// Makes the near end in this thread, with its devices. Call it before the process has other threads.
///
/// # Errors
/// The system allows no namespaces or devices.
pub(super) fn near(devices: &[PathDevice], mtu: u16) -> Result<Vec<SyncDevice>, CliError> {
    leave()?;
    set_up(End::Near, devices, mtu)
}

fn set_up(end: End, devices: &[PathDevice], mtu: u16) -> Result<Vec<SyncDevice>, CliError> {
    let open = devices.iter().map(|device| device.open(mtu)).collect::<Result<Vec<_>, _>>()?;
    configure(end, devices)?;
    Ok(open)
}

/// The far end: a thread in a namespace of its own.
#[derive(Debug)]
pub(super) struct Far {
    /// The namespace's file.
    pub(super) namespace: String,
    programs: Sender<(Command, Sender<std::io::Result<Child>>)>,
}

impl Far {
    /// Makes the far end, with its devices.
    ///
    /// # Errors
    /// The system allows no second namespace, thread or devices.
    pub(super) fn new(devices: Vec<PathDevice>, mtu: u16) -> Result<(Far, Vec<SyncDevice>), CliError> {
        let (made, come) = channel();
        let (programs, asked) = channel();
        let run = move || {
            let _ = made.send(make(&devices, mtu));
            serve(&asked);
        };
        thread::Builder::new()
            .name("far".to_owned())
            .spawn(run)
            .map_err(|error| CliError::Network(format!("cannot start a thread: {}", why(&error))))?;
        let ended = || CliError::Network("the far end ended before it began".into());
        let (namespace, open) = come.recv().map_err(|_| ended())??;
        Ok((Far { namespace, programs }, open))
    }

    /// Starts a program at the far end.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start(&self, program: Command) -> std::io::Result<Child> {
        let (started, come) = channel();
        let gone = || std::io::Error::other("the far end is gone");
        self.programs.send((program, started)).map_err(|_| gone())?;
        come.recv().map_err(|_| gone())?
    }

    /// Variables for programs: how to start another program at the far end, and the address that all paths lead to.
    pub(super) fn variables(&self) -> [(&'static str, String); 2] {
        [
            ("STRANDCAST_FAR", format!("nsenter --net={}", self.namespace)),
            ("STRANDCAST_FAR_HOST", FAR_HOST.to_owned()),
        ]
    }
}

fn make(devices: &[PathDevice], mtu: u16) -> Result<(String, Vec<SyncDevice>), CliError> {
    let refused = |error: nix::Error| {
        CliError::Network(format!("cannot make the far end's namespace: {}", why(&error.into())))
    };
    unshare(CloneFlags::CLONE_NEWNET).map_err(refused)?;
    let thread = rustix::thread::gettid().as_raw_nonzero();
    let namespace = format!("/proc/{}/task/{thread}/ns/net", std::process::id());
    Ok((namespace, set_up(End::Far, devices, mtu)?))
}

/// Starts programs from this thread, so that they are in its network, until the command ends.
fn serve(asked: &Receiver<(Command, Sender<std::io::Result<Child>>)>) {
    while let Ok((mut program, started)) = asked.recv() {
        let _ = started.send(program.spawn());
    }
}

/// The program with its arguments.
pub(super) fn program(words: &[OsString]) -> Command {
    let mut program = Command::new(words.first().map_or("true".as_ref(), OsString::as_os_str));
    program.args(words.iter().skip(1));
    program
}

/// A line for the shell.
pub(super) fn shell(line: &OsString) -> Command {
    let mut program = Command::new("sh");
    program.arg("-c").arg(line);
    program
}

/// The exit code that a shell gives for a program.
pub(super) fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
