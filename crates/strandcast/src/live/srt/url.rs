//! URLs of SRT in the spelling of libsrt's programs.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use strandcast_net::resolve::HostPort;
use strandcast_srt::{Bandwidth, Config, Direction, KeySize, Passphrase};

const PREFIX: &str = "srt://";
const KEYS: &str = "mode, latency, passphrase, pbkeylen, kmrefreshrate, kmpreannounce, streamid, maxbw, lossmaxttl, transtype";
/// Maximum number of players of a listening output.
const PLAYERS: usize = 8;

/// Side that opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SrtMode {
    /// This end calls.
    Caller,
    /// This end waits for callers.
    Listener,
}

/// An SRT input or output: `srt://[HOST]:PORT[?KEY=VALUE[&KEY=VALUE]…]`. The text form omits the keys, because one of
/// the keys is a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SrtUrl {
    /// Role of this end: caller or listener. Without a host in the URL, this end is the listener, unless the key `mode`
    /// sets another role.
    pub mode: SrtMode,
    /// Host to call or to listen on.
    pub host: String,
    /// The UDP port.
    pub port: u16,
    latency: Option<Duration>,
    passphrase: Option<Passphrase>,
    key_size: Option<KeySize>,
    refresh: Option<u32>,
    announce: Option<u32>,
    stream_id: Option<String>,
    bandwidth: Option<u64>,
    reorder_tolerance: u32,
}

impl SrtUrl {
    /// Configuration of an endpoint.
    pub(in crate::live) fn config(&self, direction: Direction) -> Config {
        let mut config = Config::new(direction);
        config.latency = self.latency.unwrap_or(config.latency);
        config.passphrase.clone_from(&self.passphrase);
        config.key_size = self.key_size;
        config.refresh_packets = self.refresh.unwrap_or(config.refresh_packets);
        // If a key has a short life, the next key is announced correspondingly early.
        let early = config.announce_packets.min(config.refresh_packets / 4).max(1);
        config.announce_packets = self.announce.unwrap_or(early);
        config.stream_id.clone_from(&self.stream_id);
        config.bandwidth = self.bandwidth.map_or(config.bandwidth, Bandwidth::Fixed);
        config.reorder_tolerance = self.reorder_tolerance;
        if direction == Direction::Send {
            config.max_connections = PLAYERS;
        }
        config
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            // These keys are read before the other keys.
            "mode" => {}
            "latency" => self.latency = Some(Duration::from_millis(number(key, value)?)),
            "passphrase" => {
                self.passphrase = Some(Passphrase::new(value).map_err(|e| e.to_string())?);
            }
            "pbkeylen" => {
                let bytes: usize = number(key, value)?;
                self.key_size = KeySize::from_bytes(bytes);
                if bytes != 0 && self.key_size.is_none() {
                    return Err(format!("pbkeylen={bytes}: expected 16, 24 or 32"));
                }
            }
            "kmrefreshrate" => self.refresh = Some(number(key, value)?).filter(|packets| *packets > 0),
            "kmpreannounce" => self.announce = Some(number(key, value)?).filter(|packets| *packets > 0),
            "streamid" => self.stream_id = Some(value.to_owned()),
            "maxbw" => self.bandwidth = Some(number(key, value)?).filter(|bytes| *bytes > 0),
            "lossmaxttl" => self.reorder_tolerance = number(key, value)?,
            "transtype" if value == "live" => {}
            "transtype" => return Err(format!("transtype={value}: only live is supported")),
            _ => return Err(format!("unknown key {key}: expected {KEYS}")),
        }
        Ok(())
    }
}

fn number<T: FromStr>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key}={value}: expected a whole number"))
}

/// Returns the pairs of a query, with `%XX` decoded.
fn pairs(query: &str) -> Result<Vec<(String, String)>, String> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| match pair.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), decoded(value)?)),
            // Is this the rest of a passphrase with an `&` that is not encoded?
            None if query.contains("passphrase=") => {
                Err("expected KEY=VALUE after each &; in a passphrase write %26 for a &".to_owned())
            }
            None => Err(format!("{pair}: expected KEY=VALUE")),
        })
        .collect()
}

fn decoded(text: &str) -> Result<String, String> {
    let malformed = || "a value has a % without two hexadecimal digits after it".to_owned();
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || bytes.next().and_then(|b| char::from(b).to_digit(16)).ok_or_else(malformed);
            let (high, low) = (digit()?, digit()?);
            out.push((high * 16 + low) as u8);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).map_err(|_| "a value is not UTF-8".to_owned())
}

impl FromStr for SrtUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<SrtUrl, String> {
        // The rest may be a part of a secret.
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let refuse = |why: &dyn fmt::Display| format!("{place}: {why}");
        let rest = place.strip_prefix(PREFIX).ok_or_else(|| refuse(&"expected srt://[HOST]:PORT"))?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let hostless = rest.starts_with(':');
        let host = if hostless { format!("0.0.0.0{rest}") } else { rest.to_owned() };
        let HostPort { host, port } = host.parse().map_err(|e| refuse(&e))?;
        let port = port.ok_or_else(|| refuse(&"needs a port: srt://[HOST]:PORT"))?;
        let pairs = pairs(query).map_err(|e| refuse(&e))?;
        let mode = match pairs.iter().rev().find(|(key, _)| key == "mode").map(|(_, mode)| mode.as_str()) {
            Some("caller" | "client") => SrtMode::Caller,
            Some("listener" | "server") => SrtMode::Listener,
            None if hostless => SrtMode::Listener,
            None => SrtMode::Caller,
            Some(other) => return Err(refuse(&format!("mode={other}: expected caller or listener"))),
        };
        if hostless && mode == SrtMode::Caller {
            return Err(refuse(&"a caller needs a host: srt://HOST:PORT"));
        }
        let mut url = SrtUrl {
            mode,
            host,
            port,
            latency: None,
            passphrase: None,
            key_size: None,
            refresh: None,
            announce: None,
            stream_id: None,
            bandwidth: None,
            reorder_tolerance: 0,
        };
        for (key, value) in &pairs {
            url.set(key, value).map_err(|e| refuse(&e))?;
        }
        let config = url.config(Direction::Receive);
        config.check().map_err(|e| refuse(&e))?;
        let (refresh, announce) = (config.refresh_packets, config.announce_packets);
        if !(2..=Config::MOST_PACKETS).contains(&refresh) {
            return Err(refuse(&format!("kmrefreshrate={refresh}: expected 2 to {}", Config::MOST_PACKETS)));
        }
        if announce > refresh / 2 {
            let most = refresh / 2;
            return Err(refuse(&format!("kmpreannounce={announce}: at most {most}, half of kmrefreshrate")));
        }
        Ok(url)
    }
}

impl fmt::Display for SrtUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = HostPort { host: self.host.clone(), port: Some(self.port) };
        let mode = match self.mode {
            SrtMode::Caller => "",
            SrtMode::Listener => "?mode=listener",
        };
        write!(f, "{PREFIX}{place}{mode}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> SrtUrl {
        text.parse().unwrap()
    }

    #[test]
    fn a_url_without_a_host_listens() {
        for (text, mode, printed) in [
            ("srt://:9000", SrtMode::Listener, "srt://0.0.0.0:9000?mode=listener"),
            ("srt://:9000?mode=listener", SrtMode::Listener, "srt://0.0.0.0:9000?mode=listener"),
            ("srt://127.0.0.1:9000?mode=listener", SrtMode::Listener, "srt://127.0.0.1:9000?mode=listener"),
            ("srt://example.org:9000", SrtMode::Caller, "srt://example.org:9000"),
            ("srt://[::1]:9000/?mode=caller", SrtMode::Caller, "srt://[::1]:9000"),
        ] {
            assert_eq!((url(text).mode, url(text).to_string().as_str()), (mode, printed), "{text}");
        }
    }

    #[test]
    fn keys_are_those_of_libsrt() {
        let text = "srt://h:1?latency=800&passphrase=correct%20horse&pbkeylen=32&streamid=%23!::r%3Dlive,m%3Dpublish\
            &maxbw=1000000&lossmaxttl=40&transtype=live&kmrefreshrate=3000&kmpreannounce=1000";
        let config = url(text).config(Direction::Send);
        assert_eq!(config.latency, Duration::from_millis(800));
        assert_eq!(config.passphrase, Some(Passphrase::new("correct horse").unwrap()));
        assert_eq!(config.key_size, Some(KeySize::Aes256));
        assert_eq!(config.stream_id.as_deref(), Some("#!::r=live,m=publish"));
        assert_eq!((config.bandwidth, config.reorder_tolerance), (Bandwidth::Fixed(1_000_000), 40));
        assert_eq!((config.refresh_packets, config.announce_packets), (3000, 1000));
        let early = url("srt://h:1?kmrefreshrate=100").config(Direction::Send);
        assert_eq!((early.refresh_packets, early.announce_packets), (100, 25));
        assert_eq!(url("srt://h:1?kmrefreshrate=0").config(Direction::Send).refresh_packets, 1 << 24);
        assert_eq!(url("srt://h:1?pbkeylen=0").config(Direction::Send).key_size, None);
    }

    #[test]
    fn mistakes_are_named_and_no_secret_is_printed() {
        for (text, word) in [
            ("srt://h", "port"),
            ("srt://:1?mode=caller", "host"),
            ("srt://h:1?mode=rendezvous", "mode=rendezvous"),
            ("srt://h:1?latency=fast", "latency=fast"),
            ("srt://h:1?latency=70000", "65535"),
            ("srt://h:1?pbkeylen=17", "16, 24 or 32"),
            ("srt://h:1?passphrase=short", "10 to 79"),
            ("srt://h:1?kmrefreshrate=1", "kmrefreshrate=1: expected 2 to 1073741824"),
            ("srt://h:1?kmrefreshrate=100&kmpreannounce=51", "at most 50"),
            ("srt://h:1?transtype=file", "live"),
            ("srt://h:1?tsbpd=0", "unknown key tsbpd"),
            ("srt://h:1?latency", "KEY=VALUE"),
            ("srt://h:1?streamid=%2", "%"),
            ("srt://h:1?passphrase=a-long-secret&mode=x", "mode=x"),
            ("srt://h:1?passphrase=a-long-&secret", "%26 for a &"),
        ] {
            let error = text.parse::<SrtUrl>().unwrap_err();
            assert!(error.contains(word) && !error.contains('\n'), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
        let printed = url("srt://h:1?passphrase=a-long-secret");
        assert!(!format!("{printed} {printed:?}").contains("secret"));
    }
}
