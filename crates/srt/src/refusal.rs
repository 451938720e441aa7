//! Reasons for refusing a connection.

use core::fmt;

/// Code of a refusal (draft-sharabayko-srt, *Handshake Rejection Reason codes*). Codes from 2000 on belong to
/// applications, and their last three digits follow HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal(u32);

impl Refusal {
    /// The peer refused the connection and gave no other reason.
    pub const PEER: Refusal = Refusal(1002);
    /// The handshake contains incorrect data.
    pub const ROGUE: Refusal = Refusal(1004);
    /// The listener has its maximum number of connections.
    pub const BACKLOG: Refusal = Refusal(1005);
    /// The peer's version is too old.
    pub const VERSION: Refusal = Refusal(1008);
    /// The passphrases of the two endpoints differ.
    pub const BAD_SECRET: Refusal = Refusal(1010);
    /// One endpoint has a passphrase and the other does not.
    pub const UNSECURE: Refusal = Refusal(1011);
    /// The peer requests a byte stream, which live mode does not have.
    pub const MESSAGE_API: Refusal = Refusal(1012);
    /// The peer requests another congestion control.
    pub const CONGESTION: Refusal = Refusal(1013);
    /// The peer requests a packet filter.
    pub const FILTER: Refusal = Refusal(1014);
    /// The peer requests a group of connections.
    pub const GROUP: Refusal = Refusal(1015);
    /// The peer did not answer.
    pub const TIMEOUT: Refusal = Refusal(1016);
    /// The peer requests another cipher.
    pub const CRYPTO: Refusal = Refusal(1017);
    /// The listener has no stream with this id.
    pub const NOT_FOUND: Refusal = Refusal(2404);

    /// Returns the refusal that has this code.
    pub const fn from_code(code: u32) -> Refusal {
        Refusal(code)
    }

    /// Returns the code on the wire.
    pub const fn code(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match *self {
            Refusal::PEER => "refused",
            Refusal::ROGUE => "incorrect data in the handshake",
            Refusal::BACKLOG => "the listener has no room for another connection",
            Refusal::VERSION => "the version is too old",
            Refusal::BAD_SECRET => "the passphrases differ",
            Refusal::UNSECURE => "only one side has a passphrase",
            Refusal::MESSAGE_API => "only one side has live mode",
            Refusal::CONGESTION => "only one side has the congestion control of live mode",
            Refusal::FILTER => "only one side has a packet filter",
            Refusal::GROUP => "only one side has a group of connections",
            Refusal::TIMEOUT => "no answer",
            Refusal::CRYPTO => "the ciphers differ",
            Refusal::NOT_FOUND => "the listener has no stream with this id",
            _ => return write!(f, "refused with code {}", self.0),
        };
        write!(f, "{reason} (code {})", self.0)
    }
}
