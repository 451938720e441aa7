//! A caller and a listener of our own.

use std::time::Duration;

use strandcast_srt::Direction;
use tokio::time::{sleep, timeout};

use super::*;

/// Sends from one end to the other.
async fn carries(keys: &str, caller_sends: bool) {
    let port = free_port();
    let (listen, call) = (
        url(&format!("srt://127.0.0.1:{port}?mode=listener{keys}")),
        url(&format!("srt://127.0.0.1:{port}?{keys}")),
    );
    let (from, to) = if caller_sends { (&call, &listen) } else { (&listen, &call) };
    let (_receiver, mut received) = receiver(to, config(to, Direction::Receive)).await;
    let (_sender, sent) = sender(from, config(from, Direction::Send)).await;
    // A sender without a peer loses what it sends.
    let mut first = None;
    while first.is_none() {
        sent.send(b"begin".to_vec()).await.expect("the driver runs");
        first = timeout(Duration::from_millis(100), received.recv()).await.ok().flatten();
    }
    sleep(Duration::from_millis(300)).await;
    while received.try_recv().is_ok() {}
    send(&sent, 300).await;
    assert_eq!(collect(&mut received, 300 * PAYLOAD).await, payloads(300));
}

#[tokio::test]
async fn all_roles_carry_media() {
    for keys in ["", "&passphrase=correct-horse&pbkeylen=32"] {
        carries(keys, true).await;
        carries(keys, false).await;
    }
}

/// A listener continues when its peer leaves, and takes the next one.
#[tokio::test]
async fn a_listener_outlives_its_peers() {
    let port = free_port();
    let listen = url(&format!("srt://127.0.0.1:{port}?mode=listener"));
    let call = url(&format!("srt://127.0.0.1:{port}"));
    let (_receiver, mut received) = receiver(&listen, config(&listen, Direction::Receive)).await;
    for round in 0..2_u8 {
        // The second caller comes once the first one, which left without a word, counts as silent.
        let (_sender, sent) = sender(&call, config(&call, Direction::Send)).await;
        let came = timeout(PATIENCE, async {
            loop {
                sent.send(vec![round; PAYLOAD]).await.expect("the driver runs");
                match timeout(Duration::from_millis(50), received.recv()).await {
                    Ok(Some(payload)) if payload[0] == round => return,
                    _ => {}
                }
            }
        });
        came.await.expect("a payload of this caller");
    }
}

#[tokio::test]
async fn a_wrong_passphrase_ends_a_caller_with_its_reason() {
    let port = free_port();
    let listen = url(&format!("srt://127.0.0.1:{port}?mode=listener&passphrase=correct-horse"));
    let call = url(&format!("srt://127.0.0.1:{port}?passphrase=battery-staple"));
    let _listener = sender(&listen, config(&listen, Direction::Send)).await;
    let (driver, mut received) = receiver(&call, config(&call, Direction::Receive)).await;
    assert_eq!(timeout(PATIENCE, received.recv()).await.expect("an end"), None);
    assert_eq!(driver.ended().to_string(), "the passphrases differ (code 1010)");
}
