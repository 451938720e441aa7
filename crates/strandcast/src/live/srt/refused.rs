//! Peers that cannot connect, as text for people.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use strandcast_srt::Refusal;

/// Maximum number of texts that wait for a reader. Further texts are dropped.
const WAITING: usize = 4;
/// Number of peers and reasons that are remembered, so that a peer that tries again gives one text.
const REMEMBERED: usize = 16;

/// Peers whose connection failed, with the reason.
#[derive(Debug, Default)]
pub(super) struct Refused(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: Vec<String>,
    reported: VecDeque<(IpAddr, Refusal)>,
}

impl Refused {
    /// Adds a caller that this end refused.
    pub(super) fn caller(&self, peer: SocketAddr, refusal: Refusal) {
        self.add(peer, refusal, || format!("{peer} is refused: {refusal}"));
    }

    /// Adds a failed call to a listener.
    pub(super) fn call(&self, peer: SocketAddr, refusal: Refusal) {
        self.add(peer, refusal, || format!("{refusal}; calling again"));
    }

    fn add(&self, peer: SocketAddr, refusal: Refusal, text: impl FnOnce() -> String) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = (peer.ip(), refusal);
        if state.reported.contains(&new) {
            return;
        }
        if state.reported.len() == REMEMBERED {
            state.reported.pop_front();
        }
        state.reported.push_back(new);
        if state.waiting.len() < WAITING {
            state.waiting.push(text());
        }
    }

    /// Clears the reports, because a connection is established: a later failure is new.
    pub(super) fn connected(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).reported.clear();
    }

    /// Returns the texts that were added since the last call.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_tries_again_gives_one_text_until_a_connection_is_established() {
        let refused = Refused::default();
        let ports = [4001, 4002, 4003].map(|port| SocketAddr::from(([192, 0, 2, 7], port)));
        ports.iter().for_each(|peer| refused.caller(*peer, Refusal::BAD_SECRET));
        refused.caller(ports[0], Refusal::BACKLOG);
        let texts = refused.take();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert_eq!(texts[0], "192.0.2.7:4001 is refused: the passphrases differ (code 1010)");
        refused.caller(ports[1], Refusal::BAD_SECRET);
        assert!(refused.take().is_empty());
        refused.connected();
        refused.caller(ports[1], Refusal::BAD_SECRET);
        assert_eq!(refused.take().len(), 1);
    }

    #[test]
    fn a_flood_of_refused_peers_leaves_a_few_texts() {
        let refused = Refused::default();
        for n in 0..10_000_u32 {
            refused.caller((n.to_be_bytes(), 9000).into(), Refusal::BAD_SECRET);
        }
        let state = refused.0.lock().expect("no panic");
        assert_eq!((state.waiting.len(), state.reported.len()), (WAITING, REMEMBERED));
    }
}
