//! Pairings from one store to the other.

use strandcast::Error;
use strandcast::pairing::{Destination, Gate, Name, Pairing, Store, wall_clock};
use strandcast::{Client, Scheme, Server};

use crate::common::Folder;

fn name(text: &str) -> Name {
    text.parse().expect("it is a name")
}

#[tokio::test]
async fn a_string_pairs_two_stores_for_good() {
    let folder = Folder::new();
    let (studio, van) = (Store::at(folder.join("studio")), Store::at(folder.join("van")));
    let hosts = ["studio.example".parse().expect("a host"), "192.0.2.1:7".parse().expect("a host")];
    let text = studio.pair(&hosts, false, None).expect("a string");
    let pairing = Pairing::decode(&format!("> {}\n", text.to_uppercase())).expect("as a mail quotes it");
    van.add_receiver(&name("studio"), &pairing).expect("a new name");
    van.add_receiver(&name("studio"), &pairing).expect("the same once more");
    let to = Destination::named(&van, "studio").expect("it is known");
    let hosts: Vec<String> = to.hosts.iter().map(ToString::to_string).collect();
    assert_eq!(
        (to.label.as_str(), hosts),
        ("@studio", vec!["studio.example:9899".into(), "192.0.2.1:7".into()])
    );
    let (_, peer) = to.seal.expect("it is encrypted");
    let identity = studio.identity().expect("it can be read").expect("it was made");
    assert_eq!(peer.key, identity.public());

    let hosts = ["192.0.2.2".parse().expect("a host")];
    let other = Store::at(folder.join("other")).pair(&hosts, false, None).expect("a string");
    let other = Pairing::decode(&other).expect("it is whole");
    assert!(matches!(van.add_receiver(&name("studio"), &other), Err(Error::Usage(_))), "another receiver");
    let near = Destination::named(&van, "studoi").expect_err("there is none");
    assert_eq!(near, Error::Usage("there is no receiver @studoi, but @studio".to_owned()));
}

#[tokio::test]
async fn a_gate_admits_whom_its_store_admits_and_once_is_once() {
    let folder = Folder::new();
    let studio = Store::at(folder.join("studio"));
    let gate = Gate::open(&studio, None).expect("a new identity");
    let server = Server::new(Scheme::rfc9260()).listen("127.0.0.1:0".parse().expect("an address"));
    let mut server = server.sealed(gate).start().expect("the port is free");
    let host = [server.addresses()[0].to_string().parse().expect("a host")];
    let text = studio.pair(&host, true, Some(wall_clock() + 60)).expect("a string");
    // The server looks at the store four times per second.
    let looks = tokio::spawn(async move {
        let mut accepted = Vec::new();
        while let Some(connection) = server.accept().await {
            accepted.push(connection);
        }
    });
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    let client = Client::new(Scheme::rfc9260()).timeout(std::time::Duration::from_secs(3));
    let to = |van: &str| {
        let pairing = Pairing::decode(&text).expect("it is whole");
        Destination::paired(&Store::at(folder.join(van)), pairing).expect("a new identity")
    };
    client.connect_to(&to("first")).await.expect("it has the string");
    client.connect_to(&to("first")).await.expect("it is known now");
    let error = client.connect_to(&to("second")).await.expect_err("the string is used up");
    assert!(error.to_string().contains("does not admit this machine"), "{error}");
    looks.abort();
}
