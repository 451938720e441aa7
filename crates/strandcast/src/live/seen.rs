//! A client's query about its addresses at the receiver, and the receiver's answer. The query and the answer are
//! messages inside an association, and do not affect media.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use strandcast_net::driver::{AssociationHandle, Snapshot};
use strandcast_proto::association::SendOptions;

/// Number of the transport's stream for both messages.
const STREAM: u16 = 1;
/// Beginnings of the messages: a version, and a word.
const QUESTION: &[u8] = b"\x01look\n";
const ANSWER: &[u8] = b"\x01seen\n";
/// Longest time for which a query may request that the receiver keep an association without a stream.
const LONGEST: Duration = Duration::from_secs(400);
/// Limits of an answer that a client accepts: its bytes, and its paths.
const MOST: usize = 4 << 10;
const MOST_PATHS: usize = 64;

/// A path as seen by the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenPath {
    /// Number of the path. Both ends use the same number for a path.
    pub(crate) number: u16,
    /// Address from which the path's packets come.
    pub(crate) remote: SocketAddr,
}

/// View that a receiver has of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Time of day at the receiver, since 1970.
    pub(crate) time: Duration,
    /// Paths by which packets arrived.
    pub(crate) paths: Vec<SeenPath>,
}

/// Sends a query to the receiver. The receiver then keeps the association for `stays` even without a stream.
pub(crate) fn ask(association: &AssociationHandle, stays: Duration) {
    let text = format!("{}\n", stays.min(LONGEST).as_secs());
    say(association, [QUESTION, text.as_bytes()].concat().into());
}

/// Returns the time for which a query requests to keep the association. Returns `None` for any other message.
pub(in crate::live) fn asked(message: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(message.strip_prefix(QUESTION)?).ok()?;
    let seconds = text.trim_end().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST))
}

/// Answers a question.
pub(in crate::live) async fn answer(association: &AssociationHandle) {
    let Some(snapshot) = association.snapshot().await else { return };
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    say(association, encode(&Seen { time, paths: paths(&snapshot) }));
}

fn say(association: &AssociationHandle, message: Bytes) {
    // If there is no room for this message, nothing is lost, because the client repeats its query.
    let _ = association.try_send(message, SendOptions { stream: STREAM, ..SendOptions::default() });
}

fn paths(snapshot: &Snapshot) -> Vec<SeenPath> {
    let seen = snapshot.paths.iter().filter_map(|path| {
        let remote = path.tuple.remote;
        Some(SeenPath {
            number: path.number?,
            remote: SocketAddr::new(remote.ip().to_canonical(), remote.port()),
        })
    });
    seen.take(MOST_PATHS).collect()
}

/// Encodes the message of a receiver. The message contains the time of day in milliseconds, and then one line per path.
fn encode(seen: &Seen) -> Bytes {
    let mut text = format!("{}\n", seen.time.as_millis());
    for path in &seen.paths {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}\t{}", path.number, path.remote);
    }
    [ANSWER, text.as_bytes()].concat().into()
}

/// Returns the content of an answer. Returns `None` for any other message and for a malformed one.
pub(crate) fn decode(message: &[u8]) -> Option<Seen> {
    let text = message.strip_prefix(ANSWER).filter(|text| text.len() <= MOST)?;
    let mut lines = std::str::from_utf8(text).ok()?.lines();
    let time = Duration::from_millis(lines.next()?.parse().ok()?);
    let path = |line: &str| {
        let (number, remote) = line.split_once('\t')?;
        Some(SeenPath { number: number.parse().ok()?, remote: remote.parse().ok()? })
    };
    let paths = lines.take(MOST_PATHS).map(path).collect::<Option<Vec<_>>>()?;
    Some(Seen { time, paths })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_written_and_nothing_else_is() {
        let path = |number, remote: &str| SeenPath { number, remote: remote.parse().unwrap() };
        let paths = vec![path(0, "198.51.100.7:4242"), path(0x8001, "[2001:db8::7]:1")];
        let seen = Seen { time: Duration::from_millis(1_795_905_600_123), paths };
        let said = encode(&seen);
        assert_eq!(decode(&said), Some(seen));
        for other in [
            &b""[..],
            b"\x01seen\n",
            b"\x01seen\n-1\n",
            b"\x01seen\n99999999999999999999999\n",
            b"\x01seen\n5\n1\thost:5\n",
            b"\x01seen\n5\n65536\t1.2.3.4:5\n",
            b"\x01seen\n5\nno path\n",
            b"\x01admitted",
            b"\x01seen\n\xff\n",
        ] {
            assert_eq!(decode(other), None, "{other:?}");
        }
        let many = [ANSWER, b"5\n", &b"1\t1.2.3.4:5\n".repeat(MOST)].concat();
        assert_eq!(decode(&many), None);
        let many = Seen {
            time: Duration::ZERO,
            paths: vec![path(65535, "[2001:db8:1234:5678:1234:5678:1234:5678]:65535"); 64],
        };
        assert_eq!(decode(&encode(&many)), Some(many), "the longest answer is taken");
    }

    #[test]
    fn a_question_names_a_time_that_is_bounded() {
        let question = |text: &str| asked(&[QUESTION, text.as_bytes()].concat());
        assert_eq!(question("40\n"), Some(Duration::from_secs(40)));
        assert_eq!(question("99999999\n"), Some(LONGEST));
        for other in ["", "\n", "-1\n", "a\n", "1 2\n"] {
            assert_eq!(question(other), None, "{other:?}");
        }
        assert_eq!((asked(b"\0"), asked(b"\x01links\n1")), (None, None));
    }
}
