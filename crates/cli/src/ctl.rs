//! `strandcast ctl`: a client of the API.

use serde_json::Value;
use strandcast::live::LinkTariff;
use strandcast::live::api::{Client, ClientError, Response};
use strandcast::text::{bits_per_s, count};
use strandcast_keys::text::printable;

use crate::args::{CtlArgs, CtlVerb, Switch};
use crate::error::CliError;
use crate::print;

/// Sends a request to a server, and prints the response.
///
/// # Errors
/// [`CliError`].
pub(crate) fn run(args: &CtlArgs) -> Result<(), CliError> {
    let client = Client::of(&args.address, args.ca.as_deref(), args.token.as_deref())?;
    match &args.verb {
        CtlVerb::Streams { json: false } => print::text(&table(&client.json("GET", "/v1/streams")?)),
        CtlVerb::Streams { json: true } => shown(&client, "/v1/streams"),
        CtlVerb::Stream { name } => shown(&client, &format!("/v1/streams/{}", name.as_str())),
        CtlVerb::Senders => shown(&client, "/v1/senders"),
        CtlVerb::Metrics => print::text(&client.ask("GET", "/metrics")?.text()?),
        CtlVerb::Events => events(client.ask("GET", "/v1/events")?),
        changes => {
            let done = client.json("POST", &path(changes)?)?;
            match done["done"].is_null() {
                true => print::json(&format!("{done:#}\n")),
                false => {
                    print::line("done");
                    Ok(())
                }
            }
        }
    }
}

/// Adds the option that helps to the line of an error.
impl From<ClientError> for CliError {
    fn from(error: ClientError) -> CliError {
        match error {
            ClientError::Token(line) => {
                CliError::Peer(format!("{line}; give the file of the token: --token FILE"))
            }
            ClientError::NoAuthorities => CliError::Store(format!("{error}: name one with --ca FILE")),
            ClientError::NotSecure(address) => {
                CliError::Usage(format!("--ca is for https://HOST:PORT, but the address is {address}"))
            }
            ClientError::Unreachable { .. } => {
                CliError::Network(format!("{error}; [api] of the configuration has its place"))
            }
            ClientError::Certificate { .. } => {
                CliError::Peer(format!("{error}: --ca FILE names its authority, or a copy of it"))
            }
            ClientError::Other(error) => error.into(),
            other => CliError::Peer(other.to_string()),
        }
    }
}

/// Returns the URL path of a change.
fn path(verb: &CtlVerb) -> Result<String, CliError> {
    let switched = |name: &str, output: Option<u8>, what: &str| {
        let output = output.map(|number| format!("/outputs/{number}")).unwrap_or_default();
        format!("/v1/streams/{name}{output}/{what}")
    };
    Ok(match verb {
        CtlVerb::Stop { name, output } => switched(name.as_str(), *output, "stop"),
        CtlVerb::Start { name, output } => switched(name.as_str(), *output, "start"),
        CtlVerb::Link { name, link, to } => {
            let to = if *to == Switch::On { "on" } else { "off" };
            format!("/v1/streams/{}/links/{}/{to}", name.as_str(), escaped(link))
        }
        CtlVerb::Tariff { name, spec } => {
            format!("/v1/streams/{}/links/{}/tariff?{}", name.as_str(), escaped(&spec.link), costs(spec))
        }
        CtlVerb::Allow { who, name: None } => format!("/v1/senders/{}/allow", sender(who)?),
        CtlVerb::Allow { who, name: Some(name) } => {
            format!("/v1/senders/{}/allow?as={}", sender(who)?, name.as_str())
        }
        CtlVerb::Revoke { who } => format!("/v1/senders/{}/revoke", sender(who)?),
        _ => "/v1/reload".to_owned(),
    })
}

/// Returns the text of a sender, if the text can be part of a URL path.
fn sender(who: &str) -> Result<&str, CliError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !who.is_empty() && who.chars().all(fits) {
        true => Ok(who),
        false => Err(CliError::Usage(format!("{who:?} is neither a name of a sender nor a key"))),
    }
}

/// Escapes a name as a part of a URL path (RFC 3986 §2.1).
fn escaped(name: &str) -> String {
    let sign = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    name.bytes().map(sign).collect()
}

/// Writes the costs of a link as a query of a URL.
fn costs(spec: &LinkTariff) -> String {
    let mut parts = vec![format!("class={}", spec.class)];
    let allowance = if spec.month_begins.is_some() { "month" } else { "left" };
    parts.extend(spec.left.map(|left| format!("{allowance}={left}")));
    parts.extend(spec.month_begins.map(|day| format!("day={day}")));
    parts.extend(spec.lasts.map(|lasts| format!("for={}s", lasts.as_secs_f64())));
    parts.extend(spec.price.map(|price| format!("price={price}")));
    parts.join("&")
}

fn shown(client: &Client, path: &str) -> Result<(), CliError> {
    print::json(&format!("{:#}\n", client.json("GET", path)?))
}

/// Prints each event until the server ends.
fn events(response: Response) -> Result<(), CliError> {
    for line in response.lines() {
        if let Some(event) = line?.strip_prefix("data: ") {
            print::json(&format!("{event}\n"))?;
        }
    }
    Err(CliError::Peer("the server has ended".into()))
}

/// Returns a table with one line for each stream.
fn table(streams: &Value) -> String {
    let title = ["stream", "state", "rate", "late and lost", "sender"].map(str::to_owned);
    let rows = streams["streams"].as_array().into_iter().flatten().map(row);
    let rows: Vec<[String; 5]> = std::iter::once(title).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(&widths) {
            text += &format!("{cell:<width$}  ");
        }
        text += &format!("{}\n", row[4]);
    }
    text
}

fn row(stream: &Value) -> [String; 5] {
    let text = |key: &str| printable(stream[key].as_str().unwrap_or("-")).into_owned();
    let media = &stream["media"];
    let rate = media["rate_bps"].as_f64().map_or_else(|| "-".to_owned(), bits_per_s);
    let missing = media["late"].as_u64().zip(media["lost"].as_u64());
    let missing = missing.map_or_else(|| "-".to_owned(), |(late, lost)| count(late + lost, "message"));
    [text("name"), text("state"), rate, missing, text("peer")]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn streams_have_a_line_each() {
        let media = json!({ "rate_bps": 4e6, "late": 2, "lost": 1 });
        let streams = json!({ "streams": [
            { "name": "van1", "state": "streaming", "peer": "van1 (192.0.2.9:5)", "media": media },
            { "name": "van-with-a-name", "state": "waiting" },
        ] });
        let text = "\
stream           state      rate         late and lost  sender
van1             streaming  4.00 Mbit/s  3 messages     van1 (192.0.2.9:5)
van-with-a-name  waiting    -            -              -
";
        assert_eq!(table(&streams), text);
    }

    #[test]
    fn a_link_may_have_any_name() {
        assert_eq!(escaped("wwan0"), "wwan0");
        assert_eq!(escaped("fe80::1%eth0/\u{e9}"), "fe80%3A%3A1%25eth0%2F%C3%A9");
        let parts = ["class=2", "left=5GB", "for=2h", "price=4.5"];
        let spec = LinkTariff::parse("wwan0", parts.into_iter(), "");
        assert_eq!(costs(&spec.expect("costs")), "class=2&left=5000000000&for=7200s&price=4.5");
    }

    #[test]
    fn a_sender_is_one_part_of_a_path() {
        assert!(sender("sck1-abc").is_ok() && sender("van1").is_ok());
        for wrong in ["", "a/b", "a?b", "a b", "a%2f"] {
            assert!(sender(wrong).is_err(), "{wrong}");
        }
    }
}
