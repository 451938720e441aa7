//! File of a server's configuration in its written form, and positions of its errors.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::error::Error;
use crate::pairing::nearest;

/// A configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Addresses and UDP ports to listen on. Default: `["[::]:9899"]`.
    pub(super) listen: Option<Vec<Spanned<String>>>,
    /// File of the server's identity. Default: the user's.
    pub(super) key: Option<Spanned<String>>,
    /// Scheme of the packets that the server itself sends, as `--scheme` takes it. Default: `strand`.
    pub(super) scheme: Option<Spanned<String>>,
    /// Memory limit of the process, in MiB; each stream has an equal share. Default: 512.
    pub(super) memory_mib: Option<Spanned<u32>>,
    /// Number of streams among which the memory is divided, at most 256. Each needs 16 MiB. Default: 16.
    pub(super) max_streams: Option<Spanned<u16>>,
    /// Table of the API. Default: no API.
    pub(super) api: Option<Spanned<Api>>,
    /// Keys of a stream, for all streams that do not have them.
    pub(super) defaults: Option<Stream>,
    /// The streams: `streams.NAME` has the keys of a stream. NAME has letters, digits, `-`, `_` and `.`.
    #[serde(default)]
    pub(super) streams: BTreeMap<Spanned<String>, Spanned<Stream>>,
}

/// A stream, or the defaults of all streams.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stream {
    /// Senders of the stream: names that `key allow --as` has given, short forms of keys, or keys (`sck1-…`). Needed.
    pub(super) senders: Option<Spanned<Vec<Spanned<String>>>>,
    /// Time from sending to playing. Default: the time that the sender asks for.
    pub(super) latency_ms: Option<Spanned<u32>>,
    /// Silence after which a sender is given up. Default: 65.
    pub(super) silence_s: Option<Spanned<f64>>,
    /// Packets for the outputs while no sender plays: `"null"`, or the path of a clip. Default: none.
    pub(super) slate: Option<Spanned<String>>,
    /// Time without media after which the slate plays. Default: 1000.
    pub(super) slate_after_ms: Option<Spanned<u32>>,
    /// One to eight places: `udp://`, `srt://`, a path with `{time}`, a named pipe or a device. Needed.
    pub(super) outputs: Option<Spanned<Vec<Spanned<String>>>>,
}

/// The table of an API.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Api {
    /// Path of a Unix socket, at most 84 bytes. Only the user of the server can open it.
    pub(super) socket: Option<Spanned<String>>,
    /// Address and TCP port: `127.0.0.1:PORT` or `[::1]:PORT`. Any other address needs a certificate and tokens.
    pub(super) listen: Option<Spanned<String>>,
    /// File of the certificate, and of those that lead to its authority, in PEM: `listen` has TLS.
    pub(super) certificate: Option<Spanned<String>>,
    /// File of the certificate's private key, in PEM without a passphrase.
    pub(super) certificate_key: Option<Spanned<String>>,
    /// File of tokens that may look. Default: every user of the machine may look.
    pub(super) view_tokens: Option<Spanned<String>>,
    /// File of tokens that may do everything.
    pub(super) control_tokens: Option<Spanned<String>>,
}

/// Text of a file, for positions in errors.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

impl Text<'_> {
    /// Reads the configuration.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with a line that contains its number, its key, and what to write instead.
    pub(super) fn read(self) -> Result<File, Error> {
        toml::from_str(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.wrong(at, &meant(error.message()))
        })
    }

    /// Returns the error for the value or the key at this byte.
    pub(super) fn wrong(self, at: usize, why: &str) -> Error {
        let before = self.text.get(..at).unwrap_or(self.text);
        let number = before.matches('\n').count() + 1;
        let line = self.text.lines().nth(number - 1).unwrap_or_default();
        let key = line.split_once('=').map(|(key, _)| format!(" {}:", key.trim())).unwrap_or_default();
        // An error of the parser may have several lines.
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        Error::Usage(format!("{}:{number}:{key} {why}", self.name))
    }
}

/// Returns the message of a parser. If a key is misspelled, the message also names the key that was probably meant.
fn meant(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match (message.starts_with("unknown field"), &quoted[..]) {
        (true, [wrong, known @ ..]) if !known.is_empty() => {
            let near = nearest(wrong, known.iter().copied());
            let near = near.map(|name| format!(", did you mean {name}?")).unwrap_or_default();
            format!("there is no key {wrong} here{near}: the keys are {}", known.join(", "))
        }
        _ => message.to_owned(),
    }
}
