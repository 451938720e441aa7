//! Messages to a service manager. Through `sd_notify` systemd learns that the command is ready, alive or ending. In the
//! journal each line has a priority.

use std::io::stderr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::fs::fstat;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Number of signs of life that are sent during the watchdog time of the manager.
const BEATS: u32 = 3;

/// The service manager that started the command, if any.
#[derive(Debug)]
pub(crate) struct Service {
    socket: Option<(UnixDatagram, SocketAddr)>,
    beats: Option<Interval>,
}

impl Service {
    /// Finds the service manager by `NOTIFY_SOCKET`, and the manager's watchdog time by `WATCHDOG_USEC`. Must be called
    /// inside a tokio runtime.
    pub(crate) fn find() -> Service {
        let var = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let socket = var("NOTIFY_SOCKET").and_then(|path| open(&path));
        let meant = var("WATCHDOG_PID").is_none_or(|pid| pid == std::process::id().to_string());
        let patience = var("WATCHDOG_USEC").and_then(|usec| usec.parse().ok()).map(Duration::from_micros);
        let patience = patience.filter(|time| meant && socket.is_some() && *time >= Duration::from_millis(1));
        let beats = patience.map(|time| {
            let mut beats = interval(time / BEATS);
            beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
            beats
        });
        Service { socket, beats }
    }

    /// Reports that all inputs and outputs are open.
    pub(crate) fn ready(&self) {
        self.say("READY=1");
    }

    /// Reports that the command ends.
    pub(crate) fn stopping(&self) {
        self.say("STOPPING=1");
    }

    /// Reports at intervals that the command is alive, and never returns.
    pub(crate) async fn live(&mut self) {
        loop {
            match &mut self.beats {
                Some(beats) => beats.tick().await,
                None => return std::future::pending().await,
            };
            self.say("WATCHDOG=1");
        }
    }

    fn say(&self, words: &str) {
        if let Some((socket, to)) = &self.socket {
            // If the manager does not read this message, the stream still continues.
            let _ = socket.send_to_addr(words.as_bytes(), to);
        }
    }
}

/// Returns a socket, and the address of the service manager. The address is a path, or a name of the abstract namespace
/// that begins with `@`.
fn open(path: &str) -> Option<(UnixDatagram, SocketAddr)> {
    let to = match path.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name).ok()?,
        None if Path::new(path).is_absolute() => SocketAddr::from_pathname(path).ok()?,
        None => return None,
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    Some((socket, to))
}

/// Returns the prefix that gives a line its priority in the journal (`sd-daemon(3)`). Returns an empty text if standard
/// error is not the journal.
pub(crate) fn weight(line: &str) -> &'static str {
    static JOURNAL: OnceLock<bool> = OnceLock::new();
    if !JOURNAL.get_or_init(|| std::env::var("JOURNAL_STREAM").is_ok_and(|stream| is_standard_error(&stream)))
    {
        return "";
    }
    weigh(line)
}

/// Returns the priority of a line. Priority 3 (error) is for the reason why the command ends, and priority 4 (warning)
/// for trouble during which it continues. All other lines have priority 6 (informational).
fn weigh(line: &str) -> &'static str {
    if line.starts_with("strandcast: ") {
        return "<3>";
    }
    match TROUBLE.iter().any(|words| line.contains(words)) {
        true => "<4>",
        false => "<6>",
    }
}

/// Words that occur in lines about trouble.
const TROUBLE: [&str; 13] = [
    "warning: ",
    "no packets from ",
    " dropped: ",
    "no input from ",
    " does not answer",
    " carried nothing ",
    " is lost: ",
    "was lost",
    "refuse",
    " is not read",
    "stopped: ",
    " broke off",
    " is not used",
];

/// Returns whether `DEVICE:INODE` identifies standard error.
fn is_standard_error(stream: &str) -> bool {
    let Ok(seen) = fstat(stderr()) else { return false };
    let found = |text: &str| {
        let (device, inode) = text.split_once(':')?;
        Some((device.parse().ok()?, inode.parse().ok()?))
    };
    found(stream) == Some((seen.st_dev, seen.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_an_abstract_name_are_addresses() {
        let path = std::env::temp_dir().join(format!("strandcast-notify-{}", std::process::id()));
        let manager = UnixDatagram::bind(&path).expect("a free name");
        let (socket, to) = open(path.to_str().expect("text")).expect("it is a path");
        let service = Service { socket: Some((socket, to)), beats: None };
        service.ready();
        let mut buffer = [0; 64];
        let length = manager.recv(&mut buffer).expect("it was sent");
        assert_eq!(&buffer[..length], b"READY=1");
        std::fs::remove_file(path).expect("it is there");
        assert!(open("@strandcast/a name").is_some() && open("relative").is_none());
    }

    #[test]
    fn lines_have_weights() {
        assert_eq!(weigh("strandcast: no answer from @studio for 30 s"), "<3>");
        assert_eq!(weigh("no packets from van1; waiting for it"), "<4>");
        assert_eq!(weigh("18 % of the last 10 s dropped: there is no connection"), "<4>");
        assert_eq!(weigh("listening on UDP [::]:9899"), "<6>");
        assert!(!is_standard_error("0:0") && !is_standard_error("x"));
    }
}
