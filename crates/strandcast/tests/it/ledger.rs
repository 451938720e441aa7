//! Monthly allowances and their ledger, over loopback.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use strandcast::Error;
use strandcast::live::{Event, LinkTariff, Sender, SenderConfig};
use strandcast::pairing::Destination;

use crate::common::{Collect, Folder, Memory, clip, receiver, scheme, until};

const CAP: u64 = 100_000_000;

fn config(to: SocketAddr, ledger: Option<&Path>) -> SenderConfig {
    let to = Destination::plain(to.to_string().parse().expect("it is a host"));
    let mut config = SenderConfig::new(to, scheme());
    let mut tariff = LinkTariff::new("loopback");
    (tariff.left, tariff.month_begins) = (Some(CAP), Some(1));
    config.tariffs = vec![tariff];
    config.ledger = ledger.map(Path::to_owned);
    config.latency = Duration::from_millis(300);
    config
}

/// Sends a clip. Returns the bytes that were left at the start, and the bytes of the clip.
async fn send(ledger: &Path) -> (u64, u64) {
    let media = clip(2);
    let (_receiver, address) = receiver(None, |config| config.once = true, Collect::default());
    let sender =
        Sender::start(config(address, Some(ledger)), Memory::new(media.clone())).await.expect("loopback");
    let left = |event: &Event| match event {
        Event::Allowance { link, left, of: CAP, until } if link == "loopback" && until.ends_with("-01") => {
            Some(*left)
        }
        _ => None,
    };
    let left = until(60, async || sender.event().await, left).await;
    assert_eq!(sender.wait().await, Ok(()));
    (left, media.len() as u64)
}

fn used(ledger: &Path) -> u64 {
    let text = std::fs::read_to_string(ledger).expect("the ledger was written");
    assert_eq!(text.matches("[[link]]").count(), 1, "{text}");
    let line = text.lines().find_map(|line| line.strip_prefix("used = ")).expect("a link");
    line.parse().expect("a number")
}

#[tokio::test]
async fn the_use_of_a_month_continues_over_streams() {
    let folder = Folder::new();
    let ledger = folder.join("ledger.toml");
    let (left, bytes) = send(&ledger).await;
    assert_eq!(left, CAP);
    let first = used(&ledger);
    // Headers, acknowledgements and heartbeats make it more than the media.
    assert!((bytes..2 * bytes).contains(&first), "{first} of {bytes}");
    let (left, _) = send(&ledger).await;
    assert_eq!(left, CAP - first);
    assert!(used(&ledger) >= first + bytes);
}

#[tokio::test]
async fn a_month_needs_a_ledger_that_can_be_written() {
    let folder = Folder::new();
    let to = "127.0.0.1:9".parse().expect("an address");
    let start = async |config| Sender::start(config, Memory::new(clip(1))).await.err();
    let why = start(config(to, None)).await;
    assert_eq!(why, Some(Error::Usage("ledger: the monthly allowance of loopback needs a file".into())));
    let mut wrong = config(to, Some(&folder.join("ledger.toml")));
    wrong.tariffs[0].month_begins = Some(31);
    let why = start(wrong).await.expect("it is an error");
    assert!(why.to_string().contains("expected 1 to 28"), "{why}");
    // A folder is in the place of the file.
    let why = start(config(to, Some(&folder.join("")))).await.expect("it is an error");
    assert!(matches!(why, Error::Store(_)), "{why}");
}
