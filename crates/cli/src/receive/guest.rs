//! Senders: those at the door, and the one that is being received.

use super::player::Player;
use crate::print::said;
use crate::send::REFUSED;
use crate::show::{Happening, Outages};
use std::net::IpAddr;
use std::time::Duration;
use strandcast_media::pack::Message;
use strandcast_media::playout::Ended;
use strandcast_net::driver::{AssociationHandle, Snapshot};
use strandcast_proto::association::CloseReason;
use strandcast_proto::rx;
use strandcast_proto::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

/// How long a sender may take to send its first message.
const INTRODUCTION: Duration = Duration::from_secs(10);
/// What came before a SHUTDOWN is read by then.
const UNREAD: Duration = Duration::from_millis(500);
/// How often an association without a confirmed path is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A sender of which the first message is here.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) association: AssociationHandle,
    pub(super) first: rx::Message,
    pub(super) media: Message,
    pub(super) peer: String,
    /// Where its confirmed paths lead.
    pub(super) addresses: Vec<IpAddr>,
    /// When that was known.
    pub(super) came: Instant,
    /// It has sent everything and closed.
    pub(super) done: bool,
}

/// Waits for a new association's first media message, to know which run of which sender it is, and for a path that is
/// known to lead to it.
pub(super) async fn introduce(association: AssociationHandle, to: UnboundedSender<Candidate>) {
    let known = async {
        loop {
            let first = association.recv().await?;
            if let Ok(media) = Message::decode(first.payload.clone()) {
                return Some((first, media, confirmed(&association).await?));
            }
        }
    };
    match tokio::time::timeout(INTRODUCTION, known).await {
        Ok(Some((first, media, (peer, addresses)))) => {
            let came = association.now();
            // The command is ending if nobody waits.
            let _ = to.send(Candidate { association, first, media, peer, addresses, came, done: false });
        }
        Ok(None) => {}
        Err(_) => association.abort("no stream came"),
    }
}

/// The sender's name for people, and its addresses, once one is confirmed; `None` if its driver has ended.
async fn confirmed(association: &AssociationHandle) -> Option<(String, Vec<IpAddr>)> {
    loop {
        let seen = association.snapshot().await?;
        let addresses = addresses(&seen);
        if let (Some(path), false) = (seen.paths.first(), addresses.is_empty()) {
            return Some((path.tuple.remote.to_string(), addresses));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Where the confirmed paths of an association lead.
fn addresses(seen: &Snapshot) -> Vec<IpAddr> {
    let confirmed = seen.paths.iter().filter(|p| p.confirmed);
    confirmed.map(|p| p.tuple.remote.ip().to_canonical()).collect()
}

/// The sender that is being received.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) association: AssociationHandle,
    pub(super) peer: String,
    /// Which run of the sender.
    pub(super) session: u32,
    pub(super) player: Player,
    /// When a message last came.
    pub(super) heard: Instant,
    /// When anything last came.
    pub(super) seen: Instant,
    /// Packets of its association until then.
    packets: u64,
    /// Where its confirmed paths lead.
    pub(super) addresses: Vec<IpAddr>,
    /// The association has ended and everything in it is read.
    pub(super) left: bool,
    /// When the sender said that nothing more comes.
    pub(super) closing: Option<Instant>,
    /// The stream's end came.
    end_came: bool,
    /// Why the sender will not come back, if it said so.
    pub(super) farewell: Option<String>,
    /// The end of the stream was played.
    pub(super) ended: Option<Ended>,
    /// When its first message came.
    pub(super) begun: Instant,
    /// Associations after the first.
    pub(super) reconnects: u64,
    /// Times in which nothing came.
    pub(super) outages: Outages,
}

impl Guest {
    /// Lets a sender in; `latency` if the user asks for one, at most `bytes` of its media held.
    pub(super) fn admit(candidate: Candidate, latency: Option<Duration>, bytes: usize) -> Guest {
        let Candidate { association, first, media, peer, addresses, .. } = candidate;
        let (session, now) = (media.header.session, association.now());
        let mut player = Player::new(latency, &media, bytes);
        let end_came = player.push(first);
        Guest {
            association,
            peer,
            session,
            player,
            heard: now,
            seen: now,
            packets: 0,
            addresses,
            left: false,
            closing: None,
            end_came,
            farewell: None,
            ended: None,
            begun: now,
            reconnects: 0,
            outages: Outages::default(),
        }
    }

    /// The same run of the same sender, over a new association; how long nothing came from it.
    pub(super) fn again(&mut self, candidate: Candidate) -> Duration {
        self.outages.begin(self.seen);
        self.association.abort("replaced by a new association");
        self.association = candidate.association;
        self.peer = candidate.peer;
        (self.packets, self.addresses) = (0, candidate.addresses);
        (self.heard, self.seen) = (self.association.now(), self.association.now());
        let outage = self.outages.end(self.seen).unwrap_or_default();
        (self.left, self.closing, self.farewell) = (false, None, None);
        self.reconnects += 1;
        self.end_came |= self.player.push(candidate.first);
        outage
    }

    /// Takes in what came; nothing means the association's end.
    pub(super) async fn push(&mut self, messages: &mut Vec<rx::Message>) {
        if messages.is_empty() {
            self.left = true;
            if let CloseReason::PeerAborted(words) = self.association.closed().await {
                self.farewell = words.strip_prefix(REFUSED).map(said);
            }
        }
        for message in messages.drain(..) {
            self.heard = self.heard.max(message.arrived);
            self.seen = self.seen.max(message.arrived);
            self.end_came |= self.player.push(message);
        }
    }

    /// Whether the sender closes in the middle of its stream: somebody else has said so in its name.
    pub(super) fn closes_too_soon(&self, now: Instant) -> bool {
        !self.left && !self.end_came && self.closing.is_some_and(|at| now - at >= UNREAD)
    }

    /// Notes whether anything has come since the last look; what is to be told of it.
    pub(super) fn observe(&mut self, now: Instant, seen: &Snapshot) -> Option<Happening> {
        let packets = seen.paths.iter().map(|p| p.stats.packets_received).sum();
        if packets != self.packets && !self.left {
            (self.packets, self.seen) = (packets, now);
        }
        let addresses = addresses(seen);
        if !addresses.is_empty() {
            self.addresses = addresses;
        }
        self.outages.look(&self.peer, now, self.seen)
    }
}
