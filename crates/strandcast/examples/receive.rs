//! Receives a file from `send_two_paths`: `cargo run --example receive -- FILE`. Prints a pairing string, which is a secret.

use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

use strandcast::pairing::{Gate, Store};
use strandcast::{Incoming, Scheme, Server};

/// Listens, and makes a pairing string. `keys` is the file of the identity. If the file does not exist, the function
/// makes it.
pub fn listen(address: SocketAddr, keys: &Path) -> Result<(Incoming, String), Box<dyn Error>> {
    let store = Store::at(keys);
    let gate = Gate::open(&store, None)?;
    let server = Server::new(Scheme::new("strand")?).listen(address).sealed(gate).start()?;
    // If no host is given, the string contains the server's addresses that other machines can reach.
    let hosts: Vec<_> = if address.ip().is_unspecified() { Vec::new() } else { hosts(&server)? };
    let pairing = store.pair(&hosts, false, None)?;
    Ok((server, pairing.to_string()))
}

fn hosts(server: &Incoming) -> Result<Vec<strandcast::HostPort>, Box<dyn Error>> {
    server.addresses().iter().map(|address| Ok(address.to_string().parse()?)).collect()
}

/// Writes the bytes that the first sender sends. Returns their number.
pub async fn receive(server: &mut Incoming, mut file: impl Write) -> Result<u64, Box<dyn Error>> {
    let connection = server.accept().await.ok_or("the server has ended")?;
    let (mut messages, mut bytes) = (Vec::new(), 0);
    while connection.recv_many(&mut messages).await > 0 {
        for message in messages.drain(..) {
            file.write_all(&message.payload)?;
            bytes += message.payload.len() as u64;
        }
    }
    // The loop ends after the sender has closed the connection. At that time all data have arrived.
    match connection.closed().await {
        strandcast::CloseReason::Shutdown => Ok(bytes),
        why => Err(why.into()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("FILE")?;
    let any = SocketAddr::from(([0, 0, 0, 0], strandcast::UDP_PORT));
    let (mut server, pairing) = listen(any, "receive.identity".as_ref())?;
    println!("{pairing}");
    let bytes = receive(&mut server, std::fs::File::create(file)?).await?;
    println!("{bytes} bytes");
    Ok(())
}
