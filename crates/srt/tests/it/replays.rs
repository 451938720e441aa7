//! Recorded handshakes, which somebody without the passphrase repeats.

use strandcast_proto::seeds::Seeds;
use strandcast_srt::{Direction, Endpoint, Refusal};

use crate::common::*;
use crate::vectors;

/// A listener accepts key material once. A caller whose answer was lost still gets it again.
#[test]
fn a_recorded_handshake_opens_no_second_connection() {
    for direction in [Direction::Send, Direction::Receive] {
        let config = strandcast_srt::Config { max_connections: 4, ..encrypted(direction) };
        let mut listener = Endpoint::listen(config, &Seeds::new(1, 0));
        let request = [(1, hs_message(LIVE, 120, 120)), (3, vectors::material(16))];
        let hs = Hs { extension: 3, ..Hs::conclusion(CALLER_ID, 0) };
        let mut ask = |ms, from, hs| {
            conclude(&mut listener, at(ms), from, hs, &request).iter().map(|p| word(p, 9)).collect::<Vec<_>>()
        };
        assert_eq!(ask(0, CALLER, hs), [CONCLUSION]);
        assert_eq!(ask(250, CALLER, hs), [CONCLUSION], "its answer was lost");
        let recorded = Hs { id: 99, ..hs };
        assert_eq!(ask(300, "198.51.100.7:4000", recorded), [Refusal::ROGUE.code()]);
        assert_eq!(ask(4000, CALLER, recorded), [Refusal::ROGUE.code()], "its first connection is silent");
        assert_eq!(listener.connections(), 1);
    }
}
