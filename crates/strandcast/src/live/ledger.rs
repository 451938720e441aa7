//! A file with the bytes that metered links have used, by month of their plans and by the hardware of the link. Several
//! processes may write to it.

mod month;
#[cfg(test)]
mod tests;

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use strandcast_net::interface::Hardware;

pub(super) use self::month::Month;
use crate::error::{Error, why};
use crate::files::{MODE, replace};

/// First lines of the file.
const HEAD: &str = "# Bytes that metered links have used since the day on which a month of their plan began (UTC).\n\
                    # Written by strandcast send. Correct `used` here while nothing is sent, if the carrier's count differs.\n";
/// Number of months of a link that are kept.
const KEPT: usize = 13;

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
    /// Hardware of the link's interface.
    pub(super) hardware: Hardware,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(default, rename = "link")]
    links: Vec<Entry>,
}

/// The use of one link in one month.
#[derive(Deserialize, Serialize)]
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
    /// processes. The file is replaced as a whole, so that an ended process leaves no part of it.
    ///
    /// # Errors
    /// [`Error::Store`]: the file cannot be read or written, or is not a ledger.
    pub(super) fn add(&self, link: &Known, month: Month, bytes: u64) -> Result<u64, Error> {
        let name = self.path.display();
        let cannot = |e: &io::Error| Error::Store(format!("cannot write {name}: {}", why(e)));
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|e| cannot(&e))?;
        }
        let lock =
            OpenOptions::new().write(true).create(true).truncate(false).mode(MODE).open(self.lock_path());
        let lock = lock.map_err(|e| cannot(&e))?;
        lock.lock().map_err(|e| cannot(&e))?;
        let mut content = self.read()?;
        let used = content.add(link, month, bytes);
        let text = toml::to_string(&content).expect("texts and numbers always serialise");
        replace(&self.path, format!("{HEAD}\n{text}").as_bytes()).map_err(|e| cannot(&e))?;
        Ok(used)
    }

    fn lock_path(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".lock");
        name.into()
    }

    fn read(&self) -> Result<Content, Error> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => parse(&text, &self.path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Content::default()),
            Err(error) => Err(Error::Store(format!("cannot read {}: {}", self.path.display(), why(&error)))),
        }
    }
}

fn parse(text: &str, path: &Path) -> Result<Content, Error> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
        let (name, what) = (path.display(), error.message());
        Error::Store(format!("{name}:{line}: {what}: correct the line, or name another file with --ledger"))
    })
}

impl Content {
    fn add(&mut self, link: &Known, month: Month, bytes: u64) -> u64 {
        let since = month.begin();
        let mine = self.of(link);
        let Hardware { mac, usb, .. } = link.hardware.clone();
        let (name, mac) = (link.name.clone(), mac.map(|mac| mac.to_string()));
        // The link may have another name or another port than before.
        for at in &mine {
            let entry = &mut self.links[*at];
            (entry.name, entry.mac, entry.usb) = (name.clone(), mac.clone(), usb.clone());
        }
        let now = mine.iter().copied().find(|at| self.links[*at].since == since);
        let now = now.unwrap_or_else(|| {
            self.links.push(Entry { name, mac, usb, since, used: 0 });
            self.links.len() - 1
        });
        self.links[now].used = self.links[now].used.saturating_add(bytes);
        let used = self.links[now].used;
        // The oldest months are the first ones.
        let old = (mine.len() + 1).saturating_sub(KEPT);
        let mut old: Vec<usize> = mine.into_iter().filter(|at| *at != now).take(old).collect();
        while let Some(at) = old.pop() {
            self.links.remove(at);
        }
        used
    }

    /// The entries of a link: those of its USB port, else those of its hardware address, else those of its name among
    /// entries without hardware.
    fn of(&self, link: &Known) -> Vec<usize> {
        let all = |is: &dyn Fn(&Entry) -> bool| -> Vec<usize> {
            let mut at: Vec<usize> = (0..self.links.len()).filter(|at| is(&self.links[*at])).collect();
            at.sort_by(|a, b| self.links[*a].since.cmp(&self.links[*b].since));
            at
        };
        let by_port = all(&|entry| link.hardware.same_port(&entry.hardware()));
        if !by_port.is_empty() {
            return by_port;
        }
        // An address in another port: the device has moved, unless two devices have this address.
        let by_mac = all(&|entry| link.hardware.same_mac(&entry.hardware()));
        let mut ports: Vec<&Option<String>> = by_mac.iter().map(|at| &self.links[*at].usb).collect();
        ports.dedup();
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
