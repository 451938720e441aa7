//! Checks that a request must pass before the server looks for its route. They check the host name in the request, and
//! the web site whose page made a browser send the request.

use std::net::{IpAddr, Ipv6Addr};

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::{Method, Request, StatusCode};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;

/// The listener through which a request came.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// The Unix socket. Each user who can open the socket may use every route.
    Socket,
    /// An address.
    Address { names: Names, scheme: &'static str },
}

/// Host names under which a browser may use an address.
#[derive(Clone, Debug)]
pub(super) enum Names {
    These(Vec<String>),
    /// Names of this certificate, names of this machine, and every IP address. An IP address is safe: another site can
    /// make its own host name resolve to this machine, but it cannot do so with an address.
    Certificate(CertificateDer<'static>),
}

impl Names {
    fn has(&self, name: &str) -> bool {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        match self {
            Names::These(names) => names.iter().any(|known| is(known)),
            Names::Certificate(certificate) => {
                LOCAL.into_iter().any(is) || is_address(name) || names(certificate, name)
            }
        }
    }

    fn remedy(&self) -> String {
        match self {
            Names::These(names) => format!("use {}", names.join(", ")),
            Names::Certificate(_) => "use one of its certificate".to_owned(),
        }
    }
}

fn is_address(name: &str) -> bool {
    let within = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    within.map_or_else(
        || name.parse().is_ok_and(|ip: IpAddr| ip.is_ipv4()),
        |ip| ip.parse::<Ipv6Addr>().is_ok(),
    )
}

/// Returns whether a certificate is valid for this name.
fn names(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let (Ok(parsed), Ok(name)) = (ParsedCertificate::try_from(certificate), ServerName::try_from(name))
    else {
        return false;
    };
    verify_server_name(&parsed, &name).is_ok()
}

/// HTTP status of a refusal, and its reason.
pub(super) type Refusal = (StatusCode, String);

/// Names of this machine that no other site can take.
pub(super) const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Checks the name in `Host`, and the site from which a browser sends the request. A page of another site must not
/// change anything. A page of another site must also not make its host name resolve to this machine and then read the
/// answers (DNS rebinding).
pub(super) fn check<B>(place: &Place, request: &Request<B>) -> Result<(), Refusal> {
    let headers = request.headers();
    let Place::Address { names, scheme } = place else {
        // The socket is for programs. A browser can reach the socket only through a port that a user forwards to the
        // socket.
        let browser = headers.contains_key(ORIGIN) || headers.contains_key("sec-fetch-site");
        let why = "a browser cannot use the socket: set listen".to_owned();
        return if browser { Err((StatusCode::FORBIDDEN, why)) } else { Ok(()) };
    };
    let host = only(headers, HOST.as_str())?
        .ok_or((StatusCode::BAD_REQUEST, "the request has no header Host".to_owned()))?;
    let named = |host: &str| name_of(host).is_some_and(|name| names.has(name));
    if !named(host) || request.uri().authority().is_some_and(|authority| !named(authority.as_str())) {
        let why = format!("the host name of the request does not belong to this server: {}", names.remedy());
        return Err((StatusCode::MISDIRECTED_REQUEST, why));
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let elsewhere = (StatusCode::FORBIDDEN, "the request comes from a page of another site".to_owned());
    match only(headers, "sec-fetch-site")? {
        None | Some("same-origin" | "none") => {}
        // A user follows a link from another site. A frame in a page of another site is still refused.
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

/// Returns the value of a header that a request may contain only once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let refused = |what| (StatusCode::BAD_REQUEST, format!("the header {name} {what}"));
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(refused("is there twice")),
        (value, None) => value.map(|value| value.to_str().map_err(|_| refused("is not ASCII"))).transpose(),
    }
}

/// Returns the name in `NAME` or `NAME:PORT`. Any port is accepted, because a tunnel may have a different port.
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
        let place = Place::Address { names: Names::These(LOCAL.map(str::to_owned).to_vec()), scheme: "http" };
        let mut request = Request::builder().method(method).uri("/v1/streams");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check(&place, &request.body(()).expect("it is well formed")).err().map(|(status, _)| status.as_u16())
    }

    /// If a user forwarded a port to the socket, every page in a browser could control the server.
    #[test]
    fn a_browser_cannot_use_the_socket() {
        let asked = |header: &str| {
            check(
                &Place::Socket,
                &Request::post("/v1/reload").header(header, "same-origin").body(()).unwrap(),
            )
        };
        for header in ["origin", "sec-fetch-site"] {
            assert_eq!(asked(header).map_err(|(status, _)| status.as_u16()), Err(403), "{header}");
        }
        assert_eq!(asked("user-agent"), Ok(()));
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
