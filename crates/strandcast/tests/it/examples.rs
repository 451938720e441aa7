//! Runs of the examples.

use std::time::Duration;

use strandcast::Scheme;
use strandcast::live::Event;
use strandcast::pairing::{Gate, Store};

use self::simulate::own_scheduler;
use crate::common::{Collect, Folder, Memory, clip, receiver, until};

#[expect(dead_code, reason = "its main function is for the command line")]
#[path = "../../examples/live_sender.rs"]
mod live_sender;
#[expect(dead_code, reason = "its main function is for the command line")]
#[path = "../../examples/receive.rs"]
mod receive;
#[expect(dead_code, reason = "its main function is for the command line")]
#[path = "../../examples/send_two_paths.rs"]
mod send_two_paths;

#[expect(dead_code, reason = "its main function is for the command line")]
#[path = "../../examples/simulate.rs"]
mod simulate;

#[tokio::test]
async fn a_scheduler_of_ones_own() {
    let transfer = own_scheduler::transfer(2000);
    let paths = tokio::time::timeout(Duration::from_secs(60), transfer).await.expect("within a minute");
    let paths = paths.expect("everything came");
    assert_eq!(paths.len(), 2);
    assert!(paths.iter().all(|(_, bytes)| *bytes > 100_000), "both carry it: {paths:?}");
}

#[test]
fn the_same_scheme_simulated() {
    let goodput = |scheme| simulate::goodput(&scheme, 1).expect("it runs");
    let own = goodput(own_scheduler::scheme());
    assert!(own > 1.2 * goodput(Scheme::rfc9260()), "two paths carry more than one: {own}");
    assert_eq!(own, goodput(own_scheduler::scheme()), "the same seed gives the same");
}

#[tokio::test]
async fn a_file_over_two_paths() {
    let folder = Folder::new();
    let media = clip(24);
    std::fs::write(folder.join("file"), &media).expect("a temporary file");
    let address = "127.0.0.1:0".parse().expect("an address");
    let (mut server, pairing) = receive::listen(address, &folder.join("studio")).expect("it listens");
    let (file, keys) = (folder.join("file"), folder.join("van"));
    let paths = ["bind=127.0.0.2", "bind=127.0.0.3"];
    let send = send_two_paths::send(&file, &pairing, &paths, &keys);
    let mut written = Vec::new();
    let receive = receive::receive(&mut server, &mut written);
    let both = async { tokio::join!(send, receive) };
    let (sent, got) = tokio::time::timeout(Duration::from_secs(60), both).await.expect("within a minute");
    sent.expect("everything was sent");
    assert_eq!(got.expect("everything came"), media.len() as u64);
    assert!(written == media, "what came is what was sent");
}

#[tokio::test]
async fn a_live_sender() {
    let folder = Folder::new();
    let studio = Store::at(folder.join("studio"));
    let gate = Gate::open(&studio, None).expect("a new identity");
    let (played, media) = (Collect::default(), clip(2));
    let change =
        |config: &mut strandcast::live::ReceiverConfig| (config.gate, config.once) = (Some(gate), true);
    let (receiver, address) = receiver(None, change, played.clone());
    let host = [address.to_string().parse().expect("a host")];
    let pairing = studio.pair(&host, false, None).expect("a string");
    let started = live_sender::start(Memory::new(media.clone()), &pairing, &folder.join("van")).await;
    let sender = started.expect("loopback is there");
    let summary = live_sender::follow(&sender).await.expect("it was played");
    assert_eq!(summary.map(|summary| summary.bytes), Some(media.len() as u64));
    let identical = |event: &Event| match event {
        Event::Received(summary) => summary.identical,
        _ => None,
    };
    assert!(until(20, async || receiver.event().await, identical).await);
    assert!(played.bytes() == media);
}
