//! Checks of a request before its route: the name by which it came, and the site that caused it.

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::{Method, Request, StatusCode};

/// Way by which a request came.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// The Unix socket. Who may open it may do everything.
    Socket,
    /// An address, with the names by which it may be called.
    Address { hosts: Vec<String>, scheme: &'static str },
}

/// Status and reason of a refusal.
pub(super) type Refusal = (StatusCode, String);

/// Names of this machine that no other site can take.
pub(super) const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Checks the name in `Host`, and the site from which a browser sends the request. A page of another site may neither
/// change anything nor rebind its name to this machine and read the answers.
pub(super) fn check<B>(place: &Place, request: &Request<B>) -> Result<(), Refusal> {
    let Place::Address { hosts, scheme } = place else { return Ok(()) };
    let headers = request.headers();
    let host = only(headers, HOST.as_str())?
        .ok_or((StatusCode::BAD_REQUEST, "the request has no header Host".to_owned()))?;
    let named = |host: &str| {
        let name = name_of(host);
        name.is_some_and(|name| hosts.iter().any(|known| known.eq_ignore_ascii_case(name)))
    };
    if !named(host) || request.uri().authority().is_some_and(|authority| !named(authority.as_str())) {
        let why = format!("this server has another name: use {}", hosts.join(", "));
        return Err((StatusCode::MISDIRECTED_REQUEST, why));
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let elsewhere = (StatusCode::FORBIDDEN, "the request comes from a page of another site".to_owned());
    match only(headers, "sec-fetch-site")? {
        None | Some("same-origin" | "none") => {}
        // Somebody follows a link; a frame of another page does not count.
        Some(_)
            if reads
                && only(headers, "sec-fetch-mode")? == Some("navigate")
                && only(headers, "sec-fetch-dest")? == Some("document") => {}
        Some(_) => return Err(elsewhere),
    }
    match only(headers, ORIGIN.as_str())? {
        Some(origin) if !origin.eq_ignore_ascii_case(&format!("{scheme}://{host}")) => Err(elsewhere),
        _ => Ok(()),
    }
}

/// The header `Authorization`.
pub(super) fn authorization(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(AUTHORIZATION).map(HeaderValue::as_bytes)
}

/// Returns whether the script of a page sends the request.
pub(super) fn is_script(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-mode").is_some_and(|mode| mode != "navigate")
}

/// The value of a header that a request may have once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let refused = |what| (StatusCode::BAD_REQUEST, format!("the header {name} {what}"));
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(refused("is there twice")),
        (value, None) => value.map(|value| value.to_str().map_err(|_| refused("is not ASCII"))).transpose(),
    }
}

/// The name in `NAME` or `NAME:PORT`. The port may be the one of a tunnel.
fn name_of(host: &str) -> Option<&str> {
    let (name, port) = match host.rfind(']') {
        Some(end) => host.split_at(end + 1),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    match port.strip_prefix(':') {
        None => port.is_empty().then_some(name),
        Some(digits) => digits.parse::<u16>().is_ok().then_some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: &str, headers: &[(&str, &str)]) -> Option<u16> {
        let place = Place::Address { hosts: LOCAL.map(str::to_owned).to_vec(), scheme: "http" };
        let mut request = Request::builder().method(method).uri("/v1/streams");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check(&place, &request.body(()).expect("it is well formed")).err().map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_names_of_this_machine_are_served() {
        for host in ["localhost", "LOCALHOST:8890", "127.0.0.1:8890", "[::1]", "[::1]:80"] {
            assert_eq!(status("GET", &[("host", host)]), None, "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example:8890", "127.0.0.1:80:90", "[::1]x", "127.0.0.1.evil", ""]
        {
            assert_eq!(status("GET", &[("host", host)]), Some(421), "{host}");
        }
        assert_eq!(status("GET", &[]), Some(400));
        assert_eq!(status("GET", &[("host", "localhost"), ("host", "evil.example")]), Some(400));
    }

    #[test]
    fn no_page_of_another_site_changes_or_reads_anything() {
        let host = ("host", "localhost:8890");
        for (method, header, refused) in [
            ("POST", ("origin", "http://localhost:8890"), None),
            ("POST", ("origin", "http://evil.example"), Some(403)),
            ("POST", ("origin", "https://localhost:8890"), Some(403)),
            ("POST", ("origin", "http://localhost:1"), Some(403)),
            ("POST", ("origin", "null"), Some(403)),
            ("POST", ("sec-fetch-site", "cross-site"), Some(403)),
            ("POST", ("sec-fetch-site", "same-site"), Some(403)),
            ("POST", ("sec-fetch-site", "same-origin"), None),
            ("POST", ("user-agent", "curl"), None),
            ("GET", ("sec-fetch-site", "cross-site"), Some(403)),
            ("GET", ("sec-fetch-site", "none"), None),
        ] {
            assert_eq!(status(method, &[host, header]), refused, "{method} {header:?}");
        }
        let navigates = |to| {
            [host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", to)]
        };
        let follows = navigates("document");
        assert_eq!(status("GET", &follows), None);
        assert_eq!(status("GET", &navigates("iframe")), Some(403), "a frame of another site");
        assert_eq!(status("POST", &follows), Some(403), "a form of another site navigates as well");
    }
}
