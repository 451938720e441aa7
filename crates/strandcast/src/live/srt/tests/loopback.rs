//! A caller and a listener of our own.

use std::time::Duration;

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_srt::{Direction, Ended, Endpoint, Event};
use tokio::net::UdpSocket;
use tokio::time::{sleep, timeout};

use super::*;
use crate::live::output::{Batch, Output as _, Srt as Output};

fn batch(messages: &[&[u8]]) -> Batch {
    messages.iter().copied().collect()
}

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

/// The listener reports a caller that it refuses. The caller tries again and again, but has one report.
#[tokio::test]
async fn a_listener_reports_the_caller_that_it_refuses_and_why() {
    let port = free_port();
    let listen = url(&format!("srt://127.0.0.1:{port}?mode=listener&passphrase=correct-horse"));
    let (listener, _received) = receiver(&listen, config(&listen, Direction::Receive)).await;
    for passphrase in ["&passphrase=battery-staple", "&passphrase=battery-staple", ""] {
        let call = url(&format!("srt://127.0.0.1:{port}?mode=caller{passphrase}"));
        let (mut caller, _sent) = sender(&call, config(&call, Direction::Send)).await;
        timeout(PATIENCE, caller.finished()).await.expect("a refusal ends the caller");
    }
    let texts = listener.refused();
    assert_eq!(texts.len(), 2, "{texts:?}");
    for (text, why) in
        texts.iter().zip(["the passphrases differ (code 1010)", "only one side has a passphrase (code 1011)"])
    {
        assert!(text.starts_with("127.0.0.1:") && text.ends_with(&format!(" is refused: {why}")), "{text}");
    }
}

/// A caller reports that its listener is not there, and connects once it is.
#[tokio::test]
async fn a_caller_reports_a_listener_that_does_not_answer() {
    let port = free_port();
    let call = url(&format!("srt://127.0.0.1:{port}"));
    let (caller, mut received) = receiver(&call, config(&call, Direction::Receive)).await;
    let reported = async {
        loop {
            match caller.refused().as_slice() {
                [] => tokio::time::sleep(Duration::from_millis(50)).await,
                texts => break texts.to_vec(),
            }
        }
    };
    let texts = timeout(PATIENCE, reported).await.expect("a report");
    assert_eq!(texts, ["no answer (code 1016); calling again"]);
    let listen = url(&format!("srt://127.0.0.1:{port}?mode=listener"));
    let (_listener, sent) = sender(&listen, config(&listen, Direction::Send)).await;
    let mut first = None;
    while first.is_none() {
        sent.send(b"begin".to_vec()).await.expect("the driver runs");
        first = timeout(Duration::from_millis(100), received.recv()).await.ok().flatten();
    }
}

/// Without a peer each message counts as lost; a peer that gets everything loses none.
#[tokio::test]
async fn messages_that_no_peer_takes_are_counted() {
    let port = free_port();
    let listen = url(&format!("srt://127.0.0.1:{port}?mode=listener"));
    let (driver, sent) = sender(&listen, config(&listen, Direction::Send)).await;
    // Two messages of several payloads.
    for _ in 0..2 {
        sent.send(vec![0x47; 3 * PAYLOAD]).await.expect("the driver runs");
    }
    drop(sent.reserve_many(sent.max_capacity()).await.expect("the driver runs"));
    assert_eq!(driver.missed(), [("no peer is connected".to_owned(), 2)]);
    let call = url(&format!("srt://127.0.0.1:{port}"));
    let (_receiver, mut received) = receiver(&call, config(&call, Direction::Receive)).await;
    let mut first = None;
    while first.is_none() {
        sent.send(b"begin".to_vec()).await.expect("the driver runs");
        first = timeout(Duration::from_millis(100), received.recv()).await.ok().flatten();
    }
    driver.missed();
    send(&sent, 100).await;
    assert_eq!(driver.missed(), []);
}

/// Messages for which a connected peer's buffer has no room are counted as well.
#[tokio::test]
async fn messages_that_a_slow_peer_does_not_get_are_counted() {
    let port = free_port();
    let listen = url(&format!("srt://127.0.0.1:{port}?mode=listener"));
    let slow = Config {
        buffer_packets: 32,
        bandwidth: strandcast_srt::Bandwidth::Fixed(62_500),
        ..config(&listen, Direction::Send)
    };
    let (driver, sent) = sender(&listen, slow).await;
    let call = url(&format!("srt://127.0.0.1:{port}"));
    let (_receiver, mut received) = receiver(&call, config(&call, Direction::Receive)).await;
    let mut first = None;
    while first.is_none() {
        sent.send(b"begin".to_vec()).await.expect("the driver runs");
        first = timeout(Duration::from_millis(100), received.recv()).await.ok().flatten();
    }
    driver.missed();
    for n in 0..500 {
        sent.send(payload(n)).await.expect("the driver runs");
    }
    drop(sent.reserve_many(sent.max_capacity()).await.expect("the driver runs"));
    let missed = driver.missed();
    let [(why, count)] = &missed[..] else { panic!("{missed:?}") };
    // 32 of 500 fit, and some leave meanwhile.
    assert!(why == "a peer or its path is too slow" && (100..=480).contains(count), "{missed:?}");
}

/// A player that calls a port of this machine. Returns what it played, and why its connection ended; `first` gets a
/// message once it plays.
async fn player(port: u16, first: tokio::sync::oneshot::Sender<()>) -> (Vec<u8>, Ended) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
    let (begun, seeds) = (tokio::time::Instant::now(), Seeds::new(1, 0));
    let now = || Instant::ZERO + begun.elapsed();
    let listener = ([127, 0, 0, 1], port).into();
    let mut end = Endpoint::call(now(), strandcast_srt::Config::new(Direction::Receive), listener, &seeds);
    let (mut played, mut buffer, mut out, mut first) = (Vec::new(), [0; 2048], Vec::new(), Some(first));
    loop {
        while let Some(to) = end.poll_output(now(), &mut out) {
            socket.send_to(&out, to).await.expect("it leaves");
        }
        while let Some((_, payload)) = end.poll_media(now()) {
            played.extend_from_slice(&payload);
            first.take().map(|first| first.send(()));
        }
        match end.poll_event() {
            Some(Event::Ended { why, .. }) => return (played, why),
            Some(Event::Failed { refusal }) => panic!("{refusal}"),
            _ => {}
        }
        let received = timeout(Duration::from_millis(2), socket.recv_from(&mut buffer)).await;
        if let Ok(Ok((len, from))) = received {
            end.handle_datagram(now(), from, &buffer[..len]);
        }
    }
}

/// An output with a player that has begun to play.
async fn watched() -> (Output, tokio::task::JoinHandle<(Vec<u8>, Ended)>) {
    let port = free_port();
    let mut output =
        Output::open(&url(&format!("srt://127.0.0.1:{port}?mode=listener"))).await.expect("a port");
    let (first, mut began) = tokio::sync::oneshot::channel();
    let player = tokio::spawn(player(port, first));
    while began.try_recv().is_err() {
        output.write(&batch(&[b"begin"])).await.expect("it continues");
        sleep(Duration::from_millis(20)).await;
    }
    (output, player)
}

/// At the end of a receiver a player gets the rest of the stream, and then learns the end: it does not wait for a timeout.
#[tokio::test]
async fn a_player_gets_the_rest_of_the_stream_and_its_end() {
    let (mut output, player) = watched().await;
    let media: Vec<_> = (0..40).map(payload).collect();
    let pieces: Vec<&[u8]> = media.iter().map(|payload| &payload[..]).collect();
    output.write(&batch(&pieces)).await.expect("it continues");
    timeout(PATIENCE, output.end()).await.expect("it ends").expect("it had a peer");
    let (played, why) = timeout(PATIENCE, player).await.expect("it ends").expect("no panic");
    assert_eq!(why, Ended::ByPeer);
    assert!(played.ends_with(&media.concat()), "{} bytes", played.len());
}

/// Without a peer the end is an error, unless there was nothing to send.
#[tokio::test]
async fn an_output_that_never_had_a_peer_says_so_at_its_end() {
    for (mode, port) in [("listener", free_port()), ("caller", free_port())] {
        for messages in [0, 3] {
            let url = url(&format!("srt://127.0.0.1:{port}?mode={mode}"));
            let mut output = Output::open(&url).await.expect("a port");
            for _ in 0..messages {
                output.write(&batch(&[b"begin"])).await.expect("it continues");
            }
            let ended = timeout(PATIENCE, output.end()).await.expect("it ends").map_err(|e| e.to_string());
            if messages == 0 {
                assert_eq!((ended, output.troubles()), (Ok(()), vec![]));
            } else {
                assert_eq!(ended, Err("no peer has connected".to_owned()));
                assert_eq!(output.troubles(), [("no peer is connected".to_owned(), messages)]);
            }
        }
    }
}

/// An output that is dropped sends its players a shutdown at once.
#[tokio::test]
async fn a_player_learns_that_its_output_is_gone() {
    let (output, player) = watched().await;
    drop(output);
    let (_, why) = timeout(PATIENCE, player).await.expect("it ends").expect("no panic");
    assert_eq!(why, Ended::ByPeer);
}
