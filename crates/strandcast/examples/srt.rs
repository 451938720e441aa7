//! Copies between standard input or output and SRT. One of the two places is `-`, and the other one is an `srt://` URL:
//!
//! ```sh
//! cargo run --example srt --features srt -- 'srt://:7002' - > got.ts
//! cargo run --example srt --features srt -- - srt://127.0.0.1:7002 < clip.ts
//! ```

use std::io::Write as _;

use strandcast::live::input::{Input, Srt as From, Stdin};
use strandcast::live::output::{Batch, Output, Srt as To};

/// Seven transport packets.
const PAYLOAD: usize = 7 * 188;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words[..] {
        [from, to] if from == "-" => send(To::open(&to.parse()?).await?).await,
        [from, to] if to == "-" => receive(From::open(&from.parse()?).await?).await,
        _ => Err("usage: srt - URL, or srt URL -".into()),
    }
}

async fn send(mut to: To) -> Outcome {
    let (mut from, mut buffer, mut rest) = (Stdin::open(), vec![0; 1 << 16], Vec::new());
    loop {
        let len = from.read(&mut buffer).await?;
        rest.extend_from_slice(&buffer[..len]);
        let whole = if len == 0 { rest.len() } else { rest.len() - rest.len() % PAYLOAD };
        let messages: Vec<u8> = rest.drain(..whole).collect();
        to.write(&messages.chunks(PAYLOAD).collect::<Batch>()).await?;
        for (why, count) in to.troubles() {
            eprintln!("{count} lost: {why}");
        }
        if len == 0 {
            // Waits until everything is played.
            to.end().await?;
            return Ok(());
        }
    }
}

async fn receive(mut from: From) -> Outcome {
    let (mut buffer, mut to) = (vec![0; 1 << 16], std::io::stdout());
    loop {
        let len = from.read(&mut buffer).await?;
        to.write_all(&buffer[..len])?;
        to.flush()?;
    }
}
