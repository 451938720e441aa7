//! Keys that are not stored.

use std::collections::BTreeSet;

use strandcast_net::driver::{ClientSeal, SealHooks, ServerSeal};
use strandcast_seal::{Access, Grant, Peer, SecretKey, Token};

use super::store::random;
use crate::error::Error;

/// Returns the seals of a client and a server. New keys pair the two with each other.
///
/// # Errors
/// Returns [`Error::Store`] if the system has no randomness.
pub fn paired_in_memory() -> Result<(ClientSeal, ServerSeal), Error> {
    let mut random = random()?;
    let (sender, receiver) = (SecretKey::generate(&mut random), SecretKey::generate(&mut random));
    let token = Token::generate(&mut random);
    let senders = BTreeSet::from([sender.public()]);
    let grant = Grant { token: token.clone(), senders, open: false, once: false };
    let peer = Peer { key: receiver.public(), token };
    let access = Access { grants: vec![grant], ..Access::default() };
    let client = ClientSeal { identity: sender, peer, hooks: SealHooks::default() };
    Ok((client, ServerSeal { identity: receiver, access, max_sessions: None, hooks: SealHooks::default() }))
}
