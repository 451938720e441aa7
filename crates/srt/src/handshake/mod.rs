//! Handshakes of callers and listeners (draft-sharabayko-srt, *Caller-Listener Handshake*).

mod budget;
mod caller;
mod cookie;
mod listener;

pub(crate) use caller::{Answer, Caller};
pub(crate) use listener::{Accepted, Decision, Listener};
