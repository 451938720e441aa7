//! Sends a file to `receive` over two encrypted paths with the scheme `strand`: `cargo run --example send_two_paths --
//! FILE PAIRING-STRING PATH PATH`. Each PATH has the form `if=wlan0` or `bind=192.0.2.7`.

use std::error::Error;
use std::path::Path;

use strandcast::pairing::{Destination, Pairing, Store};
use strandcast::{Client, CloseReason, Scheme, SendOptions};

/// Bytes of a message. A message of this size fits one packet on nearly every path.
const MESSAGE: usize = 1200;

/// Sends `file` to the receiver of a pairing string. `keys` is the file of the identity. If the file does not exist,
/// the function makes it.
pub async fn send(file: &Path, pairing: &str, paths: &[&str], keys: &Path) -> Result<(), Box<dyn Error>> {
    let to = Destination::paired(&Store::at(keys), Pairing::decode(pairing)?)?;
    let mut client = Client::new(Scheme::new("strand")?);
    for path in paths {
        client = client.path(path.parse()?);
    }
    let connection = client.connect_to(&to).await?;
    for message in std::fs::read(file)?.chunks(MESSAGE) {
        connection.send(message.to_vec().into(), SendOptions::default()).await?;
    }
    let figures = connection.snapshot().await.ok_or("the connection is gone")?;
    connection.shutdown();
    match connection.closed().await {
        CloseReason::Shutdown => {}
        why => return Err(why.into()),
    }
    for path in &figures.paths {
        println!("{}: {} bytes so far", path.name, path.stats.payload_sent);
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, pairing, paths @ ..] = arguments.as_slice() else {
        return Err("FILE PAIRING-STRING PATH PATH".into());
    };
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    send(file.as_ref(), pairing, &paths, "send_two_paths.identity".as_ref()).await
}
