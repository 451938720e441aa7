//! Senders: those at the door, and the one that is being received.

use super::player::Player;
use crate::send::REFUSED;
use std::time::Duration;
use strandcast_media::pack::Message;
use strandcast_media::playout::Ended;
use strandcast_net::driver::Association;
use strandcast_proto::association::CloseReason;
use strandcast_proto::rx;
use strandcast_proto::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

/// How long a sender may take to send its first message.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// A sender of which the first message is here.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) association: Association,
    pub(super) first: rx::Message,
    pub(super) media: Message,
    pub(super) peer: String,
}

/// Waits for a new association's first media message, to know which run of which sender it is.
pub(super) async fn introduce(association: Association, to: UnboundedSender<Candidate>) {
    let first = async {
        loop {
            let first = association.recv().await?;
            if let Ok(media) = Message::decode(first.payload.clone()) {
                return Some((first, media));
            }
        }
    };
    match tokio::time::timeout(INTRODUCTION, first).await {
        Ok(Some((first, media))) => {
            let peer = peer(&association).await;
            // The command is ending if nobody waits.
            let _ = to.send(Candidate { association, first, media, peer });
        }
        Ok(None) => {}
        Err(_) => association.abort("no stream came"),
    }
}

/// The sender's addresses.
async fn peer(association: &Association) -> String {
    let paths = association.snapshot().await.map_or_else(Vec::new, |s| s.paths);
    let address = paths.first().map(|p| p.tuple.remote.to_string());
    address.unwrap_or_else(|| "an unknown address".to_owned())
}

/// The sender that is being received.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) association: Association,
    pub(super) peer: String,
    /// Which run of the sender.
    pub(super) session: u32,
    pub(super) player: Player,
    /// When a message last came.
    pub(super) heard: Instant,
    /// The association has ended and everything in it is read.
    pub(super) left: bool,
    /// Why the sender will not come back, if it said so.
    pub(super) farewell: Option<String>,
    /// The end of the stream was played.
    pub(super) ended: Option<Ended>,
    /// When its first message came.
    pub(super) begun: Instant,
    /// Associations after the first.
    pub(super) reconnects: u64,
}

impl Guest {
    /// Lets a sender in; `latency` if the user asks for one.
    pub(super) fn admit(candidate: Candidate, latency: Option<Duration>) -> Guest {
        let Candidate { association, first, media, peer } = candidate;
        let (session, heard) = (media.header.session, first.arrived);
        let mut player = Player::new(latency, &media);
        player.push(first);
        Guest {
            association,
            peer,
            session,
            player,
            heard,
            left: false,
            farewell: None,
            ended: None,
            begun: heard,
            reconnects: 0,
        }
    }

    /// The same run of the same sender, over a new association.
    pub(super) fn again(&mut self, candidate: Candidate) {
        self.association.abort("replaced by a new association");
        self.association = candidate.association;
        self.peer = candidate.peer;
        self.heard = candidate.first.arrived;
        self.left = false;
        self.reconnects += 1;
        self.player.push(candidate.first);
    }

    /// Takes in what came; nothing means the association's end.
    pub(super) async fn push(&mut self, messages: &mut Vec<rx::Message>) {
        if messages.is_empty() {
            self.left = true;
            if let CloseReason::PeerAborted(words) = self.association.closed().await {
                self.farewell = words.strip_prefix(REFUSED).map(str::to_owned);
            }
        }
        for message in messages.drain(..) {
            self.heard = self.heard.max(message.arrived);
            self.player.push(message);
        }
    }
}
