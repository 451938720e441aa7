//! The API on an address that other machines reach: TLS and a token.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use nix::sys::signal::Signal;

use super::certificate::Certified;
use super::http::At;
use super::{LOOK, Served, TURN, tokens};
use crate::common::home::Home;
use crate::common::{LONG, run};
use crate::serve::Studio;

const KEYS: &str = "certificate = \"api.crt\"\ncertificate_key = \"api.key\"\nview_tokens = \"view.tokens\"\n\
                    control_tokens = \"control.tokens\"\n";

fn install(home: &Home, certified: &Certified) {
    tokens(home, "api.crt", &certified.pem());
    tokens(home, "api.key", &certified.key_pem());
}

/// A server on all addresses, its port and its authority.
fn open(name: &str) -> (Served, u16, Certified) {
    let studio = Studio::new(&format!("api-{name}"));
    let authority = Certified::authority();
    install(&studio.studio, &authority.server());
    tokens(&studio.studio, "view.tokens", LOOK);
    tokens(&studio.studio, "control.tokens", TURN);
    let served = Served::on("0.0.0.0", studio, name, KEYS);
    let At::Port(port) = served.port else { panic!("a port") };
    (served, port, authority)
}

#[test]
fn other_machines_need_tls_and_a_token() {
    let (served, port, authority) = open("tls");
    let secure = At::Secure(port, authority.der.clone());
    let (look, turn) = (format!("authorization: Bearer {LOOK}"), format!("authorization: Bearer {TURN}"));
    assert_eq!(served.port.get("/healthz").status, 0, "plain HTTP has no response");
    assert_eq!(secure.get("/healthz").status, 200);
    assert_eq!(secure.get("/v1/streams").status, 401, "no client may look without a token");
    assert_eq!(secure.asks("GET /v1/streams", &[&look]).status, 200);
    assert_eq!(secure.asks("POST /v1/streams/a/stop", &[&look]).status, 403);
    for (host, status) in [
        ("host: studio.example", 200),
        ("host: STUDIO.example:8890", 200),
        ("host: 192.0.2.7:8890", 200),
        ("host: [2001:db8::7]", 200),
        ("host: evil.example", 421),
        ("host: studio.example.evil.example", 421),
        ("host: 2001:db8::7", 421),
        ("host: [evil.example]", 421),
    ] {
        assert_eq!(secure.asks("GET /v1/streams", &[host, &look]).status, status, "{host}");
    }
    for (origin, status) in
        [("https://studio.example", 200), ("http://studio.example", 403), ("https://a.b", 403)]
    {
        let headers = ["host: studio.example", &format!("origin: {origin}"), &turn];
        assert_eq!(secure.asks("POST /v1/streams/a/start", &headers).status, status, "{origin}");
    }
}

#[test]
fn tokens_for_control_alone_let_nobody_look_without_one() {
    let studio = Studio::new("api-tls-control");
    let alone = Certified::alone();
    install(&studio.studio, &alone);
    tokens(&studio.studio, "control.tokens", TURN);
    let more = KEYS.replace("view_tokens = \"view.tokens\"\n", "");
    let served = Served::on("0.0.0.0", studio, "tlsc", &more);
    let At::Port(port) = served.port else { panic!("a port") };
    let file = |name: &str| served.studio.studio.path().join(name).display().to_string();
    let ctl = |words: &str| run(&format!("ctl https://127.0.0.1:{port} {words} --ca {}", file("api.crt")));
    ctl("streams").fails(5, &["this needs a token"]);
    ctl(&format!("streams --token {}", file("control.tokens"))).succeeds();
    let token = file("control.tokens");
    run(&format!("ctl https://localhost:{port} streams --token {token} --ca {}", file("api.crt"))).succeeds();
}

#[test]
fn a_client_verifies_the_certificate_and_a_reload_changes_it() {
    let (served, port, authority) = open("tlsr");
    let home = &served.studio.studio;
    let file = |name: &str| home.path().join(name).display().to_string();
    tokens(home, "authority.crt", &authority.pem());
    let ctl = |name: &str| {
        let (token, known) = (file("view.tokens"), file(name));
        run(&format!("ctl https://127.0.0.1:{port} streams --token {token} --ca {known}"))
    };
    ctl("authority.crt").succeeds();
    ctl("api.crt").succeeds();
    tokens(home, "other.crt", &Certified::authority().pem());
    let unknown = ["its certificate is refused (its authority is not known here): --ca FILE names"];
    ctl("other.crt").fails(5, &unknown);
    ctl("view.tokens").fails(3, &["view.tokens: it has no certificate in PEM"]);
    run(&format!("ctl http://127.0.0.1:{port} streams --ca a")).fails(2, &["--ca is for https://HOST:PORT"]);

    let other = Certified::authority();
    install(home, &other.server());
    ctl("authority.crt").succeeds();
    served.server.signal(Signal::SIGHUP);
    served.server.says("configuration read again");
    ctl("authority.crt").fails(5, &unknown);
    tokens(home, "authority.crt", &other.pem());
    ctl("authority.crt").succeeds();

    tokens(home, "api.key", &Certified::alone().key_pem());
    served.server.signal(Signal::SIGHUP);
    served.server.says("api.key: it is not the key of the certificate in ");
    ctl("authority.crt").succeeds();
}

/// A renewal that went wrong, in the same reload as another list of streams.
#[test]
fn a_reload_with_a_bad_certificate_changes_nothing() {
    let (served, port, authority) = open("tlsn");
    let home = &served.studio.studio;
    tokens(home, "authority.crt", &authority.pem());
    let file = |name: &str| home.path().join(name).display().to_string();
    let streams = || {
        let (token, known) = (file("view.tokens"), file("authority.crt"));
        run(&format!("ctl https://127.0.0.1:{port} streams --json --token {token} --ca {known}"))
    };
    let text = std::fs::read_to_string(served.studio.config()).expect("it was written");
    let more = "[streams.c]\nsenders = [\"van1\"]\noutputs = [\"{stream}-{time}.ts\"]\n";
    std::fs::write(served.studio.config(), format!("{text}{more}")).expect("it can be written");
    for wrong in ["api.key", "view.tokens"] {
        let before = std::fs::read_to_string(home.path().join(wrong)).expect("it was written");
        tokens(home, wrong, "nothing");
        // Both files are new, and only one of them is right.
        tokens(home, "control.tokens", "another-token-for-control\n");
        served.server.signal(Signal::SIGHUP);
        let line = format!("not reloaded, and everything stays as it was: {}", file(wrong));
        served.server.says(&line);
        tokens(home, wrong, &before);
        let seen = streams();
        seen.succeeds();
        let names: Vec<_> = seen.json()["streams"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["name"].clone())
            .collect();
        assert_eq!(names, ["a", "b"]);
        let ctl = |token: &str| {
            tokens(home, "mine", token);
            let known = file("authority.crt");
            run(&format!("ctl https://127.0.0.1:{port} senders --token {} --ca {known}", file("mine")))
        };
        ctl("another-token-for-control").fails(5, &["this token is not known here"]);
        ctl(TURN).succeeds();
    }
    served.server.signal(Signal::SIGHUP);
    served.server.says("configuration read again: added c");
    let all = || streams().json()["streams"].as_array().map(Vec::len);
    served.server.until("three streams", || all() == Some(3));
}

#[test]
fn a_certificate_that_cannot_be_used_has_a_line() {
    use std::os::unix::fs::PermissionsExt as _;
    let studio = Studio::new("api-tls-files");
    let home = &studio.studio;
    studio.write_with(&["a"], &format!("[api]\nlisten = \"0.0.0.0:0\"\n{KEYS}"));
    tokens(home, "view.tokens", LOOK);
    tokens(home, "control.tokens", TURN);
    let config = studio.config().display().to_string();
    let check = |words: &str| home.run(&format!("serve {config} --check")).fails(2, &[words]);
    check("cannot read ");
    let (alone, other) = (Certified::alone(), Certified::alone());
    for (certificate, key, words) in [
        (String::new(), other.key_pem(), "api.crt: it has no certificate in PEM"),
        (alone.pem().replace("\nM", "\n*"), other.key_pem(), "api.crt: it has no certificate in PEM"),
        (alone.pem().replace("\nM", "\nA"), other.key_pem(), "api.crt: its first certificate is broken"),
        (alone.pem(), alone.pem(), "api.key: it has no private key in PEM"),
        (alone.pem(), other.key_pem(), "api.key: it is not the key of the certificate in "),
        (alone.pem(), alone.key_pem().replace("\nM", "\nA"), "api.key: this key cannot be used"),
    ] {
        tokens(home, "api.crt", &certificate);
        tokens(home, "api.key", &key);
        check(words);
    }
    install(home, &alone);
    let path = home.path().join("api.key");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("it is there");
    check("api.key: other users can read this key: chmod o= ");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("it is there");
    home.run(&format!("serve {config} --check")).succeeds();
}

/// Clients that begin handshakes and never end them: the oldest give way, and others need not wait for their end.
#[test]
fn half_open_handshakes_keep_nobody_out() {
    let (served, port, authority) = open("tlsh");
    let before = served.server.resident();
    // The header of a record that announces more than follows.
    let begun = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];
    let mut half: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
            stream.set_read_timeout(Some(LONG)).expect("it is open");
            let _ = stream.write_all(&begun);
            stream
        })
        .collect();
    assert_eq!(At::Secure(port, authority.der.clone()).get("/healthz").status, 200);
    // The server closes them: the first ones for the last ones, and these once their time is over.
    for stream in &mut half {
        let mut rest = Vec::new();
        let end = stream.read_to_end(&mut rest).map_err(|error| error.kind());
        assert!(matches!(end, Ok(_) | Err(std::io::ErrorKind::ConnectionReset)), "{end:?}");
        assert!(rest.is_empty());
    }
    let more = served.server.resident().saturating_sub(before);
    assert!(more < 16 << 20, "{more} bytes for handshakes");
    assert_eq!(At::Secure(port, authority.der.clone()).get("/healthz").status, 200);
}
