//! The API under attack: each is refused or bounded, and others are served.

use std::io::{Read as _, Write as _};

use nix::sys::signal::Signal;

use super::http::rest;
use super::{LOOK, Served, TURN, tokens};
use crate::serve::Studio;

#[test]
fn a_token_has_the_rights_of_its_file_and_a_reload_changes_them() {
    let studio = Studio::new("api-tokens");
    tokens(&studio.studio, "view.tokens", &format!("# the wall\n{LOOK}\n"));
    tokens(&studio.studio, "control.tokens", TURN);
    let more = "view_tokens = \"view.tokens\"\ncontrol_tokens = \"control.tokens\"\n";
    let served = Served::of(studio, "tokens", more);
    let status = |header: &[&str]| served.port.asks("GET /v1/streams", header).status;
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&["authorization: Bearer wrong-wrong-wrong-wrong"]), 401);
    assert_eq!(status(&[&format!("authorization: Bearer {LOOK}")]), 200);
    assert_eq!(status(&[&format!("authorization: Bearer {TURN}")]), 200);
    let refused = served.port.get("/metrics");
    assert!(refused.status == 401 && refused.head.contains("www-authenticate: bearer"), "{refused:?}");
    assert_eq!(served.port.get("/healthz").status, 200, "no secret is in it");
    assert_eq!(served.socket.get("/v1/streams").status, 200, "the socket's permission is the right");

    tokens(&served.studio.studio, "view.tokens", "another-token-for-the-wall");
    served.server.signal(Signal::SIGHUP);
    served.server.says("configuration read again");
    assert_eq!(status(&[&format!("authorization: Bearer {LOOK}")]), 401);
    assert_eq!(status(&["authorization: Bearer another-token-for-the-wall"]), 200);
    tokens(&served.studio.studio, "view.tokens", "short");
    served.server.signal(Signal::SIGHUP);
    served.server.says("view.tokens:1: a token has 16 to 256 letters, digits and signs");
    assert_eq!(status(&["authorization: Bearer another-token-for-the-wall"]), 200);
}

#[test]
fn files_of_tokens_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let studio = Studio::new("api-private");
    studio.write_with(&["a"], "[api]\nlisten = \"127.0.0.1:0\"\ncontrol_tokens = \"control.tokens\"\n");
    let config = studio.config().display().to_string();
    let check = |words: &str| studio.studio.run(&format!("serve {config} --check")).fails(2, &[words]);
    check("cannot read ");
    tokens(&studio.studio, "control.tokens", "\n");
    check("control.tokens: it has no token");
    tokens(&studio.studio, "control.tokens", TURN);
    let path = studio.studio.path().join("control.tokens");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("it is there");
    check("other users can read these tokens: chmod 600 ");
    studio.write_with(&["a"], "[api]\nlisten = \"0.0.0.0:8890\"\n");
    check("serve.toml:3: listen: 0.0.0.0:8890 can be reached from other machines");
    studio.write_with(&["a"], "[api]\n");
    check("[api] has no place: add socket = ");
}

#[test]
fn a_name_that_another_site_may_have_is_refused() {
    let served = Served::start("hosts", "");
    for (header, status) in [
        ("host: evil.example", 421),
        ("host: localhost.evil.example", 421),
        ("host: 127.0.0.1.", 421),
        ("host: [::1]:99", 200),
    ] {
        assert_eq!(served.port.asks("GET /v1/streams", &[header]).status, status, "{header}");
    }
    assert_eq!(served.port.raw(b"GET /v1/streams HTTP/1.1\r\n\r\n").status, 400);
    assert_eq!(served.port.asks("GET http://evil.example/v1/streams", &[]).status, 421);
    let cross = ["origin: http://evil.example", "sec-fetch-site: cross-site", "origin: null"];
    for header in cross {
        assert_eq!(served.port.asks("GET /v1/streams", &[header]).status, 403, "{header}");
    }
}

#[test]
fn requests_are_bounded_in_size() {
    let served = Served::start("size", "");
    let many: String = (0..100).map(|number| format!("x-{number}: y\r\n")).collect();
    let long = "y".repeat(40_000);
    for (what, head, statuses) in [
        ("many headers", many.clone(), [431, 400]),
        ("a long header", format!("x: {long}\r\n"), [431, 400]),
        ("a body", "content-length: 5\r\n".to_owned(), [413, 413]),
        ("chunks", "transfer-encoding: chunked\r\n".to_owned(), [413, 413]),
    ] {
        let request =
            format!("GET /v1/streams HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{head}\r\n");
        let status = served.port.raw(request.as_bytes()).status;
        assert!(statuses.contains(&status), "{what}: {status}");
    }
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        assert!([0, 400, 505].contains(&served.port.raw(garbage).status), "{garbage:?}");
    }
    assert_eq!(served.port.get("/v1/streams").status, 200);
}

/// Clients that begin requests and never end them take all connections of the port, for a few seconds.
#[test]
fn slow_clients_are_closed_and_others_are_refused_meanwhile() {
    let served = Served::start("slow", "");
    let mut slow: Vec<_> = (0..128)
        .map(|_| {
            let mut stream = served.port.connect().expect("it listens");
            stream.write_all(b"GET /v1/streams HTTP/1.1\r\nhost: loc").expect("it is open");
            stream
        })
        .collect();
    served.server.until("a refusal", || served.port.get("/healthz").status == 503);
    assert_eq!(served.socket.get("/healthz").status, 200, "the socket has room of its own");
    // Each byte comes in time for itself, and the head does not.
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_secs(1));
        slow.iter_mut().for_each(|stream| drop(stream.write_all(b"a")));
    }
    for stream in &mut slow {
        let status = rest(&mut **stream).status;
        assert!([0, 408].contains(&status), "{status}");
    }
    served.server.until("room", || served.port.get("/healthz").status == 200);
}

#[test]
fn a_thousand_clients_of_events_are_refused_but_for_a_few() {
    let served = Served::start("many", "");
    let before = served.server.resident();
    let (mut open, mut refused) = (Vec::new(), 0);
    for _ in 0..1000 {
        let mut stream = served.port.connect().expect("it listens");
        let _ = stream.write_all(b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let mut head = [0; 12];
        match stream.read_exact(&mut head).map(|()| &head[9..]) {
            Ok(b"200") => open.push(stream),
            Ok(b"503") | Err(_) => refused += 1,
            Ok(other) => panic!("{:?}", String::from_utf8_lossy(other)),
        }
    }
    assert_eq!((open.len(), refused), (32, 968));
    assert_eq!(served.port.get("/v1/streams").status, 200, "others are served");
    let more = served.server.resident().saturating_sub(before);
    assert!(more < 16 << 20, "{more} bytes for clients");
    drop(open);
    served.server.until("room", || {
        let mut stream = served.port.connect().expect("it listens");
        let _ = stream.write_all(b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let mut head = [0; 12];
        stream.read_exact(&mut head).is_ok_and(|()| head.ends_with(b"200"))
    });
}
