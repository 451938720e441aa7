//! `strandcast ctl`.

use super::http::At;
use super::{LOOK, Served, TURN, tokens};
use crate::common::run;
use crate::serve::Studio;

fn out(ended: &crate::common::Ended) -> String {
    String::from_utf8_lossy(&ended.out).into_owned()
}

#[test]
fn it_shows_and_controls_a_server() {
    let served = Served::start("ctl", "");
    let At::Socket(path) = &served.socket else { panic!("a path") };
    let ctl = |words: &str| run(&format!("ctl {} {words}", path.display()));
    let text = out(&ctl("streams"));
    assert!(text.starts_with("stream  state    rate  late and lost  sender\na       waiting  -"), "{text}");
    assert_eq!(ctl("streams --json").json()["streams"][1]["name"], "b");
    assert_eq!(ctl("stream b").json()["state"], "waiting");
    let stopped = ctl("stop b");
    stopped.succeeds();
    assert!(stopped.err.contains("done"), "{stopped:?}");
    assert_eq!(ctl("stream b").json()["state"], "stopped");
    ctl("start b").succeeds();
    ctl("stop b 0").succeeds();
    ctl("start b 0").succeeds();
    assert_eq!(ctl("senders").json()["senders"][0]["name"], "van1");
    ctl("revoke van1").succeeds();
    assert_eq!(ctl("senders").json()["senders"][0]["revoked"], true);
    ctl("allow van1 --as van1").succeeds();
    assert_eq!(ctl("reload").json()["added"], serde_json::json!([]));
    assert!(out(&ctl("metrics")).starts_with("# HELP strandcast_up "));
    ctl("stop c").fails(2, &["there is no stream c"]);
    ctl("stop b 7").fails(2, &["b has no output 7"]);
    ctl("revoke a/b").fails(2, &["neither a name of a sender nor a key"]);
    run("ctl /no/such/socket streams").fails(4, &["no API at /no/such/socket: no such file or directory"]);
    run("ctl ftp://a:1 streams").fails(2, &["write the path of a socket"]);
}

#[test]
fn it_sends_a_token() {
    let studio = Studio::new("api-ctl-token");
    tokens(&studio.studio, "view.tokens", LOOK);
    tokens(&studio.studio, "control.tokens", &format!("# all\n{TURN}\n"));
    let more = "view_tokens = \"view.tokens\"\ncontrol_tokens = \"control.tokens\"\n";
    let served = Served::of(studio, "ctlt", more);
    let At::Port(port) = served.port else { panic!("a port") };
    let ctl = |words: &str| run(&format!("ctl http://127.0.0.1:{port} {words}"));
    let file = |name: &str| served.studio.studio.path().join(name).display().to_string();
    ctl("streams").fails(5, &["this needs a token", "--token FILE"]);
    ctl(&format!("streams --token {}", file("view.tokens"))).succeeds();
    ctl(&format!("stop a --token {}", file("view.tokens"))).fails(5, &["this needs a token for control"]);
    ctl(&format!("stop a --token {}", file("control.tokens"))).succeeds();
    // Nothing is sent: the address is one of documentation.
    run(&format!("ctl http://192.0.2.1:8890 streams --token {}", file("view.tokens")))
        .fails(2, &["a token would be readable in transit: write https://HOST:PORT"]);
    ctl("streams --token /no/such/file").fails(3, &["cannot read /no/such/file"]);
}
