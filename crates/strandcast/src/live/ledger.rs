//! A file with the number of bytes that each metered link has used in each billing month of its plan. The file
//! recognises a link by its hardware. Several processes may write to the file.

mod month;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use strandcast_net::interface::Hardware;

pub(super) use self::month::Month;
use crate::error::{Error, why};
use crate::files::{MODE, Replacement, spare_keys};

/// First lines of the file.
const HEAD: &str = "# Bytes that metered links have used since the day on which a month of their plan began (UTC).\n\
                    # Written by strandcast send. If the carrier's count differs, stop every `send` and correct `used`.\n";
/// Number of months that the ledger keeps for each link.
const KEPT: usize = 13;
/// Longest wait while another process writes the file.
const LOCK: Duration = Duration::from_secs(5);
const LOCK_POLL: Duration = Duration::from_millis(5);

/// A ledger at a path.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    path: PathBuf,
}

/// A link, as the ledger recognises it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Present name of the link.
    pub(super) name: String,
    /// Hardware of the link's interface. A hardware address that another interface also has is left out.
    pub(super) hardware: Hardware,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(default, rename = "link")]
    links: Vec<Entry>,
}

/// Number of bytes that one link used in one month.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mac: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usb: Option<String>,
    since: String,
    used: u64,
}

impl Entry {
    fn hardware(&self) -> Hardware {
        Hardware::new(self.mac.as_ref().and_then(|mac| mac.parse().ok()), self.usb.clone())
    }
}

impl Ledger {
    /// The ledger at `path`. The file need not exist.
    pub(super) fn at(path: PathBuf) -> Ledger {
        Ledger { path }
    }

    /// Adds bytes to the use of a link in a month. Returns the sum of this month, which includes the use by other
    /// processes. The file is replaced as a whole, so that a process that is killed meanwhile leaves no incomplete
    /// file. This function blocks.
    ///
    /// # Errors
    /// [`Error::Store`]: the file cannot be read or written, or is not a ledger.
    pub(super) fn add(&self, link: &Known, month: Month, bytes: u64) -> Result<u64, Error> {
        // A process may name the file, and another one a symbolic link to it. Both then use the same lock.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        spare_keys(&path)?;
        let cannot = |e: &io::Error| Error::Store(format!("cannot write {}: {}", path.display(), why(e)));
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|e| cannot(&e))?;
        }
        let _lock = lock(&path).map_err(|e| cannot(&e))?;
        let mut content = read(&path)?;
        let used = content.add(link, month, bytes);
        let text = toml::to_string(&content).expect("texts and numbers always serialise");
        let write = || {
            let (replacement, mut file) = Replacement::create(&path)?;
            file.write_all(format!("{HEAD}\n{text}").as_bytes())?;
            // After a loss of power the file has the old or the new content.
            file.sync_all()?;
            replacement.keep()
        };
        write().map_err(|e: io::Error| cannot(&e))?;
        Ok(used)
    }
}

/// Locks the ledger, by a separate file whose name ends in `.lock`. Other processes wait until the returned file is
/// dropped.
fn lock(path: &Path) -> io::Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::NONBLOCK;
    options.write(true).create(true).truncate(false).mode(MODE).custom_flags(flags.bits() as i32);
    let file = options.open(name)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK => std::thread::sleep(LOCK_POLL),
            Err(TryLockError::WouldBlock) => return Err(io::Error::other("another process holds its lock")),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn read(path: &Path) -> Result<Content, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
        Err(error) => return Err(Error::Store(format!("cannot read {}: {}", path.display(), why(&error)))),
    };
    toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let (name, line, what) = (path.display(), before.matches('\n').count() + 1, error.message());
        Error::Store(format!("{name}:{line}: {what}: correct the line, or name another file with --ledger"))
    })
}

impl Content {
    fn add(&mut self, link: &Known, month: Month, bytes: u64) -> u64 {
        let since = month.begin();
        let mut mine = self.of(link);
        if !mine.iter().any(|at| self.links[*at].since == since) {
            mine.push(self.links.len());
            self.links.push(Entry { since: since.clone(), ..Entry::default() });
        }
        let mut used = 0;
        for at in &mine {
            let entry = &mut self.links[*at];
            // The link may have another name or another port than before.
            entry.name.clone_from(&link.name);
            entry.mac = link.hardware.mac.map(|mac| mac.to_string()).or_else(|| entry.mac.take());
            entry.usb = link.hardware.usb.clone().or_else(|| entry.usb.take());
            if entry.since == since {
                entry.used = entry.used.saturating_add(bytes);
                used = entry.used;
            }
        }
        mine.sort_by(|a, b| self.links[*a].since.cmp(&self.links[*b].since));
        let old: BTreeSet<usize> = mine.iter().copied().take(mine.len().saturating_sub(KEPT)).collect();
        let mut at = 0..;
        self.links.retain(|_| !at.next().is_some_and(|at| old.contains(&at)));
        used
    }

    /// Returns the entries of a link. They are the entries with its USB port, or else the entries with its hardware
    /// address, or else the entries without hardware that have its name.
    fn of(&self, link: &Known) -> Vec<usize> {
        let all = |is: &dyn Fn(&Entry) -> bool| -> Vec<usize> {
            (0..self.links.len()).filter(|at| is(&self.links[*at])).collect()
        };
        let by_port = all(&|entry| link.hardware.same_port(&entry.hardware()));
        if !by_port.is_empty() {
            return by_port;
        }
        // The same hardware address in another port means that the device was moved, unless two devices share this
        // address.
        let by_mac = all(&|entry| link.hardware.same_mac(&entry.hardware()));
        let ports: BTreeSet<&Option<String>> = by_mac.iter().map(|at| &self.links[*at].usb).collect();
        if ports.len() == 1 {
            return by_mac;
        }
        let nothing = Hardware::default();
        match link.hardware == nothing {
            true => all(&|entry| entry.name == link.name && entry.hardware() == nothing),
            false => Vec::new(),
        }
    }
}
