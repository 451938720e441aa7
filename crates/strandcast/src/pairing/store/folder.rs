//! Locations of the store's files, and their contents.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use strandcast_net::entropy;
use strandcast_proto::seeds::Random;
use strandcast_seal::SecretKey;
use zeroize::Zeroizing;

use super::file::{self, Lock, Stamp, with_suffix};
use super::receivers::Receivers;
use super::senders::{Senders, WallClock};
use crate::error::Error;
use crate::files::{IDENTITY, same_file};
use crate::pairing::forms::{parse_secret, secret_text};

/// Version of all files.
const VERSION: u32 = 1;

const IDENTITY_HEAD: &str = "\
# The identity of this Strandcast: its secret key. Anyone who has it can send and receive in its place.
# It cannot be made again: without it, every pairing has to be made anew.";
const RECEIVERS_HEAD: &str = "\
# Receivers that this machine may send to, by name. Written by strandcast key add; holds secrets.";
const SENDERS_HEAD: &str = "\
# Who may send to this machine. Written by strandcast key and strandcast receive; holds secrets.";

/// An identity and the files next to it. The files are `NAME.receivers`, `NAME.senders` and, during a write,
/// `NAME.lock`.
#[derive(Clone, Debug)]
pub struct Store {
    identity: PathBuf,
}

impl Store {
    /// Returns the store whose identity is in this file. Nothing is read or created at this time.
    pub fn at(identity: impl Into<PathBuf>) -> Store {
        Store { identity: identity.into() }
    }

    /// Path of the identity's file.
    pub fn path(&self) -> &Path {
        &self.identity
    }

    /// Refuses a path that leads to a file of this store. The refusal prevents other data from being written to the
    /// file.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn spare(&self, path: &Path) -> Result<(), Error> {
        let lock = with_suffix(&self.identity, "lock");
        let own = [self.identity.clone(), self.receivers_path(), self.senders_path(), lock];
        match own.iter().any(|own| same_file(own, path)) {
            true => Err(Error::Store(format!("{} is a file of keys: name another one", path.display()))),
            false => Ok(()),
        }
    }

    /// Returns the identity. Returns `None` if an identity has never existed.
    ///
    /// # Errors
    /// Returns [`Error::Store`] if the file is lost or cannot be read.
    pub fn identity(&self) -> Result<Option<SecretKey>, Error> {
        // The advice about identities is given only for the file of an identity.
        let fits = |head: &[u8]| match head.windows(IDENTITY.len()).any(|part| part == IDENTITY.as_bytes()) {
            _ if head.is_empty() => Ok(()),
            true => Ok(()),
            false => {
                Err(Error::Store(format!("{} is not an identity of Strandcast", self.identity.display())))
            }
        };
        match file::read_if(&self.identity, fits)? {
            Some(text) => parse_identity(&text, &self.identity).map(Some),
            None => self.refuse_lost().map(|()| None),
        }
    }

    /// Returns the identity, and whether it was made now. If no identity has ever existed, the function makes one.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn identity_or_new(&self) -> Result<(SecretKey, bool), Error> {
        if let Some(key) = self.identity()? {
            return Ok((key, false));
        }
        file::create_folder_of(&self.identity)?;
        let _lock = Lock::of(&self.identity)?;
        // Another process may have made an identity since the first check.
        if let Some(key) = self.identity()? {
            return Ok((key, false));
        }
        let key = SecretKey::generate(&mut random()?);
        let secret = secret_text(&key);
        let text = format!("{IDENTITY_HEAD}\n{IDENTITY} {VERSION} {}\n", secret.as_str());
        file::write(&self.identity, &Zeroizing::new(text))?;
        Ok((key, true))
    }

    /// If pairings of a lost identity exist, refuses to replace the identity, because no peer would accept another
    /// identity.
    fn refuse_lost(&self) -> Result<(), Error> {
        let left = [self.receivers_path(), self.senders_path()].into_iter().find(|path| path.exists());
        left.map_or(Ok(()), |left| {
            Err(Error::Store(format!(
                "the identity {} is lost, and {} needs it: restore it from a copy, or move its .receivers and .senders \
                 away and pair again",
                self.identity.display(),
                left.display(),
            )))
        })
    }

    /// Returns the receivers to which this machine may send.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn receivers(&self) -> Result<Receivers, Error> {
        load(&self.receivers_path())
    }

    /// Returns the senders that may send to this machine.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn senders(&self) -> Result<Senders, Error> {
        load(&self.senders_path())
    }

    /// Changes the receivers.
    ///
    /// # Errors
    /// [`Error::Store`], and those of `change`.
    pub fn change_receivers<T, E: Into<Error>>(
        &self,
        change: impl FnOnce(&mut Receivers) -> Result<T, E>,
    ) -> Result<T, Error> {
        self.change(&self.receivers_path(), RECEIVERS_HEAD, change)
    }

    /// Changes the senders that may send to this machine.
    ///
    /// # Errors
    /// [`Error::Store`], and those of `change`.
    pub fn change_senders<T, E: Into<Error>>(
        &self,
        change: impl FnOnce(&mut Senders) -> Result<T, E>,
    ) -> Result<T, Error> {
        self.change(&self.senders_path(), SENDERS_HEAD, change)
    }

    fn change<F: Serialize + DeserializeOwned + Default, T, E: Into<Error>>(
        &self,
        path: &Path,
        head: &str,
        change: impl FnOnce(&mut F) -> Result<T, E>,
    ) -> Result<T, Error> {
        let _lock = Lock::of(&self.identity)?;
        let mut content = load(path)?;
        let result = change(&mut content).map_err(Into::into)?;
        let text =
            Zeroizing::new(toml::to_string(&content).expect("names, numbers and texts always serialise"));
        file::write(path, &Zeroizing::new(format!("{head}\nversion = {VERSION}\n{}", text.as_str())))?;
        Ok(result)
    }

    fn receivers_path(&self) -> PathBuf {
        with_suffix(&self.identity, "receivers")
    }

    fn senders_path(&self) -> PathBuf {
        with_suffix(&self.identity, "senders")
    }
}

/// Detects that another process has changed the senders of this machine.
#[derive(Debug)]
pub struct ChangeDetector {
    path: PathBuf,
    seen: Option<Stamp>,
}

impl ChangeDetector {
    /// Begins to detect changes from now on. Create the detector before the file is read.
    pub fn new(store: &Store) -> ChangeDetector {
        let path = store.senders_path();
        ChangeDetector { seen: Stamp::of(&path), path }
    }

    /// Returns whether the file has changed since the last call.
    pub fn changed(&mut self) -> bool {
        let now = Stamp::of(&self.path);
        std::mem::replace(&mut self.seen, now) != now
    }
}

/// Version of a file. The other content of the file may be anything.
#[derive(Deserialize)]
struct VersionHeader {
    version: u32,
}

/// Reads a file of the store.
fn load<F: DeserializeOwned + Default>(path: &Path) -> Result<F, Error> {
    let Some(text) = file::read(path)? else { return Ok(F::default()) };
    let broken = |error: toml::de::Error| {
        // The message does not repeat the line, because the line may contain a secret.
        let line =
            error.span().map_or(1, |span| text.chars().take(span.start).filter(|c| *c == '\n').count() + 1);
        let (path, words) = (path.display(), error.message());
        Error::Store(format!("{path}, line {line}: {words}: restore it from a copy"))
    };
    match toml::from_str(&text).map_err(broken)? {
        VersionHeader { version: VERSION } => toml::from_str(&text).map_err(broken),
        VersionHeader { .. } => Err(newer(path)),
    }
}

fn parse_identity(text: &str, path: &Path) -> Result<SecretKey, Error> {
    let refuse = |what: String| Error::Store(format!("{} {what}: restore it from a copy", path.display()));
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let (line, more) = (lines.next().unwrap_or_default(), lines.next());
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        [IDENTITY, "1", key] if more.is_none() => {
            parse_secret(key).map_err(|error| refuse(format!("is damaged ({error})")))
        }
        [IDENTITY, version, ..] if version.parse::<u32>().is_ok_and(|v| v > VERSION) => Err(newer(path)),
        _ => Err(refuse("is not an identity of Strandcast".into())),
    }
}

fn newer(path: &Path) -> Error {
    Error::Store(format!("{} is of a newer version of Strandcast: update this one", path.display()))
}

/// Returns randomness of the operating system, for keys and tokens.
///
/// # Errors
/// Returns [`Error::Store`] if the system has no randomness.
pub fn random() -> Result<Random, Error> {
    let seeds = entropy::seeds();
    let seeds = seeds.map_err(|e| Error::Store(format!("the system provides no random numbers: {e}")))?;
    Ok(seeds.stream("keys"))
}

/// Returns the time of day in seconds, for expiry and for lists.
pub fn wall_clock() -> WallClock {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
