//! A client that sends any bytes, and reads a response as it comes.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};

use super::certificate;
use crate::common::LONG;

/// Place of an API.
#[derive(Clone, Debug)]
pub enum At {
    Socket(PathBuf),
    Port(u16),
    /// With TLS, and this authority.
    Secure(u16, CertificateDer<'static>),
}

/// A connection.
pub trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl At {
    pub fn connect(&self) -> std::io::Result<Box<dyn Stream>> {
        Ok(match self {
            At::Socket(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(LONG))?;
                Box::new(stream)
            }
            At::Port(port) => {
                let stream = TcpStream::connect(("127.0.0.1", *port))?;
                stream.set_read_timeout(Some(LONG))?;
                stream.set_write_timeout(Some(Duration::from_secs(1)))?;
                Box::new(stream)
            }
            At::Secure(port, authority) => {
                let stream = TcpStream::connect(("127.0.0.1", *port))?;
                stream.set_read_timeout(Some(LONG))?;
                Box::new(certificate::shake_hands(stream, authority)?)
            }
        })
    }

    /// Sends these bytes and reads until the end of the connection.
    pub fn raw(&self, bytes: &[u8]) -> Response {
        let mut stream = self.connect().expect("it listens");
        // A server may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        rest(&mut *stream)
    }

    /// A request of HTTP/1.1 with these headers.
    pub fn asks(&self, request: &str, headers: &[&str]) -> Response {
        let host = if headers.iter().any(|header| header.to_lowercase().starts_with("host:")) {
            String::new()
        } else {
            "host: localhost\r\n".to_owned()
        };
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        self.raw(format!("{request} HTTP/1.1\r\n{host}connection: close\r\n{headers}\r\n").as_bytes())
    }

    pub fn get(&self, path: &str) -> Response {
        self.asks(&format!("GET {path}"), &[])
    }

    /// The value that a path has.
    pub fn json(&self, path: &str) -> serde_json::Value {
        let response = self.get(path);
        serde_json::from_str(&response.body).unwrap_or_else(|_| panic!("{response:?}"))
    }
}

/// The response until the end of the connection.
pub fn rest(stream: &mut dyn Stream) -> Response {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        // It was closed with bytes that it has not read.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("no end of the response: {error}: {:?}", String::from_utf8_lossy(&bytes)),
    }
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Response { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// Status and body of a request that changes something.
pub fn post(at: &At, path: &str) -> (u16, Value) {
    let response = at.asks(&format!("POST {path}"), &["content-length: 0"]);
    (response.status, serde_json::from_str(&response.body).unwrap_or_else(|_| panic!("{response:?}")))
}

#[track_caller]
pub fn done(at: &At, path: &str) {
    assert_eq!(post(at, path), (200, json!({ "done": true })), "{path}");
}
