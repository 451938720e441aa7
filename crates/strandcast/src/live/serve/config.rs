//! Configuration of a server of many streams.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::api::ApiConfig;
use super::file::{File, Stream, Text};
use super::place::Place;
use crate::UDP_PORT;
use crate::error::{Error, why};
use crate::live::slate::Slate;
use crate::memory::Memory;
use crate::pairing::{Name, Senders, is_key};
use crate::transport::anywhere;

/// Default memory of a server, in MiB.
const MEMORY_MIB: u32 = 512;
/// Minimum memory of each stream in MiB.
const LEAST_MIB: u32 = 16;
/// Default and largest number of streams.
const STREAMS: u16 = 16;
const MOST_STREAMS: u16 = 256;
/// Maximum number of outputs of a stream, each of which has a separate queue.
const MOST_OUTPUTS: usize = 8;
/// Maximum number of senders that may be named for a stream.
const MOST_SENDERS: usize = 64;
/// Limits of a latency, in milliseconds.
const LATENCY_MS: std::ops::RangeInclusive<u32> = 20..=60_000;
/// Default, least and greatest silence in seconds. After this silence, the server gives up a sender.
const SILENCE_S: f64 = 65.0;
const LEAST_SILENCE_S: f64 = 1.0;
const MOST_SILENCE_S: f64 = 3600.0;
/// Limits of the time without media after which a slate plays, in milliseconds.
const SLATE_AFTER_MS: std::ops::RangeInclusive<u32> = 200..=60_000;
/// Largest sum of all clips of a server, in bytes.
const CLIPS: u64 = 64 << 20;
/// Longest file of a configuration, in bytes.
const LONGEST: u64 = 1 << 20;

/// Configuration of a [`Server`](super::Server).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Addresses to listen on.
    pub listen: Vec<SocketAddr>,
    /// File of the server's identity. `None`: the identity of the user.
    pub key: Option<PathBuf>,
    /// Scheme of the data that the server sends; `None` for the default scheme.
    pub scheme: Option<String>,
    /// Memory limit of the whole process.
    pub memory: Memory,
    /// Number of streams among which the memory is divided.
    pub max_streams: u16,
    /// Configuration of an API, if there is one.
    pub api: Option<ApiConfig>,
    /// Streams by name.
    pub streams: BTreeMap<String, StreamConfig>,
}

/// Configuration of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamConfig {
    /// Name of the stream.
    pub name: Name,
    /// Senders that may send the stream. Each is a name in the server's store, the short form of a key, or a key.
    pub senders: Vec<String>,
    /// Time from sending to playing. `None`: the server uses the latency that the sender requests.
    pub latency: Option<Duration>,
    /// Silence after which the sender is given up.
    pub silence: Duration,
    /// Slate of the outputs except recordings. `None` if the outputs receive no data while no sender plays.
    pub slate: Option<Slate>,
    /// Outputs of the stream.
    pub outputs: Vec<Place>,
}

impl StreamConfig {
    /// Returns whether the other configuration differs only by additional senders. The stream can then continue with
    /// it.
    pub(super) fn only_admits_more(&self, other: &StreamConfig) -> bool {
        let same = StreamConfig { senders: self.senders.clone(), ..other.clone() };
        *self == same && self.senders.iter().all(|sender| other.senders.contains(sender))
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with a line that contains the file, the number of the line, the key and the remedy.
    pub fn read(path: &Path) -> Result<Config, Error> {
        let name = path.display();
        let cannot = |error| Error::Usage(format!("cannot read {name}: {}", why(&error)));
        let found = std::fs::metadata(path).map_err(cannot)?;
        if found.is_dir() {
            return Err(Error::Usage(format!("{name} is a folder: name a file in it")));
        }
        if found.len() > LONGEST {
            return Err(Error::Usage(format!("{name} has {} bytes: {LONGEST} at most", found.len())));
        }
        let text = std::fs::read(path).map_err(cannot)?;
        let text = String::from_utf8(text).map_err(|_| Error::Usage(format!("{name} is not UTF-8 text")))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Config::parse(&text, &name.to_string(), folder)
    }

    /// Parses a text. `name` is the name of the text in errors. Relative paths begin at `folder`.
    ///
    /// # Errors
    /// The errors of [`Config::read`].
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Config, Error> {
        let text = Text { name, text };
        let file = text.read()?;
        let max_streams = count_of_streams(text, &file)?;
        let config = Config {
            listen: listen(text, &file)?,
            key: file.key.as_ref().map(|key| folder.join(key.get_ref())),
            scheme: file.scheme.as_ref().map(|scheme| scheme.get_ref().clone()),
            memory: memory(text, &file, max_streams)?,
            max_streams,
            api: api(text, &file, folder)?,
            streams: streams(text, &file, folder)?,
        };
        Ok(config)
    }

    /// Refuses a configuration that a running server cannot apply.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with a line.
    pub(super) fn refuse_fixed(&self, other: &Config) -> Result<(), Error> {
        let fixed = [
            ("listen", self.listen == other.listen),
            ("key", self.key == other.key),
            ("scheme", self.scheme == other.scheme),
            ("memory_mib", self.memory == other.memory),
            ("max_streams", self.max_streams == other.max_streams),
            ("api", self.api == other.api),
        ];
        match fixed.iter().find(|(_, same)| !same) {
            Some((key, _)) => Err(Error::Usage(format!(
                "{key} cannot change while the server runs: nothing has changed; restart the server for it"
            ))),
            None => Ok(()),
        }
    }

    /// Returns senders that a store does not contain yet. Each has the name of a stream that names the sender.
    pub fn unknown_senders<'a>(&'a self, store: &Senders) -> Vec<(&'a str, &'a str)> {
        let mut unknown = Vec::new();
        for (stream, config) in &self.streams {
            let names = config.senders.iter().map(String::as_str);
            unknown.extend(names.filter(|who| store.find(who).is_none()).map(|who| (stream.as_str(), who)));
        }
        unknown
    }
}

fn api(text: Text<'_>, file: &File, folder: &Path) -> Result<Option<ApiConfig>, Error> {
    let api = file.api.as_ref().map(|api| api.get_ref().read(text, api.span().start, folder));
    api.transpose()
}

fn listen(text: Text<'_>, file: &File) -> Result<Vec<SocketAddr>, Error> {
    let Some(listen) = &file.listen else { return Ok(vec![anywhere(UDP_PORT)]) };
    let address = |place: &toml::Spanned<String>| {
        let shown = place.get_ref();
        let why = format!(
            "{shown} is not an address with a port: write \"[::]:9899\", or \"192.0.2.1:9899\" for one address"
        );
        shown.parse().map_err(|_| text.wrong(place.span().start, &why))
    };
    let addresses = listen.iter().map(address).collect::<Result<Vec<SocketAddr>, _>>()?;
    match addresses.is_empty() {
        true => Err(Error::Usage(format!("{}: listen is empty: leave it out or name an address", text.name))),
        false => Ok(addresses),
    }
}

fn count_of_streams(text: Text<'_>, file: &File) -> Result<u16, Error> {
    let most = file.max_streams.as_ref().map_or(STREAMS, |most| *most.get_ref());
    if let Some(given) = &file.max_streams
        && !(1..=MOST_STREAMS).contains(&most)
    {
        let why = format!("{most} is not a number of streams from 1 to {MOST_STREAMS}");
        return Err(text.wrong(given.span().start, &why));
    }
    match file.streams.keys().nth(most.into()) {
        Some(name) => {
            let (all, at) = (file.streams.len(), name.span().start);
            Err(text.wrong(at, &format!("{all} streams: max_streams is {most}; set max_streams = {all}")))
        }
        None => Ok(most),
    }
}

fn memory(text: Text<'_>, file: &File, max_streams: u16) -> Result<Memory, Error> {
    let mib = file.memory_mib.as_ref().map_or(MEMORY_MIB, |mib| *mib.get_ref());
    let least = (u32::from(max_streams) * LEAST_MIB).max(32);
    let at = file.memory_mib.as_ref().map(toml::Spanned::span);
    let at = at.or(file.max_streams.as_ref().map(toml::Spanned::span)).map_or(0, |span| span.start);
    if mib < least {
        let why =
            format!("{mib} MiB are too little for max_streams = {max_streams}: set memory_mib = {least}");
        return Err(text.wrong(at, &why));
    }
    let bytes = usize::try_from(u64::from(mib) << 20).ok().and_then(Memory::new);
    bytes.ok_or_else(|| text.wrong(at, &format!("{mib} MiB are more than this machine can address")))
}

fn streams(text: Text<'_>, file: &File, folder: &Path) -> Result<BTreeMap<String, StreamConfig>, Error> {
    if file.streams.is_empty() {
        let why = "it has no stream: add [streams.NAME] with senders and outputs";
        return Err(Error::Usage(format!("{}: {why}", text.name)));
    }
    let none = Stream::default();
    let defaults = file.defaults.as_ref().unwrap_or(&none);
    let mut streams = BTreeMap::new();
    let mut taken = Taken::default();
    for (key, own) in &file.streams {
        let name: Name =
            match key.get_ref().strip_prefix('@').map_or(key.get_ref().parse(), |_| Err("a name has no @")) {
                Ok(name) => name,
                Err(why) => return Err(text.wrong(key.span().start, &format!("{:?}: {why}", key.get_ref()))),
            };
        let reader = Reader { text, name: &name, at: key.span().start, own: own.get_ref(), defaults };
        let config = reader.read(folder, &mut taken)?;
        streams.insert(name.as_str().to_owned(), config);
    }
    Ok(streams)
}

/// Resources of the streams that were already read.
#[derive(Default)]
struct Taken {
    /// Names of streams by the places of their outputs.
    claims: BTreeMap<String, String>,
    /// Clips by their paths. Streams with the same clip share its memory.
    clips: BTreeMap<PathBuf, Slate>,
}

/// Reader of one stream.
struct Reader<'a> {
    text: Text<'a>,
    name: &'a Name,
    /// Byte offset at which the stream begins.
    at: usize,
    own: &'a Stream,
    defaults: &'a Stream,
}

impl Reader<'_> {
    fn read(&self, folder: &Path, taken: &mut Taken) -> Result<StreamConfig, Error> {
        Ok(StreamConfig {
            name: self.name.clone(),
            senders: self.senders()?,
            latency: self.latency()?,
            silence: self.silence()?,
            slate: self.slate(folder, &mut taken.clips)?,
            outputs: self.outputs(folder, &mut taken.claims)?,
        })
    }

    fn senders(&self) -> Result<Vec<String>, Error> {
        let given = self.own.senders.as_ref().or(self.defaults.senders.as_ref());
        let Some(given) = given.filter(|given| !given.get_ref().is_empty()) else {
            let why = format!(
                "stream {} has no senders: write senders = [\"NAME\"], a name of strandcast key list or a key",
                self.name.as_str()
            );
            return Err(self.text.wrong(self.at, &why));
        };
        if given.get_ref().len() > MOST_SENDERS {
            let why = format!("{} senders: {MOST_SENDERS} at most", given.get_ref().len());
            return Err(self.text.wrong(given.span().start, &why));
        }
        let mut senders: Vec<String> = Vec::new();
        for who in given.get_ref() {
            let text = who.get_ref();
            let wrong = |why: &str| self.text.wrong(who.span().start, &format!("{text:?}: {why}"));
            match text.starts_with("sck") {
                true => is_key(text).map_err(|why| wrong(&why))?,
                false => drop(text.parse::<Name>().map_err(wrong)?),
            }
            if senders.contains(text) {
                return Err(wrong("it is given twice"));
            }
            senders.push(text.clone());
        }
        Ok(senders)
    }

    fn latency(&self) -> Result<Option<Duration>, Error> {
        let Some(given) = self.own.latency_ms.as_ref().or(self.defaults.latency_ms.as_ref()) else {
            return Ok(None);
        };
        let ms = *given.get_ref();
        if !LATENCY_MS.contains(&ms) {
            let (least, most) = (LATENCY_MS.start(), LATENCY_MS.end());
            let why = format!("{ms} is not a latency from {least} to {most} milliseconds");
            return Err(self.text.wrong(given.span().start, &why));
        }
        Ok(Some(Duration::from_millis(ms.into())))
    }

    fn silence(&self) -> Result<Duration, Error> {
        let Some(given) = self.own.silence_s.as_ref().or(self.defaults.silence_s.as_ref()) else {
            return Ok(Duration::from_secs_f64(SILENCE_S));
        };
        let seconds = *given.get_ref();
        if !(LEAST_SILENCE_S..=MOST_SILENCE_S).contains(&seconds) {
            let why =
                format!("{seconds} is not a silence from {LEAST_SILENCE_S} to {MOST_SILENCE_S} seconds");
            return Err(self.text.wrong(given.span().start, &why));
        }
        Ok(Duration::from_secs_f64(seconds))
    }

    fn slate(&self, folder: &Path, clips: &mut BTreeMap<PathBuf, Slate>) -> Result<Option<Slate>, Error> {
        let after = self.slate_after()?;
        let Some(given) = self.own.slate.as_ref().or(self.defaults.slate.as_ref()) else {
            return match &self.own.slate_after_ms {
                Some(given) => {
                    let why = "the stream has no slate: add slate = \"null\", or the path of a clip";
                    Err(self.text.wrong(given.span().start, why))
                }
                None => Ok(None),
            };
        };
        let wrong = |why: &str| self.text.wrong(given.span().start, why);
        let name = given.get_ref().replace("{stream}", self.name.as_str());
        if name.is_empty() {
            return Err(wrong("a slate is \"null\", or the path of a clip"));
        }
        let mut slate = match name.as_str() {
            "null" => Slate::null(),
            name => {
                let path = folder.join(name);
                let known = clips.get(&path).cloned();
                let slate = known.map_or_else(|| Slate::read(&path), Ok);
                let slate = slate.map_err(|error| wrong(&error.to_string()))?;
                clips.insert(path, slate.clone());
                slate
            }
        };
        let all: u64 = clips.values().map(Slate::bytes).sum();
        if all > CLIPS {
            return Err(wrong(&format!("the clips of all streams have {all} bytes: {CLIPS} at most")));
        }
        slate.after = after;
        Ok(Some(slate))
    }

    fn slate_after(&self) -> Result<Duration, Error> {
        let Some(given) = self.own.slate_after_ms.as_ref().or(self.defaults.slate_after_ms.as_ref()) else {
            return Ok(Slate::AFTER);
        };
        let ms = *given.get_ref();
        if !SLATE_AFTER_MS.contains(&ms) {
            let (least, most) = (SLATE_AFTER_MS.start(), SLATE_AFTER_MS.end());
            let why = format!("{ms} is not a time from {least} to {most} milliseconds");
            return Err(self.text.wrong(given.span().start, &why));
        }
        Ok(Duration::from_millis(ms.into()))
    }

    fn outputs(&self, folder: &Path, claims: &mut BTreeMap<String, String>) -> Result<Vec<Place>, Error> {
        let given = self.own.outputs.as_ref().or(self.defaults.outputs.as_ref());
        let Some(given) = given.filter(|given| !given.get_ref().is_empty()) else {
            let why = format!(
                "stream {} has no outputs: write outputs = [\"srt://:7001\", \"/srv/{{stream}}-{{time}}.ts\"]",
                self.name.as_str()
            );
            return Err(self.text.wrong(self.at, &why));
        };
        if given.get_ref().len() > MOST_OUTPUTS {
            let why = format!("{} outputs: {MOST_OUTPUTS} at most", given.get_ref().len());
            return Err(self.text.wrong(given.span().start, &why));
        }
        let mut outputs = Vec::new();
        for output in given.get_ref() {
            let wrong = |why: &str| self.text.wrong(output.span().start, why);
            let place = Place::of(output.get_ref(), self.name, folder).map_err(|why| wrong(&why))?;
            if let Some(other) = claims.insert(place.claim(), self.name.as_str().to_owned()) {
                let both =
                    if other == self.name.as_str() { "twice".to_owned() } else { format!("also by {other}") };
                return Err(wrong(&format!("{place} is used {both}: each output needs a place of its own")));
            }
            outputs.push(place);
        }
        Ok(outputs)
    }
}

#[cfg(test)]
mod tests;
