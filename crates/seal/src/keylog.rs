//! Writer and reader of the key log, with which recorded datagrams can be decrypted. The log has one line for each path
//! and direction of a handshake:
//!
//! `STRANDCAST1 CONNECTION-ID PATH CIPHER SECRET`. The connection id and the secret are written in hexadecimal. The
//! secret is that of the path's first key generation.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use crate::aead::Cipher;
use crate::control;
use crate::generation::following;
use crate::keys::{ConnectionId, Discard, Keys, PATHS};
use crate::path::Receiver;
use crate::secret::Secret;
use crate::wire::Datagram;

/// Function that receives the lines of the key log.
pub(crate) type Log = Box<dyn FnMut(&str) + Send>;

const LABEL: &str = "STRANDCAST1";
/// Maximum length of a line in bytes.
const LONGEST: usize = 128;

/// Returns the lines of all paths. The method must be called before any path is used.
pub(crate) fn lines(keys: &Keys) -> Zeroizing<String> {
    let cipher = keys.cipher();
    // The capacity is sufficient, because a reallocation would leave secrets behind.
    let mut lines = Zeroizing::new(String::with_capacity(2 * usize::from(PATHS) * LONGEST));
    for path in 0..PATHS {
        for (id, secret) in keys.log(path).into_iter().flatten() {
            let (id, secret) = (hex(&id.0), Zeroizing::new(hex(secret.bytes())));
            for part in
                [LABEL, " ", &id, " ", &path.to_string(), " ", &cipher.to_string(), " ", &secret, "\n"]
            {
                lines.push_str(part);
            }
        }
    }
    lines
}

/// Keys that were read from a key log.
#[derive(Default)]
pub struct KeyLog {
    paths: BTreeMap<ConnectionId, Logged>,
}

/// Keys of one path in one direction.
struct Logged {
    cipher: Cipher,
    /// Secrets of the generations, from the first one to the latest that a datagram named. Each secret is derived only
    /// once, even if no datagram can be decrypted with it.
    secrets: Vec<Secret>,
    receiver: Receiver,
}

impl KeyLog {
    /// Adds a line of a key log. Returns false and ignores the line if it is not a valid line of a key log.
    pub fn add(&mut self, line: &str) -> bool {
        let mut fields = line.split_ascii_whitespace();
        let (Some(LABEL), Some(id), Some(_path), Some(cipher), Some(secret), None) =
            (fields.next(), fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return false;
        };
        let cipher =
            [Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305].into_iter().find(|c| c.to_string() == cipher);
        let (Some(id), Some(cipher), Some(secret)) = (unhex(id), cipher, unhex(secret)) else { return false };
        let receiver = Receiver::new(cipher, Secret::new(secret));
        self.paths.insert(ConnectionId(id), Logged { cipher, secrets: vec![Secret::new(secret)], receiver });
        true
    }

    /// Decrypts a recorded datagram in place. Returns its SCTP packet. Returns `None` if the bytes are not a sealed
    /// datagram, if the log has no keys for it, or if it was decrypted before. For a control message of the seal, the
    /// returned packet is empty.
    pub fn open<'a>(&mut self, datagram: &'a mut [u8]) -> Option<&'a [u8]> {
        let Ok(Datagram::Data { id }) = Datagram::parse(datagram) else { return None };
        let logged = self.paths.get_mut(&id)?;
        match logged.receiver.open(datagram) {
            Ok(_) => {}
            // The recording begins or continues in a later generation than a receiver would follow.
            Err(Discard::Generation) => {
                let secrets = &mut logged.secrets;
                let mut joined = Receiver::joining(logged.cipher, |g| secret(secrets, g), datagram)?;
                joined.open(datagram).ok()?;
                logged.receiver = joined;
            }
            Err(_) => return None,
        }
        let packet = control::inside(datagram);
        Some(if control::is_control(packet) { &[] } else { packet })
    }
}

/// Returns the secret of the generation `generation`. Secrets of earlier generations are kept. The number in a datagram
/// can belong to one of 1024 generations.
fn secret(secrets: &mut Vec<Secret>, generation: u64) -> Secret {
    let generation = generation as usize;
    while let (true, Some(last)) = (secrets.len() <= generation, secrets.last()) {
        secrets.push(following(last));
    }
    secrets.get(generation).cloned().unwrap_or_else(|| Secret::new([0; 32]))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}
