//! Pairing between senders and a command that listens.

use std::io::stderr;

use strandcast::pairing::{Gate, GateEvent, Pairing, fingerprint, key_text, reachable_line};

use super::command::announced;
use super::keylog::key_log;
use super::store::store;
use super::terminal::{pairing_text, shows_secrets};
use crate::args::SealArgs;
use crate::error::CliError;
use crate::print;

/// Opens the store, and makes an identity if there has never been one. Returns `None` with `--plain`.
///
/// # Errors
/// [`CliError::Store`].
pub(crate) fn gate(args: &SealArgs) -> Result<Option<Gate>, CliError> {
    if args.plain {
        return Ok(None);
    }
    let store = store(args.key.as_deref())?;
    announced(&store, || {
        store.identity_or_new()?;
        Ok(Some(Gate::open(&store, key_log(args, &store)?)?))
    })
}

/// Returns the line for an event of a gate. The line names the command with which the user can respond.
pub(crate) fn gate_line(event: &GateEvent) -> String {
    match event {
        GateEvent::Enrolled { key } => {
            format!("{event}: strandcast key allow {} --as NAME names it", fingerprint(key))
        }
        GateEvent::Refused { key, known, .. } => {
            // A sender that was never admitted can only be named by its whole key.
            let who = if *known { fingerprint(key) } else { key_text(key) };
            format!("{event}: strandcast key allow {who} admits it")
        }
        other => other.to_string(),
    }
}

/// The invitation that a command prints when it starts to listen.
#[derive(Debug, Default)]
pub(crate) struct Invitation {
    /// Name of the identity, and the path of its file.
    identity: Option<String>,
    /// A pairing string, which is printed only on a terminal.
    text: Option<zeroize::Zeroizing<String>>,
    lines: Vec<String>,
}

/// Returns the lines that a starting receiver prints: its identity, and on a terminal a pairing string while no sender
/// is known. Without a terminal, a line names the command that makes a pairing string.
pub(crate) fn invitation(gate: &mut Gate, args: &SealArgs) -> Invitation {
    let mut invitation = try_invite(gate).unwrap_or_else(|error| Invitation {
        lines: vec![format!("{error}; strandcast key pair makes a pairing string for a sender")],
        ..Invitation::default()
    });
    invitation.identity = identity_line(args);
    invitation
}

/// Returns the name of the identity and the path of its file. A different user or a different HOME has a different
/// identity. Returns `None` if the identity was just deleted.
fn identity_line(args: &SealArgs) -> Option<String> {
    let store = store(args.key.as_deref()).ok()?;
    let key = store.identity().ok()??;
    Some(format!("identity {} in {}", fingerprint(&key.public()), store.path().display()))
}

fn try_invite(gate: &Gate) -> Result<Invitation, CliError> {
    let terminal = stderr();
    if gate.has_senders() || !shows_secrets(&terminal) {
        let line = "strandcast key pair makes a pairing string for a sender".to_owned();
        return Ok(Invitation { lines: vec![line], ..Invitation::default() });
    }
    let line = "at the sender: strandcast key add NAME, then strandcast send INPUT @NAME".to_owned();
    let text = gate.pairing()?;
    let hosts = Pairing::decode(&text).map(|pairing| reachable_line(&pairing.hosts)).ok();
    let lines = hosts.into_iter().chain([line]).collect();
    Ok(Invitation { text: Some(pairing_text(&text, &terminal)), lines, ..Invitation::default() })
}

impl Invitation {
    /// Prints it.
    pub(crate) fn print(&self) {
        self.identity.iter().for_each(|line| print::line(line));
        self.text.iter().for_each(|text| print::error_bytes(text));
        self.lines.iter().for_each(|line| print::line(line));
    }
}
