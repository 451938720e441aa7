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
    pub(super) listen: Option<Vec<Spanned<String>>>,
    pub(super) key: Option<Spanned<String>>,
    pub(super) scheme: Option<Spanned<String>>,
    pub(super) memory_mib: Option<Spanned<u32>>,
    pub(super) max_streams: Option<Spanned<u16>>,
    pub(super) api: Option<Spanned<Api>>,
    pub(super) defaults: Option<Stream>,
    #[serde(default)]
    pub(super) streams: BTreeMap<Spanned<String>, Spanned<Stream>>,
}

/// A stream, or the defaults of all streams.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stream {
    pub(super) senders: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) latency_ms: Option<Spanned<u32>>,
    pub(super) silence_s: Option<Spanned<f64>>,
    pub(super) slate: Option<Spanned<String>>,
    pub(super) slate_after_ms: Option<Spanned<u32>>,
    pub(super) outputs: Option<Spanned<Vec<Spanned<String>>>>,
}

/// The table of an API.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Api {
    pub(super) socket: Option<Spanned<String>>,
    pub(super) listen: Option<Spanned<String>>,
    pub(super) certificate: Option<Spanned<String>>,
    pub(super) certificate_key: Option<Spanned<String>>,
    pub(super) view_tokens: Option<Spanned<String>>,
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
    /// [`Error::Usage`]: a line with its number, its key, and what to write instead.
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

/// Returns the message of a parser, with the key that was probably meant.
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
