//! Sends data that arrive at a UDP port to `strandcast receive`. `ffmpeg -f mpegts udp://127.0.0.1:5004` writes such
//! data. The example connects again as long as the input lasts: `cargo run --example live_sender -- PORT
//! PAIRING-STRING`.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use strandcast::Scheme;
use strandcast::live::input::{Input, Udp};
use strandcast::live::{Event, Retry, SendSummary, Sender, SenderConfig};
use strandcast::pairing::{Destination, Pairing, Store};

/// Starts to send `input` to the receiver of a pairing string. `keys` is the file of the identity. If the file does not
/// exist, the function makes it.
pub async fn start(input: impl Input, pairing: &str, keys: &Path) -> Result<Sender, Box<dyn Error>> {
    let to = Destination::paired(&Store::at(keys), Pairing::decode(pairing)?)?;
    let mut config = SenderConfig::new(to, Scheme::new("strand")?);
    config.latency = Duration::from_millis(1500);
    config.retry = Some(Retry::Forever);
    Ok(Sender::start(config, input).await?)
}

/// Prints the events of the stream until it has ended.
pub async fn follow(sender: &Sender) -> Result<Option<Box<SendSummary>>, Box<dyn Error>> {
    let mut summary = None;
    while let Some(event) = sender.event().await {
        match event {
            Event::Stats(stats) => {
                let rate: f64 = stats.paths.iter().map(|path| path.rate_bps).sum();
                println!("{:.1} s: {:.2} Mbit/s, {} late", stats.seconds, rate / 1e6, stats.media.late);
            }
            Event::Path { path, trouble } => println!("{path}: {trouble:?}"),
            Event::Sent(figures) => summary = Some(figures),
            other => println!("{other}"),
        }
    }
    sender.wait().await?;
    Ok(summary)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, pairing] = arguments.as_slice() else { return Err("PORT PAIRING-STRING".into()) };
    let input = Udp::listen(&format!("udp://127.0.0.1:{port}").parse()?).await?;
    let sender = start(input, pairing, "live_sender.identity".as_ref()).await?;
    if let Some(summary) = follow(&sender).await? {
        println!("{} bytes in {:.1} s", summary.bytes, summary.seconds);
    }
    Ok(())
}
