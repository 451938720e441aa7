//! The page: its files, its cookie, and a browser that shows it.

use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use nix::sys::signal::Signal;
use serde_json::Value;
use strandcast::live::api::has_page;

use super::http::{At, Response};
use super::{LOOK, Served, TURN, tokens};
use crate::common::{Running, spawn};
use crate::serve::Studio;

const BOTH: &str = "view_tokens = \"view.tokens\"\ncontrol_tokens = \"control.tokens\"\n";
const SAME_SITE: &str = "origin: http://localhost";

/// A server with a token for view and one for control.
fn guarded(name: &str) -> Served {
    let studio = Studio::new(&format!("api-{name}"));
    tokens(&studio.studio, "view.tokens", LOOK);
    tokens(&studio.studio, "control.tokens", TURN);
    Served::of(studio, name, BOTH)
}

/// The cookie that a token gets, as a browser sends it.
fn cookie(at: &At, token: &str) -> String {
    let response = at.asks("POST /v1/session", &[&format!("authorization: Bearer {token}"), SAME_SITE]);
    assert_eq!(response.status, 200, "{response:?}");
    let set = set_cookie(&response).expect("a cookie");
    let attributes: Vec<&str> = set.split("; ").skip(1).collect();
    assert_eq!(attributes, ["path=/", "httponly", "samesite=strict"]);
    assert!(!set.contains(token), "a browser keeps no token");
    format!("cookie: other=1; {}", set.split(';').next().expect("its value"))
}

fn set_cookie(response: &Response) -> Option<String> {
    response.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).map(str::to_owned)
}

/// The right that a browser with these headers has.
fn right(at: &At, headers: &[&str]) -> String {
    let session: Value = serde_json::from_str(&at.asks("GET /v1/session", headers).body).expect("JSON");
    session["right"].as_str().expect("a right").to_owned()
}

#[test]
fn the_page_needs_no_token_and_runs_no_script_but_its_own() {
    let served = guarded("page");
    for (path, kind) in [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/page.css", "text/css"),
        ("/mpegts.js", "text/java"),
    ] {
        let response = served.port.get(path);
        if has_page() {
            assert_eq!(response.status, 200, "{path}");
            assert!(response.head.contains(&format!("content-type: {kind}")), "{}", response.head);
            assert!(response.head.contains("content-encoding: gzip"), "{}", response.head);
        } else {
            assert_eq!(response.status, 501, "{path}");
            assert!(
                response.body.contains("make web") && response.body.lines().count() == 1,
                "{}",
                response.body
            );
        }
        let policies = response.head.lines().filter(|line| line.starts_with("content-security-policy: "));
        let policy: Vec<&str> = policies.collect();
        assert!(policy.len() == 1 && policy[0].contains("default-src 'none'"), "{policy:?}");
        assert!(policy[0].contains("frame-ancestors 'none'") && !policy[0].contains("unsafe"), "{policy:?}");
        assert_eq!(served.port.asks(&format!("GET {path}"), &["host: evil.example"]).status, 421);
    }
    // A tunnel to the socket has no name that the server could compare.
    assert_eq!(served.socket.get("/").status, 404);
}

#[test]
fn a_cookie_has_the_right_of_its_token_until_the_token_goes() {
    let served = guarded("cookie");
    let at = &served.port;
    assert_eq!(right(at, &[]), "none");
    let wrong = at.asks("POST /v1/session", &["authorization: Bearer wrong-wrong-wrong-wrong", SAME_SITE]);
    assert_eq!((wrong.status, set_cookie(&wrong)), (401, None));
    assert!(!wrong.head.contains("www-authenticate"), "a browser would open a dialog");
    assert_eq!(at.asks("POST /v1/session", &[SAME_SITE]).status, 401, "no token");

    let (looks, turns) = (cookie(at, LOOK), cookie(at, TURN));
    assert_eq!(right(at, &[&looks]), "look");
    assert_eq!(right(at, &[&turns]), "control");
    let get = |cookie: &str| at.asks("GET /v1/streams", &[cookie]).status;
    assert_eq!((get(&looks), get(&turns)), (200, 200));
    let mut forged = looks.clone();
    let last = forged.pop().expect("it is long");
    forged.push(if last == '0' { '1' } else { '0' });
    assert_eq!(get(&forged), 401);
    let stop = |headers: &[&str]| at.asks("POST /v1/streams/a/stop", headers).status;
    assert_eq!(stop(&[&looks, SAME_SITE]), 401, "a cookie for view");
    assert_eq!(stop(&[&turns]), 401, "no page is named");
    assert_eq!(stop(&[&turns, "origin: http://evil.example"]), 403);
    assert_eq!(stop(&[&turns, "origin: http://localhost:1"]), 403, "another port of the same machine");
    assert_eq!(stop(&[&turns, SAME_SITE]), 200);
    // A token that the request names counts alone.
    assert_eq!(stop(&[&turns, SAME_SITE, &format!("authorization: Bearer {LOOK}")]), 403);
    let ended = at.asks("POST /v1/session/end", &[&turns, SAME_SITE]);
    assert!(
        set_cookie(&ended).is_some_and(|set| set.contains("=; ") && set.contains("max-age=0")),
        "{ended:?}"
    );

    tokens(&served.studio.studio, "view.tokens", "another-token-for-the-wall");
    served.server.signal(Signal::SIGHUP);
    served.server.says("configuration read again");
    assert_eq!((get(&looks), get(&turns)), (401, 200));
    let other = guarded("cookie-other");
    assert_eq!(other.port.asks("GET /v1/streams", &[&turns]).status, 401, "a cookie of another process");
}

#[test]
fn a_script_without_a_right_opens_no_dialog_of_the_browser() {
    let served = guarded("dialog");
    let challenge = |mode: &str| served.port.asks("GET /v1/streams", &[mode]).head.contains("basic realm");
    assert!(challenge("sec-fetch-mode: navigate"));
    assert!(!challenge("sec-fetch-mode: cors"));
}

#[test]
fn without_tokens_a_browser_of_this_machine_may_look_at_once() {
    let served = Served::start("page-open", "");
    let session = served.port.json("/v1/session");
    assert_eq!(session, serde_json::json!({ "right": "look", "control": false, "cookie": false }));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns whether a browser, an encoder and the page are here.
fn can_show() -> bool {
    let parts = std::env::var("STRANDCAST_PARTS").unwrap_or_default();
    let missing =
        ["page", "chromium", "ffmpeg"].into_iter().find(|part| !parts.split(' ').any(|one| one == *part));
    if let Some(part) = missing {
        println!("not run: {part} is not in STRANDCAST_PARTS");
    }
    let built = has_page();
    assert!(built || missing.is_some(), "the page was made after this program was built: build it again");
    missing.is_none()
}

/// Runs a test in a browser, and prints what it measured.
fn browse(test: &str, arguments: &[&str]) {
    let script = root().join("web/test").join(test);
    let out = Command::new("node").arg(script).args(arguments).output().expect("node runs");
    print!("{}", String::from_utf8_lossy(&out.stdout));
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

fn url(at: &At) -> String {
    let At::Port(port) = at else { panic!("a port") };
    format!("http://127.0.0.1:{port}")
}

/// An encoder. Dropping this ends it.
struct Encoder(Child);

impl Drop for Encoder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Encoder {
    fn end(&mut self) {
        let _ = self.0.kill();
    }
}

/// An encoder with sound, and its stream.
fn encoder() -> (Encoder, ChildStdout) {
    let mut encoder = Command::new("ffmpeg");
    encoder.args([
        "-v",
        "error",
        "-re",
        "-f",
        "lavfi",
        "-i",
        "testsrc2=size=640x360:rate=25",
        "-f",
        "lavfi",
        "-i",
    ]);
    encoder.args(["sine=frequency=440", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"]);
    encoder.args(["-pix_fmt", "yuv420p", "-g", "25", "-b:v", "1M", "-c:a", "aac", "-f", "mpegts", "-"]);
    encoder.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut encoder = Encoder(encoder.spawn().expect("ffmpeg runs"));
    let media = encoder.0.stdout.take().expect("a pipe");
    (encoder, media)
}

/// An encoder, and a sender that sends its stream over two links.
fn on_air(served: &Served) -> (Encoder, Running) {
    let (encoder, media) = encoder();
    let paths = "--path bind=127.0.0.1 --path bind=127.0.0.2";
    let mut sender = served.studio.van.command(&format!("send - @studio --stream a --latency 800 {paths}"));
    (encoder, spawn(sender.stdin(media)))
}

#[test]
fn a_browser_shows_the_links_and_plays_the_picture() {
    if !can_show() {
        return;
    }
    let served = guarded("browser");
    let (encoder, sender) = on_air(&served);
    served.server.says("receiving");
    browse("live.mjs", &[&url(&served.port), "a", LOOK, TURN, "127.0.0.1", "127.0.0.2"]);
    sender.signal(Signal::SIGTERM);
    drop(encoder);
}

/// The encoder's stream from `send --page` to `receive --page`.
#[test]
fn a_browser_shows_both_ends_of_a_stream() {
    if !can_show() {
        return;
    }
    let folder = root().join("target/page");
    std::fs::create_dir_all(&folder).expect("it can be made");
    let port = crate::common::port();
    let out = crate::common::file("ends.ts");
    let receiver = crate::common::start(&format!("receive 127.0.0.1:{port} {} --page", out.display()));
    let (mut encoder, media) = encoder();
    let paths = "--path bind=127.0.0.1 --path bind=127.0.0.2";
    let advice = crate::common::file("advice.json");
    let sender = crate::common::start_with(
        &format!("send - 127.0.0.1:{port} --latency 800 {paths} --page --advice {}", advice.display()),
        media.into(),
    );
    let address = |running: &Running| {
        running.says("page on ");
        running.until("its end", || {
            running.said().split("page on ").nth(1).is_some_and(|rest| rest.contains('\n'))
        });
        let said = running.said();
        said.split("page on ").nth(1).and_then(|rest| rest.lines().next()).expect("an address").to_owned()
    };
    receiver.says("receiving");
    browse("ends.mjs", &[&address(&sender), &address(&receiver), "127.0.0.2", &folder.display().to_string()]);
    sender.says("127.0.0.2 switched off by request");
    sender.says("costs of 127.0.0.2 changed by request");
    sender.signal(Signal::SIGTERM);
    encoder.end();
}

mod thorough {
    use super::{Served, Signal, browse, can_show, on_air, root, url};

    #[test]
    fn the_memory_of_the_page_is_bounded() {
        if !can_show() {
            return;
        }
        let served = Served::start("page-heap", "");
        let (encoder, sender) = on_air(&served);
        served.server.says("receiving");
        browse("heap.mjs", &[&url(&served.port), "a", "2"]);
        sender.signal(Signal::SIGTERM);
        drop(encoder);
    }

    #[test]
    fn the_page_fits_every_screen_and_no_name_of_a_peer_becomes_html() {
        if !can_show() {
            return;
        }
        let served = Served::start("page-views", "");
        let folder = root().join("target/page");
        std::fs::create_dir_all(&folder).expect("it can be made");
        browse("views.mjs", &[&url(&served.port), &folder.display().to_string()]);
    }
}
