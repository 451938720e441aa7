//! The network namespaces of the two ends, and the programs in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};
use rustix::process::{Pid, Signal, kill_process};
use strandcast_lab::simulation::End;
use tun_rs::SyncDevice;

use super::devices::{PathDevice, configure};
use crate::error::{Error, why};

/// Moves this thread into a separate network namespace. If the user has no right to do that, the thread also becomes
/// root in a new user namespace, which requires a process with a single thread.
///
/// # Errors
/// Returns an error if the system allows neither.
fn leave() -> Result<(), Error> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    if unshare(CloneFlags::CLONE_NEWNET).is_ok() {
        return Ok(());
    }
    let refused = |error: std::io::Error| {
        let mend = "run it as root, or allow unprivileged user namespaces (sysctl user.max_user_namespaces, \
                    kernel.apparmor_restrict_unprivileged_userns=0)";
        Error::Network(format!("cannot make network namespaces: {}; {mend}", why(&error)))
    };
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).map_err(|error| refused(error.into()))?;
    fs::write("/proc/self/setgroups", "deny").map_err(refused)?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1")).map_err(refused)?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1")).map_err(refused)
}

/// Makes the near end in this thread, with its devices. Must be called before the process has other threads.
///
/// # Errors
/// Returns an error if the system allows no namespaces or devices.
pub(super) fn near(devices: &[PathDevice], mtu: u16) -> Result<Vec<SyncDevice>, Error> {
    leave()?;
    set_up(End::Near, devices, mtu)
}

fn set_up(end: End, devices: &[PathDevice], mtu: u16) -> Result<Vec<SyncDevice>, Error> {
    let open = devices.iter().map(|device| device.open(mtu)).collect::<Result<Vec<_>, _>>()?;
    configure(end, devices)?;
    Ok(open)
}

/// The far end: a thread in a separate network namespace.
#[derive(Debug)]
pub(super) struct Far {
    /// File of the namespace.
    pub(super) namespace: PathBuf,
    programs: Sender<(Command, Sender<std::io::Result<Child>>)>,
}

impl Far {
    /// Makes the far end, with its devices.
    ///
    /// # Errors
    /// Returns an error if the system allows no second namespace, no thread or no devices.
    pub(super) fn new(devices: Vec<PathDevice>, mtu: u16) -> Result<(Far, Vec<SyncDevice>), Error> {
        let (made, come) = channel();
        let (programs, asked) = channel();
        let run = move || {
            let _ = made.send(make(&devices, mtu));
            serve(&asked);
        };
        thread::Builder::new()
            .name("far".to_owned())
            .spawn(run)
            .map_err(|error| Error::Network(format!("cannot start a thread: {}", why(&error))))?;
        let ended = || Error::Network("the far end exited before it was ready".into());
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
}

fn make(devices: &[PathDevice], mtu: u16) -> Result<(PathBuf, Vec<SyncDevice>), Error> {
    let refused = |error: nix::Error| {
        Error::Network(format!("cannot make the far end's namespace: {}", why(&error.into())))
    };
    unshare(CloneFlags::CLONE_NEWNET).map_err(refused)?;
    let thread = rustix::thread::gettid().as_raw_nonzero();
    let namespace = PathBuf::from(format!("/proc/{}/task/{thread}/ns/net", std::process::id()));
    Ok((namespace, set_up(End::Far, devices, mtu)?))
}

/// Starts programs from this thread until the last handle of the far end is dropped. The programs are therefore in the network namespace of this
/// thread.
fn serve(asked: &Receiver<(Command, Sender<std::io::Result<Child>>)>) {
    while let Ok((mut program, started)) = asked.recv() {
        let _ = started.send(program.spawn());
    }
}

/// Time for programs to end after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(5);
/// Interval at which the programs are checked.
const LOOK: Duration = Duration::from_millis(20);

/// Ends all programs in the networks of both ends: sends SIGTERM, and SIGKILL after [`PATIENCE`]. Returns the number of
/// programs that needed SIGKILL. Must be called in the thread of the near end.
pub(super) fn clear(far: &Far) -> usize {
    let networks = [Path::new("/proc/thread-self/ns/net"), far.namespace.as_path()].map(fs::read_link);
    let networks: Vec<PathBuf> = networks.into_iter().flatten().collect();
    signal_all(&networks, Signal::TERM);
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if programs(&networks).is_empty() {
            return 0;
        }
        thread::sleep(LOOK);
    }
    signal_all(&networks, Signal::KILL)
}

fn signal_all(networks: &[PathBuf], signal: Signal) -> usize {
    // A program that has just ended cannot receive a signal.
    programs(networks).into_iter().filter(|pid| kill_process(*pid, signal).is_ok()).count()
}

/// Returns the processes in these networks, without this process and without processes that have ended.
fn programs(networks: &[PathBuf]) -> Vec<Pid> {
    let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
    let own = std::process::id();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let inside = |pid: &u32| {
        // For a process that has ended but was not waited for, this link cannot be read.
        let network = fs::read_link(format!("/proc/{pid}/ns/net"));
        *pid != own && network.is_ok_and(|network| networks.contains(&network))
    };
    let all = all.flatten().filter_map(number).filter(inside);
    all.filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).collect()
}
