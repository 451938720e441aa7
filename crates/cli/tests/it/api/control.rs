//! Changes by the API.

use std::io::Read as _;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::http::{done, post};
use super::{LOOK, Served, TURN, tokens};
use crate::common::seconds;
use crate::serve::Studio;

#[test]
fn a_stream_that_is_stopped_refuses_its_senders_until_it_is_started() {
    let served = Served::start("stop", "");
    let socket = &served.socket;
    let (clip, media) = seconds(1, "api-stop.ts");
    let van = &served.studio.van;
    let send =
        |name: &str| van.run(&format!("send {} @studio --latency 500 --stream {name}", clip.display()));
    done(socket, "/v1/streams/a/stop");
    assert_eq!(socket.json("/v1/streams/a")["state"], "stopped");
    served.server.says("a: stopped by request");
    send("a").fails(5, &["the stream is stopped"]);
    served.server.says("refused: the stream is stopped");
    send("b").succeeds();
    // A reload starts nothing that a person has stopped.
    served.server.signal(Signal::SIGHUP);
    served.server.says("configuration read again: nothing has changed");
    assert_eq!(socket.json("/v1/streams/a")["state"], "stopped");
    done(socket, "/v1/streams/a/stop");
    done(socket, "/v1/streams/a/start");
    done(socket, "/v1/streams/a/start");
    assert_eq!(socket.json("/v1/streams/a")["state"], "waiting");
    send("a").succeeds();
    served.server.until("a recording", || served.studio.recorded("a") == [media.clone()]);
    assert_eq!(post(socket, "/v1/streams/c/stop").0, 404);
    served.server.signal(Signal::SIGTERM);
    served.server.end().succeeds();
}

#[test]
fn an_output_that_is_stopped_gets_nothing_until_it_is_started() {
    let served = Served::start("output", "");
    let (socket, studio) = (&served.socket, &served.studio);
    let (clip, media) = seconds(1, "api-output.ts");
    let send = || studio.van.run(&format!("send {} @studio --latency 500 --stream a", clip.display()));
    let stopped = || socket.json("/v1/streams/a")["outputs"][0]["stopped"] == true;
    served.server.until("its outputs", || socket.json("/v1/streams/a")["outputs"][0]["name"].is_string());
    done(socket, "/v1/streams/a/outputs/0/stop");
    served.server.until("its end", stopped);
    send().succeeds();
    served.server.until("the end", || socket.json("/v1/streams/a")["state"] == "waiting");
    assert!(studio.recorded("a").is_empty());
    done(socket, "/v1/streams/a/outputs/0/start");
    served.server.until("its start", || !stopped());
    send().succeeds();
    served.server.until("a recording", || studio.recorded("a") == [media.clone()]);
    let (status, error) = post(socket, "/v1/streams/a/outputs/1/stop");
    assert_eq!(status, 409);
    assert!(error["error"].as_str().is_some_and(|line| line.contains("a has no output 1")), "{error}");
    assert_eq!(post(socket, "/v1/streams/a/outputs/x/stop").0, 404);
    done(socket, "/v1/streams/a/stop");
    let (status, error) = post(socket, "/v1/streams/a/outputs/0/stop");
    assert_eq!(status, 409);
    assert!(error["error"].as_str().is_some_and(|line| line.contains("is stopped")), "{error}");
}

#[test]
fn senders_are_revoked_and_allowed_again() {
    let served = Served::start("senders", "");
    let (socket, van) = (&served.socket, &served.studio.van);
    let (clip, _) = seconds(1, "api-senders.ts");
    let send = || van.run(&format!("send {} @studio --latency 500 --stream a", clip.display()));
    let senders = socket.json("/v1/senders");
    assert_eq!(
        (&senders["senders"][0]["name"], &senders["senders"][0]["revoked"]),
        (&"van1".into(), &false.into())
    );
    done(socket, "/v1/senders/van1/revoke");
    served.server.until("a refusal", || send().code == Some(5));
    assert_eq!(socket.json("/v1/senders")["senders"][0]["revoked"], true);
    done(socket, "/v1/senders/van1/allow?as=van1");
    served.server.until("a stream", || send().code == Some(0));
    for path in ["/v1/senders/van9/revoke", "/v1/senders/van9/allow", "/v1/senders/van1/allow?as=a%20b"] {
        assert_eq!(post(socket, path).0, 409, "{path}");
    }
    assert_eq!(socket.json("/v1/senders")["senders"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_reload_returns_the_difference_or_the_reason() {
    let served = Served::start("reload", "");
    let text = std::fs::read_to_string(served.studio.config()).expect("it was written");
    let third = "[streams.c]\nsenders = [\"van1\"]\noutputs = [\"{stream}-{time}.ts\"]\n";
    std::fs::write(served.studio.config(), format!("{text}{third}")).expect("it can be written");
    let (status, changes) = post(&served.socket, "/v1/reload");
    assert_eq!((status, &changes["added"]), (200, &json!(["c"])));
    assert_eq!(served.socket.json("/v1/streams/c")["state"], "waiting");
    std::fs::write(served.studio.config(), format!("{text}outpts = 1\n")).expect("it can be written");
    let (status, error) = post(&served.socket, "/v1/reload");
    assert_eq!(status, 409);
    assert!(error["error"].as_str().is_some_and(|line| line.contains("did you mean outputs?")), "{error}");
}

#[test]
fn control_needs_its_own_token_and_a_page_of_this_site() {
    let studio = Studio::new("api-control");
    tokens(&studio.studio, "view.tokens", LOOK);
    tokens(&studio.studio, "control.tokens", TURN);
    let more = "view_tokens = \"view.tokens\"\ncontrol_tokens = \"control.tokens\"\n";
    let served = Served::of(studio, "control", more);
    let (look, turn) = (format!("authorization: Bearer {LOOK}"), format!("authorization: Bearer {TURN}"));
    for (headers, status) in [
        (vec![], 401),
        (vec![look.as_str()], 403),
        (vec!["authorization: Bearer turn-the-streams-of"], 401),
        (vec![&turn, "origin: http://evil.example"], 403),
        (vec![&turn, "origin: null"], 403),
        (vec![&turn, "sec-fetch-site: cross-site", "sec-fetch-mode: navigate"], 403),
        (vec![&turn, "host: evil.example"], 421),
        (vec![&turn, "host: localhost:8890", "origin: http://localhost:8890"], 200),
        (vec![&turn], 200),
    ] {
        let got = served.port.asks("POST /v1/streams/a/stop", &headers);
        assert_eq!(got.status, status, "{headers:?}: {got:?}");
        assert_eq!(served.socket.json("/v1/streams/a")["state"] == "stopped", status == 200, "{headers:?}");
    }
}

#[test]
fn without_tokens_the_port_only_shows() {
    let served = Served::start("looks", "");
    assert_eq!(served.port.get("/v1/streams").status, 200);
    for path in ["/v1/streams/a/stop", "/v1/reload", "/v1/senders/van1/revoke"] {
        assert_eq!(post(&served.port, path).0, 401, "{path}");
    }
    assert_eq!(served.port.get("/v1/senders").status, 401);
}

/// Reads until the stream of events has `words`.
fn until(stream: &mut dyn super::http::Stream, words: &str) -> String {
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    while !text.contains(words) {
        let length = stream.read(&mut piece).expect("it comes in time");
        assert!(length > 0, "the end, without {words:?}: {text}");
        text += &String::from_utf8_lossy(&piece[..length]);
    }
    text
}

#[test]
fn events_come_as_they_happen() {
    let served = Served::start("events", "");
    let mut events = served.port.connect().expect("it listens");
    std::io::Write::write_all(&mut events, b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .expect("it is open");
    let head = until(&mut *events, "retry: 1000\n\n").to_lowercase();
    assert!(head.starts_with("http/1.1 200") && head.contains("content-type: text/event-stream"), "{head}");
    done(&served.socket, "/v1/streams/a/stop");
    let text = until(&mut *events, "\n\n");
    let line = text.lines().find_map(|line| line.strip_prefix("data: ")).expect("a line of data");
    let event: Value = serde_json::from_str(line).expect("JSON");
    assert_eq!((&event["event"], &event["name"]), (&"stopped".into(), &"a".into()), "{event}");
    assert_eq!(event["text"], "a: stopped by request");
    served.server.signal(Signal::SIGTERM);
    served.server.end().succeeds();
    let mut rest = Vec::new();
    let _ = events.read_to_end(&mut rest);
}
