//! A receiver with a slate: players have one stream that continues, and recordings have the senders' alone.

use std::io;
use std::path::Path;
use std::time::Duration;

use strandcast::live::output::{Batch, Output};
use strandcast::live::{Event, Listening, Receiver, ReceiverConfig, Retry, Sender, SenderConfig, Slate};
use strandcast::pairing::Destination;
use strandcast_media::ts::{ContinuityChecker, NULL_PID, PACKET_LEN, Packet, Pcr};

use crate::common::{Collect, Memory, clip, scheme, until};

/// Long enough for a machine that runs many tests at once.
const LATENCY: Duration = Duration::from_secs(2);

/// An output that is watched, or a recording.
struct Place {
    to: Collect,
    watched: bool,
}

impl Output for Place {
    fn name(&self) -> String {
        if self.watched { "player".to_owned() } else { "recording".to_owned() }
    }

    fn takes_slate(&self) -> bool {
        self.watched
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        self.to.write(batch).await
    }
}

/// A receiver with this slate, its player and its recording.
fn start(slate: Slate) -> (Receiver, std::net::SocketAddr, Collect, Collect) {
    let mut config = ReceiverConfig::new(scheme());
    config.listen = vec!["127.0.0.1:0".parse().expect("it is an address")];
    config.slate = Some(slate);
    let listening = Listening::start(config).expect("the port is free");
    let address = listening.addresses()[0];
    let (player, recording) = (Collect::default(), Collect::default());
    let place = |to: &Collect, watched| Place { to: to.clone(), watched };
    (listening.play_all(vec![place(&player, true), place(&recording, false)]), address, player, recording)
}

async fn send(address: std::net::SocketAddr, seconds: usize) {
    let to = Destination::plain(address.to_string().parse().expect("a host"));
    let mut config = SenderConfig::new(to, scheme());
    (config.latency, config.retry) = (LATENCY, Some(Retry::Forever));
    let sender = Sender::start(config, Memory::live(clip(seconds))).await.expect("loopback is there");
    tokio::time::timeout(Duration::from_secs(120), sender.wait())
        .await
        .expect("it ends")
        .expect("it arrives");
}

async fn waits_for(receiver: &Receiver, wanted: impl FnMut(&Event) -> Option<()>) {
    until(120, async || receiver.event().await, wanted).await;
}

fn slate(event: &Event) -> Option<()> {
    matches!(event, Event::Slate { .. }).then_some(())
}

fn sender(event: &Event) -> Option<()> {
    matches!(event, Event::SlateOver { .. }).then_some(())
}

fn packets(bytes: &[u8]) -> Vec<Packet> {
    let packets = bytes.as_chunks::<PACKET_LEN>().0.iter();
    packets.map(|bytes| Packet::new(*bytes).expect("a whole packet")).collect()
}

/// Asserts that no counter has a gap and that no clock goes back without an announcement. Returns the number of
/// announcements.
fn continues(all: &[Packet]) -> usize {
    let (mut checker, mut last, mut announced) = (ContinuityChecker::new(), None::<Pcr>, 0);
    for packet in all {
        let adaptation = packet.adaptation();
        let mut bytes = *packet.as_bytes();
        if adaptation.is_some() {
            // An announcement excuses the counter as well: it is right without one.
            bytes[5] &= 0x7f;
        }
        checker.check(&Packet::new(bytes).expect("a whole packet"));
        let Some(pcr) = adaptation.and_then(|field| field.pcr) else { continue };
        let new = adaptation.is_some_and(|field| field.discontinuity);
        announced += usize::from(new);
        if let Some(last) = last.filter(|_| !new) {
            assert!(pcr.since(last) < 2 * Pcr::HZ, "the clock goes from {last:?} to {pcr:?}");
        }
        last = Some(pcr);
    }
    assert_eq!(checker.counts().gaps, 0);
    announced
}

#[tokio::test]
async fn a_clip_plays_before_between_and_after_senders() {
    let clip_of_slate = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../media/clip.ts");
    let (receiver, address, player, recording) = start(Slate::read(&clip_of_slate).expect("it is a clip"));
    waits_for(&receiver, slate).await;
    for _ in 0..2 {
        let before = player.bytes().len();
        while player.bytes().len() < before + 20_000 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        send(address, 2).await;
        waits_for(&receiver, sender).await;
        waits_for(&receiver, slate).await;
    }
    receiver.stop();
    receiver.wait().await.expect("it ends well");
    assert_eq!(recording.bytes(), [clip(2), clip(2)].concat(), "a recording has no slate");
    let seen = packets(&player.bytes());
    // A slate, a sender, a slate, a sender, and perhaps the first clock of the last slate.
    let announced = continues(&seen);
    assert!((4..=5).contains(&announced), "{announced}");
}

#[tokio::test]
async fn null_packets_keep_players_before_and_after_a_sender() {
    let (receiver, address, player, recording) = start(Slate::null());
    waits_for(&receiver, slate).await;
    send(address, 2).await;
    waits_for(&receiver, sender).await;
    waits_for(&receiver, slate).await;
    let before = player.bytes().len();
    while player.bytes().len() < before + 20_000 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    receiver.stop();
    receiver.wait().await.expect("it ends well");
    assert_eq!(recording.bytes(), clip(2));
    let seen = packets(&player.bytes());
    continues(&seen);
    assert_eq!((seen[0].pid(), seen.last().map(Packet::pid)), (NULL_PID, Some(NULL_PID)));
    let clocks =
        packets(&player.bytes()[before..]).iter().filter(|packet| packet.adaptation().is_some()).count();
    assert!(clocks > 3, "the clock of the sender continues: {clocks}");
}
