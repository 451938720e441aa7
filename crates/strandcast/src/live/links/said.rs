//! Message of a sender about its links, for the receiver.

use std::fmt::Write as _;

use bytes::Bytes;

use super::track::{LinkReport, LinkState};
use crate::text::quoted;

/// Beginning of the message: a version, and a word.
const KIND: &[u8] = b"\x01links\n";
/// Limits of a message that a receiver accepts: number of bytes, number of links, and length of a name in bytes.
const MOST: usize = 8 << 10;
const MOST_LINKS: usize = 40;
const MOST_NAME: usize = 64;

/// Encodes the message of a sender. Each link is one line with its number, its state, the numbers of its paths, its
/// name and a reason.
pub(in crate::live) fn encode(links: &[LinkReport]) -> Bytes {
    let mut text = String::new();
    for link in links.iter().take(MOST_LINKS) {
        let id = link.id.map_or("-".to_owned(), |id| id.to_string());
        let paths: Vec<String> = link.paths.iter().map(ToString::to_string).collect();
        let clean = |words: &str| words.replace(['\t', '\n'], " ");
        let (state, name, why) = (link.state.name(), clean(&link.name), clean(&link.why));
        let line = format!("{id}\t{state}\t{}\t{name}\t{why}", paths.join(","));
        if text.len() + line.len() < MOST - KIND.len() {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{line}");
        }
    }
    [KIND, text.as_bytes()].concat().into()
}

/// Returns the links in a message about links. Returns `None` for any other message and for a malformed one.
pub(in crate::live) fn decode(message: &[u8]) -> Option<Vec<LinkReport>> {
    let text = message.strip_prefix(KIND).filter(|text| text.len() <= MOST)?;
    let lines = std::str::from_utf8(text).ok()?.lines().take(MOST_LINKS);
    lines.map(link).collect()
}

fn link(line: &str) -> Option<LinkReport> {
    let mut fields = line.splitn(5, '\t');
    let mut next = || fields.next();
    let (id, state, paths, name, why) = (next()?, next()?, next()?, next()?, next()?);
    let id = if id == "-" { None } else { Some(id.parse().ok()?) };
    let paths: Result<Vec<u16>, _> =
        paths.split(',').filter(|number| !number.is_empty()).map(str::parse).collect();
    let name = Some(name).filter(|name| !name.is_empty() && name.len() <= MOST_NAME)?;
    let (name, why) = (quoted(name), quoted(why));
    Some(LinkReport { id, name, state: LinkState::named(state)?, why, paths: paths.ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_read_and_nothing_else_is() {
        let link = |name: &str, id, state, why: &str, paths: &[u16]| LinkReport {
            id,
            name: name.into(),
            state,
            why: why.into(),
            paths: paths.to_vec(),
        };
        let links = vec![
            link("wwan0", Some(3), LinkState::Active, "", &[0, 0x8001]),
            link("wlan0", None, LinkState::LeftOut, "no route: none", &[]),
        ];
        let said = encode(&links);
        assert_eq!(decode(&said), Some(links));
        for other in
            [&b""[..], b"\0", b"\x01admitted", b"\x02links\n", b"\x01links\nwwan0", b"\x01links\n\xff\t"]
        {
            assert_eq!(decode(other), None, "{other:?}");
        }
        for end in KIND.len() + 1..said.len() - 1 {
            // A name or reason that is cut short is still read. A shorter message never has more links than the whole
            // one.
            assert!(decode(&said[..end]).is_none_or(|links| links.len() <= 2));
        }
        let many = vec![link(&"x".repeat(60), Some(1), LinkState::Mute, &"y".repeat(900), &[7; 16]); 100];
        let said = encode(&many);
        assert!(said.len() <= MOST && decode(&said).is_some_and(|links| links.len() > 5));
        let escapes = [KIND, b"1\tactive\t\t\x1b[2Jwwan0\t\x1b[31mwhy\r\n"].concat();
        let read = decode(&escapes).expect("a link");
        assert!(
            read.iter()
                .all(|link| ![&link.name, &link.why].iter().any(|text| text.contains(char::is_control)))
        );
        assert_eq!(decode(&[KIND, &b"1\tactive\t\tname\t\n".repeat(MOST)].concat()), None);
    }
}
