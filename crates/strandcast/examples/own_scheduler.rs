//! A custom scheduler over two paths of this machine: `cargo run --example own_scheduler`.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use strandcast::proto::policy::{Assignment, Backlog, Parts, Policy, Scheduler, View};
use strandcast::proto::rfc;
use strandcast::{Client, Scheme, SendOptions, Server};

/// Sends each packet by the path with room that has the fewest bytes in flight.
#[derive(Debug)]
struct LeastInFlight;

impl Policy for LeastInFlight {}

impl Scheduler for LeastInFlight {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        let with_room = view.usable_paths().filter(|path| path.has_room());
        let path = with_room.min_by_key(|path| (path.in_flight, path.id))?;
        Some(Assignment::on(path.id, 1))
    }
}

/// Windows, loss detection and acknowledgements of RFC 9260, with this scheduler.
pub fn scheme() -> Scheme {
    let build = |_: &_| -> Box<dyn strandcast::proto::policy::Scheme> {
        Box::new(Parts {
            name: "least-in-flight".into(),
            scheduler: Box::new(LeastInFlight),
            ..rfc::scheme()
        })
    };
    // The scheduler needs no changes of the transport's parameters.
    Scheme::custom("least-in-flight", |_| (), Arc::new(build))
}

/// Sends `messages` of 1000 bytes each, and returns the number of bytes that each path has carried.
pub async fn transfer(messages: usize) -> Result<Vec<(String, u64)>, Box<dyn Error>> {
    let mut server = Server::new(scheme()).listen(SocketAddr::from(([127, 0, 0, 1], 0))).start()?;
    let address = server.addresses()[0].to_string();
    let client = Client::new(scheme()).path("bind=127.0.0.2".parse()?).path("bind=127.0.0.3".parse()?);
    let (connection, accepted) = tokio::join!(client.connect(&address), server.accept());
    let (connection, accepted) = (connection?, accepted.ok_or("the server has ended")?);
    let send = async {
        for _ in 0..messages {
            connection.send(vec![0; 1000].into(), SendOptions::default()).await?;
        }
        Ok::<_, Box<dyn Error>>(())
    };
    let receive = async {
        let (mut got, mut some) = (0, Vec::new());
        while got < messages && accepted.recv_many(&mut some).await > 0 {
            got += some.drain(..).count();
        }
    };
    tokio::join!(send, receive).0?;
    let figures = connection.snapshot().await.ok_or("the connection is gone")?;
    Ok(figures.paths.iter().map(|path| (path.name.clone(), path.stats.payload_sent)).collect())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    for (path, bytes) in transfer(10_000).await? {
        println!("{path}: {bytes} bytes");
    }
    Ok(())
}
