//! The API of `send` and `receive`: one stream.

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use strandcast::live::api::has_page;

use super::http::{At, done, post};
use super::{Left, socket};
use crate::common::{Running, clip, file, port, run, start};

/// A sender over two links of this machine, and its receiver, each with an API on a socket.
struct Both {
    receiver: Running,
    sender: Running,
    /// Socket of the sender, and of the receiver.
    from: At,
    to: At,
    port: u16,
    _left: [Left; 2],
}

const LINKS: [&str; 2] = ["127.0.0.1", "127.0.0.2"];

impl Both {
    fn start(name: &str, more: &str) -> Both {
        let (from, to, port) = (socket(&format!("{name}-s")), socket(&format!("{name}-r")), port());
        let out = file("one.ts");
        let receive = format!("receive 127.0.0.1:{port} {} --api unix:{}", out.display(), to.display());
        let receiver = start(&receive);
        receiver.says("API on ");
        let paths = LINKS.map(|link| format!("--path bind={link}")).join(" ");
        let send = format!("send {} 127.0.0.1:{port} --loop --latency 400 {paths}", clip().display());
        let sender = start(&format!("{send} --api unix:{} {more}", from.display()));
        sender.says("API on ");
        let left = [Left(from.clone()), Left(to.clone())];
        let both = Both { receiver, sender, from: At::Socket(from), to: At::Socket(to), port, _left: left };
        both.until("both links", || LINKS.iter().all(|link| both.path(link)["state"] == "active"));
        both
    }

    fn until(&self, what: &str, done: impl Fn() -> bool) {
        self.sender.until(what, done);
    }

    fn live(&self) -> Value {
        self.from.json("/v1/streams/live")
    }

    /// The path of a link as the sender's API shows it.
    fn path(&self, link: &str) -> Value {
        let live = self.live();
        let paths = live["paths"].as_array().cloned().unwrap_or_default();
        paths.into_iter().find(|path| path["name"] == link).unwrap_or_default()
    }

    /// Messages that the sender has sent.
    fn messages(&self) -> u64 {
        self.live()["media"]["messages"].as_u64().unwrap_or(0)
    }

    /// Bytes that a link carries while a thousand messages are sent.
    fn carries(&self, link: &str) -> u64 {
        // There are no figures for a while after an association was lost.
        self.until("its path", || self.path(link)["bytes"].is_u64());
        let bytes = || self.path(link)["bytes"].as_u64().unwrap_or(u64::MAX);
        let (messages, before) = (self.messages(), bytes());
        self.until("messages", || self.messages() >= messages + 1000);
        bytes().saturating_sub(before)
    }
}

#[track_caller]
fn refuses(at: &At, path: &str, status: u16, words: &str) {
    let (got, body) = post(at, path);
    let why = body["error"].as_str().unwrap_or_default();
    assert!(got == status && why.contains(words), "{path}: {got} {body}");
}

#[test]
fn a_link_that_is_off_carries_no_media_until_it_is_on() {
    let both = Both::start("links", "--retry forever");
    let at = "/v1/streams/live/links/127.0.0.2";
    let link = |on: bool| json!({ "link": "127.0.0.2", "on": on, "tariff": null });
    assert_eq!(both.live()["links"][1], link(true));
    done(&both.from, &format!("{at}/off"));
    both.sender.says("127.0.0.2 switched off by request");
    both.until("its state", || both.path("127.0.0.2")["state"] == "suspended");
    assert_eq!(both.live()["links"][1], link(false));
    assert_eq!(both.carries("127.0.0.2"), 0);
    // The receiver shows the sender's links.
    let seen = || both.to.json("/v1/streams/live")["paths"].as_array().cloned().unwrap_or_default();
    both.until("its state at the receiver", || {
        seen().iter().any(|path| path["name"] == "127.0.0.2" && path["state"] == "suspended")
    });
    refuses(&both.from, "/v1/streams/live/links/127.0.0.1/off", 409, "no other link works that is on");
    refuses(
        &both.from,
        "/v1/streams/live/links/wwan0/off",
        409,
        "wwan0 is not one of the links 127.0.0.1, 127.0.0.2",
    );
    refuses(&both.from, "/v1/streams/live/links/%zz/off", 400, "RFC 3986");

    // It stays off over another connection.
    both.receiver.signal(Signal::SIGKILL);
    let again = start(&format!("receive 127.0.0.1:{} {}", both.port, file("again.ts").display()));
    again.says("receiving");
    both.sender.says("connected to 127.0.0.1");
    // It may carry something until the sender has suspended it again.
    both.until("its rest", || both.carries("127.0.0.2") == 0);
    assert_eq!(both.path("127.0.0.2")["state"], "suspended");
    done(&both.from, &format!("{at}/on"));
    both.sender.says("127.0.0.2 switched on by request");
    both.until("its state", || both.path("127.0.0.2")["state"] == "active");
    assert_eq!(both.live()["links"][1], link(true));
    both.until("its media", || both.carries("127.0.0.2") > 0);
    both.sender.signal(Signal::SIGINT);
    both.sender.end().succeeds();
}

#[test]
fn the_costs_of_a_link_change_while_it_sends() {
    let both = Both::start("costs", "");
    let at = "/v1/streams/live/links/127.0.0.2/tariff";
    done(&both.from, &format!("{at}?class=2&left=5GB&for=1h"));
    both.sender.says("costs of 127.0.0.2 changed by request");
    let tariff = both.live()["links"][1]["tariff"].clone();
    assert_eq!((&tariff["class"], &tariff["price"]), (&json!(2), &Value::Null));
    assert!(tariff["lasts_s"].as_f64().is_some_and(|left| left <= 3600.0), "{tariff}");
    both.until("the allowance", || both.path("127.0.0.2")["allowance_bytes"].is_u64());
    // The other link is enough for the stream, and this one costs more.
    both.until("its rest", || both.carries("127.0.0.2") == 0);
    refuses(&both.from, &format!("{at}?class=900"), 400, "class=900: expected 0 to 255");
    refuses(
        &both.from,
        &format!("{at}?cost=1"),
        400,
        "expected class=N, left=SIZE, for=TIME, month=SIZE, day=N or price=N",
    );
    refuses(&both.from, "/v1/streams/live/links/wwan0/tariff?class=1", 409, "is not one of the links");
    done(&both.from, at);
    assert_eq!(both.live()["links"][1]["tariff"]["class"], 0);
    both.until("its media", || both.carries("127.0.0.2") > 0);

    let At::Socket(path) = &both.from else { panic!("a path") };
    let ctl = |words: &str| run(&format!("ctl {} {words}", path.display()));
    ctl("tariff live if=127.0.0.2,class=3").succeeds();
    assert_eq!(both.live()["links"][1]["tariff"]["class"], 3);
    ctl("link live 127.0.0.2 off").succeeds();
    assert_eq!(both.live()["links"][1]["on"], false);
    ctl("link live 127.0.0.1 off").fails(2, &["no other link works that is on"]);
    ctl("link live 127.0.0.2 on").succeeds();
    ctl("tariff live class=3").fails(2, &["names no interface"]);
}

#[test]
fn each_end_refuses_what_it_cannot_do_and_says_where_that_is() {
    let both = Both::start("refuses", "--scheme bond");
    refuses(&both.from, "/v1/streams/live/links/127.0.0.2/tariff?class=1", 409, "ignores the costs of links");
    for path in ["/v1/streams/live/stop", "/v1/reload", "/v1/senders/van1/revoke"] {
        refuses(&both.from, path, 409, "a sender cannot do this");
    }
    let media = both.from.get("/streams/live.ts");
    assert!(media.status == 409 && media.body.contains("view the stream at the receiver"), "{media:?}");
    let metrics = both.from.get("/metrics").body;
    assert!(metrics.contains("role=\"send\",name=\"live\""), "{metrics}");

    refuses(&both.to, "/v1/streams/live/links/127.0.0.2/off", 409, "at their sender");
    refuses(&both.to, "/v1/streams/live/outputs/0/stop", 409, "strandcast serve can");
    refuses(&both.to, "/v1/senders/van1/revoke", 409, "use strandcast key");
    let live = || both.to.json("/v1/streams/live");
    let names = || {
        let paths = live()["paths"].as_array().cloned().unwrap_or_default();
        let mut names: Vec<String> =
            paths.iter().filter_map(|path| path["name"].as_str().map(str::to_owned)).collect();
        names.sort();
        names
    };
    // Its figures are up to a second old.
    both.until("the sender's links", || names() == LINKS);
    let live = live();
    assert!(live["outputs"][0]["name"].as_str().is_some_and(|name| name.ends_with("one.ts")), "{live}");
    assert!(live["links"].is_null() && live["role"] == "receive", "{live}");
}

#[test]
fn what_a_receiver_plays_can_be_watched_over_its_api() {
    use std::io::{Read as _, Write as _};
    let both = Both::start("watch", "");
    let mut stream = both.to.connect().expect("it listens");
    stream.write_all(b"GET /streams/live.ts HTTP/1.1\r\nhost: localhost\r\n\r\n").expect("it is there");
    let mut bytes = vec![0; 60_000];
    stream.read_exact(&mut bytes).expect("media");
    let text = String::from_utf8_lossy(&bytes);
    assert!(
        text.starts_with("HTTP/1.1 200") && text.contains("content-type: video/mp2t"),
        "{}",
        &text[..200]
    );
    let packets = bytes.windows(189).filter(|two| two[0] == 0x47 && two[188] == 0x47).count();
    assert!(packets > 100, "{packets} transport packets");
}

#[test]
fn a_place_that_is_taken_or_that_others_reach_is_a_mistake() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("it has one");
    let clip = clip();
    let send = |more: &str| run(&format!("send {} 127.0.0.1:{} {more}", clip.display(), port()));
    send(&format!("--api {taken}")).fails(4, &[&format!("cannot listen on {taken}"), "in use"]);
    let occupied = socket("occupied");
    std::fs::write(&occupied, "mine").expect("it can be written");
    send(&format!("--api unix:{}", occupied.display())).fails(2, &["is not a socket: name another path"]);
    assert_eq!(std::fs::read(&occupied).expect("it is there"), b"mine");
    std::fs::remove_file(&occupied).expect("it is there");
    send("--api 0.0.0.0:8890").fails(2, &["--api", "other machines reach 0.0.0.0:8890"]);
    send("--api 8890").fails(2, &["--api", "write 127.0.0.1:8890 or unix:PATH"]);
}

/// The address of a page, and its token.
fn page(running: &Running) -> (At, String) {
    running.says("page on http://127.0.0.1:");
    running.until("the line", || running.said().contains("?token=") && running.said().ends_with('\n'));
    let said = running.said();
    let rest = said.split("page on http://127.0.0.1:").nth(1).expect("its address");
    let (port, rest) = rest.split_once("/#/live?token=").expect("a token");
    (At::Port(port.parse().expect("a port")), rest.chars().take_while(char::is_ascii_hexdigit).collect())
}

#[test]
fn the_page_opens_by_the_token_of_its_address_alone() {
    let (port, stats) = (port(), file("page.jsonl"));
    let receive = format!("receive 127.0.0.1:{port} {} --page", file("page.ts").display());
    if !has_page() {
        run(&receive).fails(2, &["--page", "make web"]);
        return;
    }
    let receiver = start(&receive);
    let sender = start(&format!(
        "send {} 127.0.0.1:{port} --loop --page --stats={}",
        clip().display(),
        stats.display()
    ));
    for (running, right) in [(&receiver, "look"), (&sender, "control")] {
        let (at, token) = page(running);
        assert_eq!(token.len(), 32);
        running.until("a snapshot", || at.get("/readyz").status == 200);
        assert_eq!(at.get("/v1/streams").status, 401, "without the token");
        let bearer = format!("authorization: Bearer {token}");
        assert_eq!(at.asks("GET /v1/streams/live", &[&bearer]).status, 200);
        let session = at.asks("POST /v1/session", &[&bearer, "origin: http://localhost"]);
        let session: Value = serde_json::from_str(&session.body).expect("JSON");
        assert_eq!(session["right"], right);
        let other = format!("authorization: Bearer {}", token.replace(|c| c != '0', "0"));
        assert_eq!(at.asks("GET /v1/streams", &[&other]).status, 401);
    }
    let (_, token) = page(&sender);
    let lines = || std::fs::read_to_string(&stats).unwrap_or_default();
    sender.until("statistics", || lines().contains("\"event\":\"sending\""));
    assert!(lines().contains("\"event\":\"api\"") && !lines().contains(&token), "{}", lines());
}
