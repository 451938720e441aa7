//! The API of `serve`, by bytes over its socket and its port.

mod attacks;
mod certificate;
mod control;
mod ctl;
mod http;
mod media;
mod one;
mod page;
mod tls;
mod views;

use std::path::PathBuf;

use self::http::At;
use crate::common::Running;
use crate::common::home::Home;
use crate::serve::Studio;

/// A token that may look, and one that may do everything.
pub const LOOK: &str = "look-at-the-streams";
pub const TURN: &str = "turn-the-streams-off";

/// A server with an API.
pub struct Served {
    pub studio: Studio,
    pub server: Running,
    pub socket: At,
    pub port: At,
    _left: Left,
}

/// The socket of a server that a test ends without its farewell. Dropping this removes it.
struct Left(PathBuf);

impl Drop for Left {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A short path for a socket: those of tests are longer than the system's limit.
fn socket(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("sc-{name}-{}.sock", std::process::id()))
}

/// Writes tokens that only their owner can read.
fn tokens(home: &Home, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = home.path().join(name);
    std::fs::write(&path, text).expect("it can be written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("it is there");
}

impl Served {
    /// A server of the streams `a` and `b`, with more keys in `[api]`.
    pub fn start(name: &str, more: &str) -> Served {
        let studio = Studio::new(&format!("api-{name}"));
        Served::of(studio, name, more)
    }

    pub fn of(studio: Studio, name: &str, more: &str) -> Served {
        Served::on("127.0.0.1", studio, name, more)
    }

    /// As [`Served::of`], on this IP address.
    pub fn on(address: &str, studio: Studio, name: &str, more: &str) -> Served {
        let path = socket(name);
        let api =
            format!("[api]\nsocket = {:?}\nlisten = \"{address}:0\"\n{more}", path.display().to_string());
        studio.write_with(&["a", "b"], &api);
        let server = studio.serve("");
        server.says("API on ");
        let said = server.said();
        let port = said
            .split("API on ")
            .nth(1)
            .and_then(|said| said.split(&format!("://{address}:")).nth(1))
            .expect("it names its port");
        let port: String = port.chars().take_while(char::is_ascii_digit).collect();
        let port = At::Port(port.parse().expect("a port"));
        let served = Served { studio, server, socket: At::Socket(path.clone()), port, _left: Left(path) };
        served.server.until("a snapshot", || served.socket.get("/readyz").status == 200);
        served
    }
}
