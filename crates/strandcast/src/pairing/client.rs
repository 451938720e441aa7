//! Seal of a client, and reports of the seal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strandcast_net::driver::{ClientSeal, SealHooks};
use strandcast_seal::{Cipher, Lost, SealEvent, VERSION};

use super::destination::Destination;
use super::forms::{fingerprint, key_text};
use super::keylog::KeyLog;

/// Reports of the seals of successive connections.
#[derive(Clone, Debug, Default)]
pub struct SealReports(Arc<Mutex<Reported>>);

#[derive(Debug, Default)]
struct Reported {
    /// True if the receiver reports that it runs without encryption.
    plain: bool,
    /// Version of sealed datagrams that the receiver reports, if it differs.
    version: Option<u8>,
    cipher: Option<Cipher>,
    /// Reason why the session ended.
    lost: Option<Lost>,
}

impl SealReports {
    /// Returns the seal of a connection to `destination`; `None` without encryption. Drops earlier reports.
    pub fn seal(&self, destination: &Destination) -> Option<ClientSeal> {
        let (identity, peer) = destination.seal.clone()?;
        *self.lock() = Reported::default();
        let reports = self.clone();
        let on_event = move |_, event: &SealEvent| {
            let mut reported = reports.lock();
            match event {
                SealEvent::Established { cipher, .. } => reported.cipher = Some(*cipher),
                SealEvent::Lost { why, .. } => reported.lost = Some(*why),
                SealEvent::PlainPeer { .. } => reported.plain = true,
                SealEvent::OtherVersion { version, .. } => reported.version = Some(*version),
                _ => {}
            }
        };
        let keylog = destination.keylog.as_ref().map(KeyLog::sink);
        Some(ClientSeal { identity, peer, hooks: SealHooks { on_event: Some(Box::new(on_event)), keylog } })
    }

    /// Cipher of the datagrams.
    pub fn cipher(&self) -> Option<Cipher> {
        self.lock().cipher
    }

    /// Returns the reason why the seal will not connect. The text follows the receiver's name. The flag is true if the
    /// receiver has proven that it sent this reason. Another attempt would then also fail.
    pub fn refusal(&self, destination: &Destination) -> Option<(String, bool)> {
        let (identity, _) = destination.seal.as_ref()?;
        let reported = self.lock();
        match reported.lost {
            Some(Lost::Refused | Lost::Revoked) => {
                let key = identity.public();
                let (short, key) = (fingerprint(&key), key_text(&key));
                // A receiver that never had a stream of this machine has no short form of its key.
                let why = format!(
                    "does not admit this machine, {short}: run there strandcast key allow {key}, or pair again"
                );
                Some((why, true))
            }
            Some(Lost::Busy) => Some(("has no room for more senders: try again later".into(), false)),
            _ if reported.plain => {
                let why = "runs without encryption: start it there without --plain, or send to its HOST with --plain";
                Some((why.into(), false))
            }
            _ => Some((speaks(reported.version?, "the receiver's"), false)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Reported> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the text for a peer with another version of sealed datagrams. The text names the program to update, which is
/// this program or the peer's.
pub(super) fn speaks(version: u8, theirs: &str) -> String {
    let older = if version < VERSION { theirs } else { "this" };
    format!(
        "speaks version {version} of sealed datagrams, this program version {VERSION}: update {older} program"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_program_is_to_be_updated() {
        let line = |version| speaks(version, "the receiver's");
        let expected = "speaks version 3 of sealed datagrams, this program version 2: update this program";
        assert_eq!(line(3), expected);
        assert!(line(1).ends_with("update the receiver's program"));
    }
}
