//! The network namespaces of the two ends, and the programs in them.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
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

thread_local! {
    /// True if this thread is the near end of a network that runs.
    static TAKEN: Cell<bool> = const { Cell::new(false) };
}

/// The near end: the thread that started the network.
#[derive(Debug)]
pub(super) struct Near {
    namespace: NamespaceId,
}

impl Near {
    /// Makes the near end in this thread, with its devices. Must be called before the process has other threads.
    ///
    /// # Errors
    /// Returns an error if this thread is a near end already, or if the system allows no namespaces or devices.
    pub(super) fn new(devices: &[PathDevice], mtu: u16) -> Result<(Near, Vec<SyncDevice>), Error> {
        if TAKEN.get() {
            let line =
                "this thread is the near end of another emulated network: start this one in another process";
            return Err(Error::Usage(line.into()));
        }
        leave()?;
        let namespace = NamespaceId::of_thread()?;
        Ok((Near { namespace }, set_up(End::Near, devices, mtu)?))
    }

    /// Notes that this thread is the near end of a network that runs. Another network cannot start in it.
    pub(super) fn take_thread(&self) {
        TAKEN.set(true);
    }
}

/// Identity of a network namespace: the text of its link in `/proc`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamespaceId(PathBuf);

impl NamespaceId {
    /// Returns the namespace of this thread.
    ///
    /// # Errors
    /// Returns an error if `/proc` does not tell it.
    fn of_thread() -> Result<NamespaceId, Error> {
        let link = fs::read_link("/proc/thread-self/ns/net");
        link.map(NamespaceId)
            .map_err(|e| Error::Network(format!("cannot read a network namespace: {}", why(&e))))
    }
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
    id: NamespaceId,
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
        let (namespace, id, open) = come.recv().map_err(|_| ended())??;
        Ok((Far { namespace, id, programs }, open))
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

fn make(devices: &[PathDevice], mtu: u16) -> Result<(PathBuf, NamespaceId, Vec<SyncDevice>), Error> {
    let refused = |error: nix::Error| {
        Error::Network(format!("cannot make the far end's namespace: {}", why(&error.into())))
    };
    unshare(CloneFlags::CLONE_NEWNET).map_err(refused)?;
    let thread = rustix::thread::gettid().as_raw_nonzero();
    let namespace = PathBuf::from(format!("/proc/{}/task/{thread}/ns/net", std::process::id()));
    Ok((namespace, NamespaceId::of_thread()?, set_up(End::Far, devices, mtu)?))
}

/// Starts programs from this thread until [`Far`] is dropped. The programs are therefore in the network namespace of
/// this thread. The thread then ends, and its file of the namespace goes with it.
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
/// programs that needed SIGKILL. The namespaces are those in which the ends were made, whatever the calling thread has
/// entered since.
pub(super) fn clear(near: &Near, far: &Far) -> usize {
    let networks = [near.namespace.clone(), far.id.clone()];
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

fn signal_all(networks: &[NamespaceId], signal: Signal) -> usize {
    // A program that has just ended cannot receive a signal.
    programs(networks).into_iter().filter(|pid| kill_process(*pid, signal).is_ok()).count()
}

/// Returns the processes in these networks, without this process and without processes that have ended.
fn programs(networks: &[NamespaceId]) -> Vec<Pid> {
    let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
    let own = std::process::id();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let inside = |pid: &u32| {
        // For a process that has ended but was not waited for, this link cannot be read.
        let network = fs::read_link(format!("/proc/{pid}/ns/net"));
        *pid != own && network.is_ok_and(|network| networks.contains(&NamespaceId(network)))
    };
    let all = all.flatten().filter_map(number).filter(inside);
    all.filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_those_of_the_namespaces_that_were_noted() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("a program");
        let pid = Pid::from_child(&child);
        let own = NamespaceId::of_thread().expect("/proc");
        assert!(programs(&[own]).contains(&pid));
        assert_eq!(programs(&[NamespaceId("net:[0]".into())]), []);
        child.kill().and_then(|()| child.wait()).expect("it ends");
    }

    #[test]
    fn a_thread_is_the_near_end_of_one_network() {
        Near { namespace: NamespaceId(PathBuf::new()) }.take_thread();
        let second = Near::new(&[], 1500).map(drop).expect_err("the thread is taken");
        assert!(
            matches!(&second, Error::Usage(line) if line.contains("another emulated network")),
            "{second}"
        );
    }
}
