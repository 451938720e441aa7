//! A client of an API. It sends HTTP/1.0 requests, for which the end of the connection ends the response.

mod secure;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use zeroize::Zeroizing;

use self::secure::shake_hands;
use crate::error::{Error, why};

/// Maximum time until a response begins, and maximum time between two parts of a response.
const PATIENCE: Duration = Duration::from_secs(40);
/// Maximum size of a line of a response, and maximum size of a response that is kept as a whole, in bytes.
const LONGEST: u64 = 64 << 20;

/// Reason why a request failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server needs a token that permits the request.
    #[error("{0}")]
    Token(String),
    /// The system has no file with the certificates of authorities, and the client was given none.
    #[error("this system has no file of authorities")]
    NoAuthorities,
    /// The client was given the certificate of an authority, but its address has no TLS.
    #[error("a certificate is for https://HOST:PORT, but the address is {0}")]
    NotSecure(String),
    /// Nothing listens at the place of the API.
    #[error("no API at {place}: {why}")]
    Unreachable {
        /// Path of the socket, or `HOST:PORT`.
        place: String,
        /// Reason that the system gives.
        why: String,
    },
    /// The certificate of the server is refused.
    #[error("{address}: its certificate is refused ({why})")]
    Certificate {
        /// Address of the server.
        address: String,
        /// Reason of the refusal.
        why: String,
    },
    /// Any other reason.
    #[error(transparent)]
    Other(#[from] Error),
}

/// A client of an API. Its calls block the thread.
#[derive(Debug)]
pub struct Client {
    place: Place,
    /// File with the server's certificate, or with the certificate of its authority.
    authority: Option<PathBuf>,
    token: Option<Zeroizing<String>>,
}

/// Place of an API.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Socket(PathBuf),
    /// `HOST:PORT`.
    Address(String),
    /// `HOST:PORT`, with TLS.
    Secure(String),
}

/// A response that has begun.
pub struct Response(BufReader<Box<dyn Read + Send>>);

impl Client {
    /// Makes a client of the API at this address: the path of a socket, `http://HOST:PORT` or `https://HOST:PORT`.
    /// `authority` is a file with the server's certificate, or with the certificate of its authority. `token` is a file
    /// whose first line that is neither empty nor a comment is a token.
    ///
    /// # Errors
    /// Returns [`ClientError::NotSecure`] if an authority is given without need. Returns [`Error::Usage`] if the address
    /// is wrong, or a token would be sent to another machine over HTTP, and [`Error::Store`] if the token cannot be read.
    pub fn of(address: &str, authority: Option<&Path>, token: Option<&Path>) -> Result<Client, ClientError> {
        let (place, token) = (place(address)?, token.map(read_token).transpose()?);
        if let (Place::Address(host), Some(_)) = (&place, &token)
            && !is_this_machine(host)
        {
            let why = "a token would be readable in transit: write https://HOST:PORT";
            return Err(Error::Usage(format!("{address}: {why}")).into());
        }
        if authority.is_some() && !matches!(place, Place::Secure(_)) {
            return Err(ClientError::NotSecure(address.to_owned()));
        }
        Ok(Client { place, authority: authority.map(Path::to_owned), token })
    }

    /// Sends a request. Returns the response if the server reports success.
    ///
    /// # Errors
    /// Returns [`ClientError::Token`] if the request needs another token. Returns [`ClientError::Unreachable`] if nothing
    /// listens. Returns [`Error::Peer`] if the server refuses the request or closes the connection early. Returns
    /// [`Error::Usage`] if there is no such stream, or the stream does not permit this change.
    pub fn ask(&self, method: &str, path: &str) -> Result<Response, ClientError> {
        let (mut stream, host) = self.connect()?;
        let token = self.token.as_ref().map(|token| format!("authorization: Bearer {}\r\n", token.as_str()));
        let token = Zeroizing::new(token.unwrap_or_default());
        let request = format!("{method} {path} HTTP/1.0\r\nhost: {host}\r\n{}\r\n", token.as_str());
        let request = Zeroizing::new(request);
        stream.write_all(request.as_bytes()).map_err(broke_off)?;
        let mut response = BufReader::new(stream as Box<dyn Read + Send>);
        let status = head(&mut response)?;
        let response = Response(response);
        match status {
            200 => Ok(response),
            _ => Err(refused(status, &response.text()?)),
        }
    }

    /// Reads the JSON value of a response.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn json(&self, method: &str, path: &str) -> Result<Value, ClientError> {
        let text = self.ask(method, path)?.text()?;
        serde_json::from_str(&text).map_err(|_| Error::Peer("the response is not JSON".into()).into())
    }

    fn connect(&self) -> Result<(Box<dyn Stream>, &str), ClientError> {
        let cannot = |place: &dyn std::fmt::Display, error: io::Error| ClientError::Unreachable {
            place: place.to_string(),
            why: why(&error),
        };
        let (stream, host): (Box<dyn Stream>, _) = match &self.place {
            Place::Socket(path) => {
                let stream = UnixStream::connect(path).map_err(|error| cannot(&path.display(), error))?;
                stream.set_read_timeout(Some(PATIENCE)).map_err(broke_off)?;
                (Box::new(stream), "localhost")
            }
            Place::Address(address) | Place::Secure(address) => {
                let stream = TcpStream::connect(address).map_err(|error| cannot(address, error))?;
                stream.set_read_timeout(Some(PATIENCE)).map_err(broke_off)?;
                match self.place {
                    Place::Secure(_) => {
                        let stream = shake_hands(stream, address, self.authority.as_deref())?;
                        (Box::new(stream), address.as_str())
                    }
                    _ => (Box::new(stream), address.as_str()),
                }
            }
        };
        Ok((stream, host))
    }
}

trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

impl Response {
    /// Reads the rest of the response.
    ///
    /// # Errors
    /// Returns [`Error::Peer`] if the response ends early or is not text.
    pub fn text(self) -> Result<String, Error> {
        let mut text = String::new();
        self.0.take(LONGEST).read_to_string(&mut text).map_err(broke_off)?;
        Ok(text)
    }

    /// Returns each line of the response when the line arrives.
    pub fn lines(self) -> impl Iterator<Item = Result<String, Error>> {
        self.0.lines().map(|line| line.map_err(broke_off))
    }
}

/// Reads the head of a response, and returns its status.
fn head(response: &mut impl BufRead) -> Result<u16, Error> {
    let mut status = None;
    // The head of a response is at most this long.
    let mut head = response.take(64 << 10);
    loop {
        let mut line = String::new();
        if head.read_line(&mut line).map_err(broke_off)? == 0 {
            return Err(Error::Peer("the response breaks off".into()));
        }
        match (status, line.trim_end()) {
            (Some(status), "") => return Ok(status),
            (Some(_), _) => {}
            (None, first) => {
                let number = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
                status = Some(number.ok_or_else(|| Error::Peer("the response is not HTTP".into()))?);
            }
        }
    }
}

/// Returns the error for a refused request.
fn refused(status: u16, text: &str) -> ClientError {
    let error: Value = serde_json::from_str(text).unwrap_or_default();
    let line = match error["error"].as_str() {
        Some(line) => strandcast_keys::text::printable(line).into_owned(),
        None => format!("the response has status {status}"),
    };
    match status {
        404 | 409 => Error::Usage(line).into(),
        401 | 403 => ClientError::Token(line),
        _ => Error::Peer(line).into(),
    }
}

fn broke_off(error: io::Error) -> Error {
    Error::Peer(format!("the API broke off: {}", why(&error)))
}

/// Parses the address of an API.
fn place(address: &str) -> Result<Place, Error> {
    let wrong = |why: &str| Error::Usage(format!("{address}: {why}"));
    match address.split_once("://") {
        None => Ok(Place::Socket(address.into())),
        Some((scheme @ ("http" | "https"), rest)) => {
            let host = rest.strip_suffix('/').unwrap_or(rest);
            let port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
            match port && !host.contains(['/', '@', '?', '#']) {
                true if scheme == "https" => Ok(Place::Secure(host.to_owned())),
                true => Ok(Place::Address(host.to_owned())),
                false => Err(wrong(&format!("write {scheme}://HOST:PORT"))),
            }
        }
        Some(_) => Err(wrong("write the path of a socket, http://HOST:PORT or https://HOST:PORT")),
    }
}

/// Returns whether `HOST:PORT` names this machine.
fn is_this_machine(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Reads the first token of a file.
fn read_token(path: &Path) -> Result<Zeroizing<String>, Error> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map(Zeroizing::new);
    let text = text.map_err(|error| Error::Store(format!("cannot read {name}: {}", why(&error))))?;
    let token = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    match token.filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic())) {
        Some(token) => Ok(Zeroizing::new(token.to_owned())),
        None => Err(Error::Store(format!("{name} has no token in its first line"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_path_or_a_url() {
        assert_eq!(place("serve.sock").expect("a path"), Place::Socket("serve.sock".into()));
        for url in ["http://127.0.0.1:8890", "http://127.0.0.1:8890/"] {
            assert_eq!(place(url).expect("a URL"), Place::Address("127.0.0.1:8890".into()));
        }
        assert_eq!(place("https://[::1]:8890/").expect("a URL"), Place::Secure("[::1]:8890".into()));
        for wrong in [
            "https://studio",
            "http://127.0.0.1",
            "http://a:b@c:80",
            "http://a:80/v1",
            "ftp://a:80",
            "http://",
        ] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_head_has_a_status() {
        let status = |text: &str| head(&mut text.as_bytes());
        assert_eq!(status("HTTP/1.0 409 Conflict\r\nx: y\r\n\r\nbody").expect("a head"), 409);
        for wrong in
            ["", "HTTP/1.0 200 OK\r\n", "HTTP/2 200\r\n\r\n", "220 mail\r\n\r\n", "HTTP/1.\u{e9}\u{e9}0\r\n"]
        {
            assert!(status(wrong).is_err(), "{wrong:?}");
        }
    }
}
