//! Senders: the waiting ones, and the sender of the stream that is being received.

use std::net::IpAddr;
use std::time::Duration;

use strandcast_media::pack::{Malformed, Message, VERSION};
use strandcast_media::playout::Ended;
use strandcast_net::driver::{AssociationHandle, Snapshot};
use strandcast_proto::association::CloseReason;
use strandcast_proto::policy::PathState;
use strandcast_proto::rx;
use strandcast_proto::time::Instant;
use strandcast_seal::{Lost, PublicKey};
use tokio::sync::mpsc::UnboundedSender;

use super::player::Player;
use crate::live::asking;
use crate::live::idle::Idle;
use crate::live::links::{LinkReport, LinkState, PathTrouble, Tracker, decode};
use crate::live::seen;
use crate::live::stats::{CameLate, Outages, StreamEvent, StreamState};
use crate::live::words::{MEDIA, REFUSED};
use crate::text::quoted;

/// Number of the transport's stream for a sender's messages other than media.
const OTHER: u16 = 1;
/// Time limit for the first message of a sender, and for any message before its stream begins. Keep-alive messages
/// count, because an encoder may start long after `send`.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after its last packet for which a sender counts as present. A sender sends at least one packet per second.
const FRESH: Duration = Duration::from_millis(1500);
/// Time to read messages that arrived before a SHUTDOWN.
const UNREAD: Duration = Duration::from_millis(500);
/// Time after the first media in which a sender may still name its stream.
const NAME: Duration = Duration::from_millis(500);
/// Maximum number of messages that wait for the name of the stream.
const MOST_UNNAMED: usize = 64;
/// Polling interval for an association without a confirmed path.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A sender whose first message has arrived.
#[derive(Debug)]
pub(in crate::live) struct PendingSender {
    pub(in crate::live) association: AssociationHandle,
    /// The first messages of the stream.
    pub(super) first: Vec<rx::Message>,
    pub(super) media: Message,
    pub(in crate::live) peer: String,
    /// Name of the stream that the sender requests. Empty or `None` if the sender requests no particular stream.
    pub(in crate::live) asks: Option<String>,
    /// Key whose possession the sender has proven. `None` without a seal.
    pub(in crate::live) key: Option<PublicKey>,
    /// Remote addresses of the association's confirmed paths.
    pub(super) addresses: Vec<IpAddr>,
    /// Time at which the addresses were first known.
    pub(super) came: Instant,
    /// True if the sender has sent everything and closed.
    pub(super) done: bool,
}

/// A sender that arrived.
#[derive(Debug)]
pub(in crate::live) enum Arrival {
    /// A sender whose first message has arrived.
    Sender(Box<PendingSender>),
    /// A sender that uses another version and is therefore refused: its name and its version.
    Newer(String, u8),
}

/// Treatment of the name that a sender gives to its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::live) enum Naming {
    /// The receiver has one stream.
    Ignored,
    /// The name selects a stream. The sender's media therefore wait for the name.
    Chooses,
}

/// Messages of an association until its purpose is clear.
#[derive(Default)]
struct Opening {
    first: Vec<rx::Message>,
    media: Option<Message>,
    asks: Option<String>,
}

impl Opening {
    /// Processes a message of the association. If the message has another version, returns that version.
    fn take(&mut self, message: rx::Message) -> Option<u8> {
        if message.stream.0 == OTHER {
            self.asks = asking::decode(&message.payload).or(self.asks.take());
        }
        match Message::decode(message.payload.clone()) {
            Ok(media) => {
                self.media.get_or_insert(media);
                self.first.push(message);
                None
            }
            Err(Malformed::Version(version)) if message.stream.0 == MEDIA => Some(version),
            Err(_) => None,
        }
    }

    /// Returns whether the purpose of the association is clear.
    fn is_clear(&self, naming: Naming) -> bool {
        let named = naming == Naming::Ignored || self.asks.is_some() || self.first.len() >= MOST_UNNAMED;
        self.media.is_some() && named
    }
}

/// Waits for two things: the first media message of a new association, which identifies the sender's run, and a
/// confirmed path.
pub(in crate::live) async fn handshake(
    association: AssociationHandle,
    to: UnboundedSender<Arrival>,
    naming: Naming,
) {
    let mut patience = HANDSHAKE_TIMEOUT;
    let mut opening = Opening::default();
    while !opening.is_clear(naming) {
        match tokio::time::timeout(patience, association.recv()).await {
            Ok(Some(message)) if message.stream.0 == OTHER && seen::asked(&message.payload).is_some() => {
                patience = HANDSHAKE_TIMEOUT.max(seen::asked(&message.payload).unwrap_or_default());
                seen::answer(&association).await;
            }
            Ok(Some(message)) => {
                if let Some(version) = opening.take(message) {
                    return other_version(&association, version, &to).await;
                }
                patience = if opening.media.is_some() { NAME } else { patience };
            }
            Ok(None) => return,
            // A sender of an earlier version gives no name.
            Err(_) if opening.media.is_some() => break,
            Err(_) => return association.abort("no stream arrived"),
        }
    }
    let Opening { first, media: Some(media), asks } = opening else { return };
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, confirmed(&association)).await {
        Ok(Some((peer, addresses))) => {
            let (came, key) = (association.now(), association.peer_key().await);
            let sender =
                PendingSender { association, first, media, peer, asks, key, addresses, came, done: false };
            // A dropped receiver means that the command is ending.
            let _ = to.send(Arrival::Sender(Box::new(sender)));
        }
        Ok(None) => {}
        Err(_) => association.abort("no stream arrived"),
    }
}

/// Refuses a sender whose messages have another version. The sender and the receiver report the refusal.
async fn other_version(association: &AssociationHandle, version: u8, to: &UnboundedSender<Arrival>) {
    let seen = association.snapshot().await;
    let peer = seen.and_then(|seen| seen.paths.first().map(|path| path.tuple.remote.to_string()));
    let peer = peer.unwrap_or_else(|| "a sender".to_owned());
    // A dropped receiver means that the command is ending.
    let _ = to.send(Arrival::Newer(peer, version));
    association.abort(&format!(
        "{REFUSED}it reads messages of version {VERSION}, and these are of version {version}: update the older side"
    ));
}

/// Returns the sender's display name and addresses, once one address is confirmed. Returns `None` if the driver of the
/// association has ended.
async fn confirmed(association: &AssociationHandle) -> Option<(String, Vec<IpAddr>)> {
    loop {
        let seen = association.snapshot().await?;
        let addresses = addresses(&seen);
        if let (Some(path), false) = (seen.paths.first(), addresses.is_empty()) {
            return Some((path.tuple.remote.to_string(), addresses));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Remote addresses of the confirmed paths of an association.
fn addresses(seen: &Snapshot) -> Vec<IpAddr> {
    let confirmed = seen.paths.iter().filter(|p| p.confirmed);
    confirmed.map(|p| p.tuple.remote.ip().to_canonical()).collect()
}

/// The stream being received.
#[derive(Debug)]
pub(super) struct IncomingStream {
    pub(super) association: AssociationHandle,
    pub(super) peer: String,
    /// Key whose possession the sender has proven. `None` without a seal.
    pub(super) key: Option<PublicKey>,
    /// Number of the sender's run.
    pub(super) session: u32,
    pub(super) player: Player,
    /// Time of the last message.
    pub(super) last_received: Instant,
    /// Time of the last packet.
    pub(super) seen: Instant,
    /// Number of packets of the association at the last check, and time of that check.
    packets: (u64, Instant),
    /// End of the last time without packets.
    silence_over: Option<Instant>,
    /// Remote addresses of the association's confirmed paths.
    pub(super) addresses: Vec<IpAddr>,
    /// True if the association has ended and all its data are read.
    pub(super) left: bool,
    /// Time at which the sender started to close.
    pub(super) closing: Option<Instant>,
    /// Arrival time of the last media before the last check. Zero if no media have arrived.
    last_media: Instant,
    /// True if the end of the stream has arrived.
    end_came: bool,
    /// Reason why the sender will not return, if it gave one.
    pub(super) refusal: Option<String>,
    /// End of the stream, once played.
    pub(super) ended: Option<Ended>,
    /// Time of the first message.
    pub(super) begun: Instant,
    /// Number of associations after the first.
    pub(super) reconnects: u64,
    /// Outages of the sender.
    pub(super) outages: Outages,
    /// Time without media.
    idle: Idle,
    /// The sender's links, by its last message about them.
    links: Vec<LinkReport>,
    tracker: Tracker,
    /// Causes of messages that were late or lost, with their numbers.
    pub(super) came_late: CameLate,
}

impl IncomingStream {
    /// Starts to receive from a sender. `latency` replaces the sender's latency. At most `bytes` of media are buffered.
    pub(super) fn admit(sender: PendingSender, latency: Option<Duration>, bytes: usize) -> IncomingStream {
        let PendingSender { association, first, media, peer, key, addresses, .. } = sender;
        let (session, now) = (media.header.session, association.now());
        association.want();
        let mut player = Player::new(latency, &media, bytes);
        let end_came = first.into_iter().fold(false, |end, message| player.push(message) | end);
        IncomingStream {
            association,
            peer,
            key,
            session,
            player,
            last_received: now,
            seen: now,
            packets: (0, now),
            silence_over: None,
            addresses,
            left: false,
            closing: None,
            last_media: Instant::ZERO,
            end_came,
            refusal: None,
            ended: None,
            begun: now,
            reconnects: 0,
            outages: Outages::default(),
            idle: Idle::new(now),
            links: Vec::new(),
            tracker: Tracker::default(),
            came_late: CameLate::default(),
        }
    }

    /// Continues the same run of the same sender over a new association. Returns the duration of the outage.
    pub(super) fn resume(&mut self, sender: PendingSender) -> (Duration, Vec<StreamEvent>) {
        let mut events: Vec<StreamEvent> = self.outages.begin(&self.peer, self.seen).into_iter().collect();
        self.association.abort("replaced by a new association");
        self.association = sender.association;
        self.association.want();
        self.peer = sender.peer;
        let now = self.association.now();
        (self.packets, self.addresses, self.silence_over) = ((0, now), sender.addresses, None);
        (self.last_received, self.seen) = (now, now);
        let over = self.outages.resume(&self.peer, self.seen);
        let after = match &over {
            Some(StreamEvent::OutageOver { outage_s, .. }) => Duration::from_secs_f64(*outage_s),
            _ => Duration::ZERO,
        };
        events.extend(over);
        (self.left, self.closing, self.refusal) = (false, None, None);
        self.links.clear();
        self.tracker.restart();
        self.reconnects += 1;
        for message in sender.first {
            self.end_came |= self.player.push(message);
        }
        (after, events)
    }

    /// Processes received messages. An empty list of messages means that the association has ended.
    pub(super) async fn push(&mut self, messages: &mut Vec<rx::Message>) {
        if messages.is_empty() {
            self.left = true;
            self.refusal = match self.association.closed().await {
                CloseReason::PeerAborted(words) => words.strip_prefix(REFUSED).map(quoted),
                CloseReason::SealLost(why) if why == Lost::Revoked.to_string() => Some(why),
                _ => None,
            };
        }
        for message in messages.drain(..) {
            self.last_received = self.last_received.max(message.arrived);
            self.heard(message.arrived);
            if message.stream.0 == OTHER {
                self.links = decode(&message.payload).unwrap_or(std::mem::take(&mut self.links));
                continue;
            }
            self.last_media = self.last_media.max(message.arrived);
            self.end_came |= self.player.push(message);
        }
    }

    /// Returns true if the sender's packets still arrive, but the sender has sent no media for too long. Once media
    /// arrive again, also returns the duration of the time without media.
    pub(super) fn idles(&mut self, now: Instant) -> (bool, Option<Duration>) {
        let fresh = std::mem::take(&mut self.last_media);
        let over = if fresh > Instant::ZERO { self.idle.seen(fresh) } else { None };
        let comes = !self.left && !self.end_came && now - self.seen < FRESH;
        (comes && self.idle.begins(now), over)
    }

    /// Returns whether the sender closes in the middle of its stream. A SHUTDOWN at that time is forged.
    pub(super) fn closes_too_soon(&self, now: Instant) -> bool {
        !self.left && !self.end_came && self.closing.is_some_and(|at| now - at >= UNREAD)
    }

    /// Names the paths after the sender's links, and gives them the states in the sender's last message. A link that
    /// the sender reports as silent is therefore not shown as active. Returns the links that changed.
    pub(super) fn name_paths(&mut self, now: Instant, seen: &mut Snapshot) -> Vec<(String, PathTrouble)> {
        for path in &mut seen.paths {
            let link =
                self.links.iter().find(|link| path.number.is_some_and(|number| link.paths.contains(&number)));
            if let Some(link) = link {
                path.name.clone_from(&link.name);
                match link.state {
                    LinkState::Silent => path.view.state = PathState::PotentiallyFailed,
                    LinkState::Failed | LinkState::Gone => path.view.state = PathState::Inactive,
                    _ => {}
                }
            }
            if self.outages.goes_on() && path.view.state == PathState::Active {
                path.view.state = PathState::PotentiallyFailed;
            }
        }
        let changes = self.tracker.update(now, &self.links);
        self.attribute(now, changes.iter().any(|(_, change)| change.is_loss()));
        changes.into_iter().map(|(name, change)| (format!("{}: {name}", self.peer), change)).collect()
    }

    /// Attributes messages that were late or lost to a cause. `link_lost` is true if the sender reports that another
    /// link was lost.
    pub(super) fn attribute(&mut self, now: Instant, link_lost: bool) {
        let stats = self.player.stats();
        self.came_late.update(now, self.player.latency, stats.late + stats.lost, self.seen, link_lost);
    }

    /// Checks for packets since the last poll. Returns an event to report.
    pub(super) fn observe(&mut self, now: Instant, seen: &Snapshot) -> Option<StreamEvent> {
        let packets = seen.paths.iter().map(|p| p.stats.packets_received).sum();
        let (before, looked) = std::mem::replace(&mut self.packets, (packets, now));
        // Arrival times of messages are exact. Other packets arrived at some time between two checks.
        if packets != before && self.seen <= looked && !self.left {
            self.heard(now);
        }
        let addresses = addresses(seen);
        if !addresses.is_empty() {
            self.addresses = addresses;
        }
        self.silent(now)
    }

    /// Records that a packet arrived.
    fn heard(&mut self, at: Instant) {
        if at - self.seen >= FRESH {
            self.silence_over = Some(at);
        }
        self.seen = self.seen.max(at);
    }

    /// Returns the event of an outage that begins or ends, even if there is no association.
    pub(super) fn silent(&mut self, now: Instant) -> Option<StreamEvent> {
        // After the end of the stream, the receiver plays its buffer. A sender that has given the reason for its end is
        // not expected to return.
        let over = self.end_came || self.refusal.is_some();
        if over && !self.outages.goes_on() {
            None
        } else {
            self.outages.update(&self.peer, now, self.seen, self.silence_over)
        }
    }

    /// Returns the state of the stream.
    pub(super) fn state(&self) -> StreamState {
        if self.outages.goes_on() {
            StreamState::Outage
        } else if self.idle.goes_on() {
            StreamState::NoInput
        } else {
            StreamState::Streaming
        }
    }
}
