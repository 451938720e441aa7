//! Options of commands with one stream that show it over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Place of an API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApiPlace {
    /// An address of this machine.
    Address(SocketAddr),
    /// A Unix socket.
    Socket(PathBuf),
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ApiArgs {
    /// Show the stream over HTTP: at an address of this machine, where every user may look, or on a socket that only this
    /// user can open (docs/operate/api.md)
    #[arg(long, value_name = "127.0.0.1:PORT|unix:PATH", value_parser = place)]
    pub(crate) api: Option<ApiPlace>,
    /// Show the stream to a browser of this machine, at the address that is printed: a free port, or the one of --api
    /// (docs/operate/page.md)
    #[arg(long)]
    pub(crate) page: bool,
}

impl ApiArgs {
    /// Returns whether there is an API.
    pub(crate) fn is_on(&self) -> bool {
        self.page || self.api.is_some()
    }
}

fn place(text: &str) -> Result<ApiPlace, String> {
    if let Some(path) = text.strip_prefix("unix:") {
        return match path {
            "" => Err("unix: has no path: write unix:PATH".to_owned()),
            path => Ok(ApiPlace::Socket(path.into())),
        };
    }
    let address: SocketAddr = text
        .parse()
        .map_err(|_| format!("{text} is no address and port: write 127.0.0.1:8890 or unix:PATH"))?;
    match address.ip().is_loopback() {
        true => Ok(ApiPlace::Address(address)),
        false => Err(format!(
            "other machines reach {address}: write 127.0.0.1:{}, and use a tunnel or `strandcast serve` with TLS",
            address.port()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_of_this_machine() {
        let socket = |path: &str| Ok(ApiPlace::Socket(path.into()));
        assert_eq!(place("unix:/run/x.sock"), socket("/run/x.sock"));
        assert_eq!(place("unix:x"), socket("x"));
        for own in ["127.0.0.1:8890", "[::1]:0", "127.1.2.3:1"] {
            assert_eq!(place(own), Ok(ApiPlace::Address(own.parse().expect("an address"))));
        }
        for (wrong, words) in [
            ("unix:", "has no path"),
            ("8890", "is no address and port"),
            ("localhost:8890", "write 127.0.0.1:8890"),
            ("x.sock", "unix:PATH"),
            ("0.0.0.0:8890", "other machines reach 0.0.0.0:8890: write 127.0.0.1:8890"),
            ("192.0.2.1:80", "other machines"),
        ] {
            assert!(place(wrong).is_err_and(|why| why.contains(words)), "{wrong}");
        }
    }
}
