//! Message with the name of the stream that a sender requests. The message is the first one of each association.
//! Without a name, the sender sends an empty name. A receiver of many streams then need not wait for a name.

use bytes::Bytes;
use strandcast_net::driver::AssociationHandle;
use strandcast_proto::association::SendOptions;

use crate::pairing::Name;
use crate::text::quoted;

/// Number of the transport's stream for this message.
const STREAM: u16 = 1;
/// Beginning of the message: a version, and a word.
const KIND: &[u8] = b"\x01stream\n";
/// Greatest length in bytes of a message from which a receiver reads the name.
const MOST: usize = 128;

/// Requests the stream with this name from the receiver, or its only stream.
pub(in crate::live) fn ask(association: &AssociationHandle, name: Option<&Name>) {
    let options = SendOptions { stream: STREAM, ..SendOptions::default() };
    // An association without room for its first message has ended.
    let _ = association.try_send(encode(name), options);
}

fn encode(name: Option<&Name>) -> Bytes {
    [KIND, name.map_or("", Name::as_str).as_bytes()].concat().into()
}

/// Returns the name in a message that requests a stream, and `None` for any other message. The name may be empty, and
/// no stream need have this name.
pub(in crate::live) fn decode(message: &[u8]) -> Option<String> {
    let name = message.strip_prefix(KIND)?;
    let name = &name[..name.len().min(MOST)];
    Some(quoted(&String::from_utf8_lossy(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_said_and_no_other_message_is_one() {
        let van: Name = "van-1".parse().expect("a name");
        assert_eq!(decode(&encode(Some(&van))).as_deref(), Some("van-1"));
        assert_eq!(decode(&encode(None)).as_deref(), Some(""));
        for other in [&b""[..], b"\0", b"\x01admitted", b"\x01links\nvan", b"\x02stream\nvan", b"\x01stream"]
        {
            assert_eq!(decode(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_hostile_name_controls_no_terminal_and_has_a_bound() {
        for hostile in [&b"\x1b[2J"[..], b"a\nb", b"\xff\xfe", b"../../etc/passwd", &[b'x'; 9000]] {
            let name = decode(&[KIND, hostile].concat()).expect("it is of this kind");
            assert!(!name.contains(char::is_control) && name.chars().count() <= 2 * MOST, "{name:?}");
        }
    }
}
