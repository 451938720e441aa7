//! Requests about a link: its name, and its costs.

use hyper::{Response, StatusCode};

use super::body::{Body, refusal};
use crate::live::tariff::LinkTariff;

/// Returns the name of a link from a part of the URL's path. The part may contain escaped bytes (RFC 3986 §2.1).
pub(super) fn link(part: &str) -> Result<String, Box<Response<Body>>> {
    decoded(part).ok_or_else(|| {
        Box::new(refusal(StatusCode::BAD_REQUEST, "the name of the link is not escaped as RFC 3986 says"))
    })
}

/// Keys of a query with costs.
const KEYS: &str = "class=N, left=SIZE, for=TIME, month=SIZE, day=N or price=N, separated by &";

/// Parses the costs of a link in a query.
pub(super) fn tariff(link: &str, query: Option<&str>) -> Result<LinkTariff, Box<Response<Body>>> {
    let given = query.unwrap_or_default().split('&').filter(|part| !part.is_empty());
    LinkTariff::parse(link, given, KEYS).map_err(|why| Box::new(refusal(StatusCode::BAD_REQUEST, &why)))
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut half = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
                let (high, low) = (half()?, half()?);
                u8::try_from(high << 4 | low).ok()?
            }
            other => other,
        });
    }
    // The name of a link never contains control characters.
    String::from_utf8(bytes).ok().filter(|name| !name.contains(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_decoded_once() {
        for (text, name) in [("wwan0", "wwan0"), ("fe80%3A%3A1%25eth0", "fe80::1%eth0"), ("%2541", "%41")] {
            assert_eq!(decoded(text).as_deref(), Some(name));
        }
        for wrong in ["%", "%4", "%zz", "%ff", "%1b[2J", "%00"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn costs_have_the_keys_of_the_option() {
        let costs = tariff("wwan0", Some("class=2&left=5GB&for=30d&price=4.5")).expect("they are costs");
        assert_eq!((costs.link.as_str(), costs.class, costs.price), ("wwan0", 2, Some(4.5)));
        assert_eq!(costs.left, Some(5_000_000_000));
        assert_eq!(tariff("a,b=c", None).expect("none"), LinkTariff::new("a,b=c"));
        for wrong in ["class=x", "class=1&class=2", "if=other", "left", "left=5%20GB"] {
            assert_eq!(tariff("a", Some(wrong)).expect_err(wrong).status(), StatusCode::BAD_REQUEST);
        }
    }
}
