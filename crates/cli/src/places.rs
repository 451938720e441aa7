//! Parses `[LISTEN] OUTPUT...` of `receive`.

use std::ffi::{OsStr, OsString};
use std::net::IpAddr;

use strandcast_net::interface::{Interface, interfaces};

use crate::media_url::{Listen, MediaUrl};

/// Maximum number of outputs. Each output has a separate queue.
const MOST: usize = 8;
/// Endings of file names that host names do not have.
const ENDINGS: [&str; 9] = ["ts", "m2ts", "mts", "mpg", "mpeg", "m2t", "tsv", "trp", "bin"];

/// Address at which a receiver listens, and its outputs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) listen: Option<Listen>,
    pub(crate) outputs: Vec<MediaUrl>,
}

/// Separates the address to listen on from the outputs.
///
/// # Errors
/// Returns a line if an address is in the place of an output, if an output is in the place of an address, or if one of
/// them is wrong.
pub(crate) fn places(words: &[OsString]) -> Result<Places, String> {
    among(words, &interfaces().unwrap_or_default())
}

fn among(words: &[OsString], interfaces: &[Interface]) -> Result<Places, String> {
    let Some((first, rest)) = words.split_first() else { return Err("an OUTPUT is missing".to_owned()) };
    let name = first.to_string_lossy();
    if let Some(at) = rest.iter().find(|word| is_address(word)) {
        let at = at.to_string_lossy();
        return Err(match is_address(first) {
            true => format!("{at} is an address, not an output: give one LISTEN, and then the outputs"),
            false => format!("{at} is a port, not an output: LISTEN comes first: receive {at} {name}"),
        });
    }
    let leads = !rest.is_empty() && !is_output(first);
    if let Some(interface) = interfaces.iter().find(|interface| interface.name == name) {
        let of = interface.addresses.first().map_or_else(|| "its address".to_owned(), |a| shown(a.ip));
        let to = rest.first().map_or_else(|| "OUTPUT".into(), |word| word.to_string_lossy());
        return Err(format!("{name} is an interface: give its address, as in receive {of}:9899 {to}"));
    }
    let (listen, outputs) = if is_address(first) && rest.is_empty() {
        let kind = if is_port(&name) { "a port" } else { "an address" };
        return Err(format!("{name} is {kind}, not an output: receive {name} OUTPUT, or a file as ./{name}"));
    } else if is_address(first) || leads {
        (Some(name.parse::<Listen>()?), rest)
    } else {
        (None, words)
    };
    if outputs.len() > MOST {
        return Err(format!("{} outputs: {MOST} at most", outputs.len()));
    }
    let outputs = outputs.iter().map(|word| MediaUrl::of(word)).collect::<Result<Vec<_>, _>>()?;
    for (n, output) in outputs.iter().enumerate() {
        if outputs[..n].contains(output) {
            return Err(format!("{output} is given twice"));
        }
    }
    Ok(Places { listen, outputs })
}

fn shown(ip: IpAddr) -> String {
    if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() }
}

fn is_port(text: &str) -> bool {
    let number = text.strip_prefix(':').unwrap_or(text);
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether a word can only be an address to listen on.
fn is_address(word: &OsStr) -> bool {
    let Some(text) = word.to_str() else { return false };
    if text.contains('/') {
        return false;
    }
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    is_port(text) || bare.parse::<IpAddr>().is_ok() || text.rsplit_once(':').is_some_and(|(_, end)| port(end))
}

/// Returns whether a word is more likely an output than the name of a host.
fn is_output(word: &OsStr) -> bool {
    let Some(text) = word.to_str() else { return true };
    let ending = text.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    text == "-"
        || text.contains(['/', '%'])
        || ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
        || std::path::Path::new(text).exists()
}

#[cfg(test)]
mod tests {
    use strandcast_net::interface::{Hardware, InterfaceAddress};

    use super::*;

    fn of(words: &str) -> Result<(Option<Listen>, Vec<String>), String> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let address = InterfaceAddress { ip: "192.0.2.7".parse().unwrap(), prefix_len: 24 };
        let (up, loopback, addresses) = (true, false, vec![address]);
        let eth0 = Interface {
            name: "eth0".into(),
            index: Some(2),
            up,
            loopback,
            addresses,
            hardware: Hardware::default(),
        };
        let places = among(&words, &[eth0])?;
        Ok((places.listen, places.outputs.iter().map(ToString::to_string).collect()))
    }

    fn listen(host: Option<&str>, port: Option<u16>) -> Option<Listen> {
        Some(Listen { host: host.map(str::to_owned), port })
    }

    #[test]
    fn one_address_and_any_number_of_outputs() {
        let outputs = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (words, expected) in [
            (":9899 rec.ts", (listen(None, Some(9899)), outputs(&["rec.ts"]))),
            ("9899 -", (listen(None, Some(9899)), outputs(&["-"]))),
            ("rec.ts", (None, outputs(&["rec.ts"]))),
            ("rec.ts udp://127.0.0.1:1234", (None, outputs(&["rec.ts", "udp://127.0.0.1:1234"]))),
            ("[::1]:7 a.ts b.ts", (listen(Some("::1"), Some(7)), outputs(&["a.ts", "b.ts"]))),
            ("localhost a.ts", (listen(Some("localhost"), None), outputs(&["a.ts"]))),
            ("192.0.2.1 %H.ts", (listen(Some("192.0.2.1"), None), outputs(&["%H.ts"]))),
            ("studio.example:7 ./9899", (listen(Some("studio.example"), Some(7)), outputs(&["./9899"]))),
        ] {
            assert_eq!(of(words), Ok(expected), "{words}");
        }
    }

    #[test]
    fn an_address_is_not_taken_for_an_output() {
        for (words, line) in [
            (":9899", ":9899 is a port, not an output: receive :9899 OUTPUT, or a file as ./:9899"),
            ("9899", "9899 is a port, not an output: receive 9899 OUTPUT, or a file as ./9899"),
            ("0.0.0.0:9899", "0.0.0.0:9899 is an address, not an output: receive 0.0.0.0:9899 OUTPUT"),
            ("::1", "::1 is an address, not an output"),
            ("rec.ts :9899", ":9899 is a port, not an output: LISTEN comes first: receive :9899 rec.ts"),
            ("rec.ts 192.0.2.1:9", "LISTEN comes first: receive 192.0.2.1:9 rec.ts"),
            (":1 :2", "one LISTEN, and then the outputs"),
            ("eth0 x.ts", "eth0 is an interface: give its address, as in receive 192.0.2.7:9899 x.ts"),
            ("eth0", "eth0 is an interface: give its address, as in receive 192.0.2.7:9899 OUTPUT"),
            (":9899 udp://127.0.0.1", "port"),
            (":9899 a.ts a.ts", "a.ts is given twice"),
            (":0 a.ts", "0 is not a port"),
            (":9 a b c d e f g h i", "9 outputs: 8 at most"),
        ] {
            let said = of(words).expect_err(words);
            assert!(said.contains(line), "{words}: {said}");
        }
    }
}
