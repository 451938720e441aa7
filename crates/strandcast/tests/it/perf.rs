//! Measurements over loopback.

use std::time::Duration;

use strandcast::Scheme;
use strandcast::pairing::{Destination, Gate, Pairing, Store};
use strandcast::perf::{Measurement, Outcome, Server, ServerConfig, ServerEvent};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::common::Folder;

/// A measurement of half a second by a client with this string.
fn measured(folder: &Folder, string: &str) -> JoinHandle<Result<Box<Outcome>, strandcast::Error>> {
    let van = Store::at(folder.join("van"));
    let to = Destination::paired(&van, Pairing::decode(string).expect("it is whole")).expect("an identity");
    let mut measurement = Measurement::new(to, Scheme::rfc9260());
    measurement.time = Duration::from_millis(500);
    tokio::spawn(async move { measurement.resolve().await?.run(None, |_| {}).await })
}

/// A program that stops waiting for an event every few milliseconds, as one with a `select!` does, still gets every
/// event, and the server still admits who is paired while it runs.
#[tokio::test]
async fn events_of_a_server_are_cancel_safe() {
    let folder = Folder::new();
    let studio = Store::at(folder.join("studio"));
    let mut config = ServerConfig::new(Scheme::rfc9260());
    config.listen = vec!["127.0.0.1:0".parse().expect("an address")];
    config.gate = Some(Gate::open(&studio, None).expect("a new identity"));
    let mut server = Server::start(config).expect("the port is free");
    let host = [server.addresses()[0].to_string().parse().expect("a host")];
    let string = studio.pair(&host, true, None).expect("a string");

    let (mut seen, mut client) = (Vec::new(), None);
    let until_all = async {
        // The server looks at the store four times per second.
        let paired = tokio::time::Instant::now() + Duration::from_millis(600);
        while !["left", "gate"].iter().all(|event| seen.contains(event)) {
            if client.is_none() && tokio::time::Instant::now() >= paired {
                client = Some(measured(&folder, &string));
            }
            let Ok(event) = timeout(Duration::from_millis(3), server.event()).await else { continue };
            seen.push(match event.expect("it listens") {
                ServerEvent::Begun { reverse: false, .. } => "begun",
                ServerEvent::Done { totals, .. } if totals.bytes > 0 => "done",
                ServerEvent::Left => "left",
                ServerEvent::Gate(_) => "gate",
                other => panic!("{other:?}"),
            });
        }
    };
    timeout(Duration::from_secs(20), until_all).await.expect("it ends in time");
    let client = client.expect("it has started").await.expect("no panic");
    assert!(client.expect("a result").received.bytes > 0);
    assert_eq!(seen.iter().filter(|event| **event == "gate").count(), 1, "{seen:?}");
    seen.retain(|event| *event != "gate");
    assert_eq!(seen, ["begun", "done", "left"]);
}
