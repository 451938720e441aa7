//! No diagnostic repeats a pairing string, wherever it was put by mistake.

use std::path::Path;

use crate::common::home::Home;
use crate::common::{port, seconds};

/// Slips that are easily made with a string in the clipboard.
#[test]
fn no_slip_prints_a_pairing_string() {
    let home = Home::new("slips");
    let text = home.pairing("127.0.0.1:9899", "");
    let once = home.pairing("127.0.0.1:9899", "--once");
    let (input, _) = seconds(1, "slips-in.ts");
    let (input, port) = (input.display(), port());
    for secret in [&text, &once, &text.to_uppercase(), &text[..40].to_owned()] {
        for slip in [
            format!("key add {secret}"),
            format!("key add @{secret}"),
            format!("send {secret} {input}"),
            format!("send {input} @{secret}"),
            format!("send {input} 127.0.0.1:{port} --path {secret}"),
            format!("send {input} 127.0.0.1:{port} --scheme {secret}"),
            format!("send {input} 127.0.0.1:{port} --key {secret}"),
            format!("send {input} 127.0.0.1:{port} --tariff {secret}"),
            format!("receive {secret}"),
            format!("receive :{port} {secret}"),
            format!("receive {secret} out.ts"),
            format!("receive --host={secret} out.ts"),
            format!("key allow {secret}"),
            format!("key revoke {secret}"),
            format!("key remove {secret}"),
            format!("perf client @{secret}"),
            format!("schemes {secret}"),
            secret.to_owned(),
        ] {
            let ended = home.run(&slip);
            assert!(ended.code.is_some_and(|code| code > 1), "{slip}: {ended:?}");
            let told = ended.err.to_lowercase() + &String::from_utf8_lossy(&ended.out).to_lowercase();
            let symbols = &secret.to_lowercase()[4..];
            assert!(!told.contains(&symbols[..20]), "{slip}: {told}");
            assert!(!Path::new(secret).exists(), "{slip}");
        }
    }
}
