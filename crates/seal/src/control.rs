//! Control messages between the seals of two endpoints. Control messages are sent as encrypted datagrams. Each begins
//! with two zero bytes. No SCTP packet does, because an SCTP port is never zero.

use crate::wire::{DATA_HEADER, TAG};

const CHALLENGE: u8 = 1;
const RESPONSE: u8 = 2;
const PING: u8 = 3;
const PONG: u8 = 4;
const CLOSED: u8 = 5;
const REVOKED: u8 = 1;
const REPLACED: u8 = 2;

/// A message between the seals of two endpoints.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    /// A challenge, with random bytes. The peer returns these bytes from the address at which it received them.
    Challenge([u8; 8]),
    /// The answer to a challenge, with the bytes of the challenge.
    Response([u8; 8]),
    /// A request for a sign of life from the peer.
    Ping,
    /// The answer to [`Control::Ping`].
    Pong,
    /// The session ended, because the sender may no longer connect.
    Revoked,
    /// The session ended, because its key has newer sessions.
    Replaced,
}

/// Returns whether a decrypted plaintext is a control message. The kind of the message may be unknown.
pub(crate) fn is_control(plaintext: &[u8]) -> bool {
    plaintext.starts_with(&[0, 0])
}

impl Control {
    /// Reads a control message. Returns `None` if its kind is unknown. Later versions may add kinds.
    pub fn read(plaintext: &[u8]) -> Option<Self> {
        match plaintext.strip_prefix(&[0, 0])?.split_first()? {
            (&CHALLENGE, data) => Some(Control::Challenge(data.try_into().ok()?)),
            (&RESPONSE, data) => Some(Control::Response(data.try_into().ok()?)),
            (&PING, []) => Some(Control::Ping),
            (&PONG, []) => Some(Control::Pong),
            (&CLOSED, &[REVOKED]) => Some(Control::Revoked),
            (&CLOSED, &[REPLACED]) => Some(Control::Replaced),
            _ => None,
        }
    }

    /// Writes the message as a datagram that has room for the header and the tag.
    pub fn datagram(self) -> Vec<u8> {
        let (kind, data): (u8, &[u8]) = match &self {
            Control::Challenge(nonce) => (CHALLENGE, nonce),
            Control::Response(nonce) => (RESPONSE, nonce),
            Control::Ping => (PING, &[]),
            Control::Pong => (PONG, &[]),
            Control::Revoked => (CLOSED, &[REVOKED]),
            Control::Replaced => (CLOSED, &[REPLACED]),
        };
        enveloped(&[&[0, 0, kind], data])
    }
}

/// Joins `parts` into a datagram that has room for the header and the tag.
pub(crate) fn enveloped(parts: &[&[u8]]) -> Vec<u8> {
    [&[0; DATA_HEADER][..], &parts.concat(), &[0; TAG]].concat()
}

/// Returns the bytes of a datagram between the header and the tag.
pub(crate) fn inside(datagram: &[u8]) -> &[u8] {
    let end = datagram.len().saturating_sub(TAG);
    datagram.get(DATA_HEADER..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_messages_are_read_as_they_were_written() {
        let nonce = [1, 2, 3, 4, 5, 6, 7, 8];
        let all = [
            (Control::Challenge(nonce), 40),
            (Control::Response(nonce), 40),
            (Control::Ping, 32),
            (Control::Pong, 32),
            (Control::Revoked, 33),
            (Control::Replaced, 33),
        ];
        for (control, len) in all {
            let datagram = control.datagram();
            assert_eq!(datagram.len(), len, "{control:?}");
            assert!(is_control(inside(&datagram)));
            assert_eq!(Control::read(inside(&datagram)), Some(control));
        }
    }

    #[test]
    fn what_is_cut_or_unknown_is_none() {
        for plaintext in
            [&[0, 0][..], &[0, 0, 1, 2, 3], &[0, 0, 2], &[0, 0, 3, 0], &[0, 0, 5, 3], &[0, 0, 99]]
        {
            assert!(is_control(plaintext));
            assert_eq!(Control::read(plaintext), None, "{plaintext:?}");
        }
        assert!(!is_control(&[0x13, 0x88, 0x13, 0x88]), "a packet of port 5000");
    }
}
