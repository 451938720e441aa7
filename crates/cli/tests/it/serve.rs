//! `serve`: a configuration, senders by name, and SIGHUP.

use nix::sys::signal::Signal;

use crate::common::home::Home;
use crate::common::{Running, file, port, run, seconds};

/// A receiver of many streams, and a sender that is named `van1` there.
pub(crate) struct Studio {
    pub(crate) studio: Home,
    pub(crate) van: Home,
    port: u16,
}

impl Studio {
    pub(crate) fn new(name: &str) -> Studio {
        let (studio, van) = (Home::new(&format!("{name}-studio")), Home::new(&format!("{name}-van")));
        let port = port();
        let text = studio.pairing(&format!("127.0.0.1:{port}"), "");
        van.reads("key add studio", &text).succeeds();
        let key = van.run("key show --json").json()["key"].as_str().expect("a key").to_owned();
        studio.run(&format!("key allow {key} --as van1")).succeeds();
        Studio { studio, van, port }
    }

    /// Writes the configuration of these streams, which `van1` may send.
    fn write(&self, streams: &[&str]) {
        self.write_with(streams, "");
    }

    /// As [`Studio::write`], with more lines before the streams.
    pub(crate) fn write_with(&self, streams: &[&str], more: &str) {
        let mut text = format!("listen = [\"127.0.0.1:{}\"]\n{more}", self.port);
        for name in streams {
            text +=
                &format!("[streams.{name}]\nsenders = [\"van1\"]\noutputs = [\"{{stream}}-{{time}}.ts\"]\n");
        }
        std::fs::write(self.config(), text).expect("the home can be written");
    }

    pub(crate) fn config(&self) -> std::path::PathBuf {
        self.studio.path().join("serve.toml")
    }

    pub(crate) fn serve(&self, options: &str) -> Running {
        let running = self.studio.start(&format!("serve {} {options}", self.config().display()));
        running.says("listening on UDP 127.0.0.1:");
        running
    }

    /// Bytes of the recordings of a stream.
    pub(crate) fn recorded(&self, stream: &str) -> Vec<Vec<u8>> {
        let files = std::fs::read_dir(self.studio.path()).expect("the home").filter_map(Result::ok);
        let mut names: Vec<_> = files.map(|file| file.path()).collect();
        names.retain(|path| {
            path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&format!("{stream}-")))
        });
        names.sort();
        names.iter().map(|path| std::fs::read(path).expect("it can be read")).collect()
    }
}

#[test]
fn a_configuration_is_checked_before_anything_starts() {
    let studio = Studio::new("serve-check");
    studio.write(&["a", "b"]);
    let config = studio.config().display().to_string();
    let checked = studio.studio.run(&format!("serve {config} --check"));
    checked.succeeds();
    let out = String::from_utf8_lossy(&checked.out);
    assert!(out.contains("serve.toml: 2 streams\n  a: from van1 to ") && !out.contains("no sender"), "{out}");

    let text = std::fs::read_to_string(studio.config()).expect("it was written");
    std::fs::write(studio.config(), text.replace("van1", "van7")).expect("it can be written");
    let out = studio.studio.run(&format!("serve {config} --check")).out;
    let out = String::from_utf8_lossy(&out);
    assert!(out.contains("a: no sender is called van7 here yet: pair it"), "{out}");

    for (from, to, words) in [
        ("senders", "sender", "serve.toml:3: sender: there is no key sender here, did you mean senders?"),
        ("van7", "a b", "serve.toml:3: senders:"),
        ("listen", "scheme = \"nonsense\"\nlisten", "nonsense"),
    ] {
        std::fs::write(studio.config(), text.replace("van1", "van7").replace(from, to))
            .expect("it can be written");
        studio.studio.run(&format!("serve {config} --check")).fails(2, &[words]);
        studio.studio.run(&format!("serve {config}")).fails(2, &[words]);
    }
    run("serve /no/such/file --check").fails(2, &["cannot read /no/such/file: no such file or directory"]);
}

#[test]
fn hang_up_reads_the_configuration_again_or_changes_nothing() {
    let studio = Studio::new("serve-reload");
    studio.write(&["a"]);
    let stats = studio.studio.path().join("stats.jsonl");
    let metrics = studio.studio.path().join("serve.prom");
    let server = studio.serve(&format!("--json --stats={} --metrics {}", stats.display(), metrics.display()));
    let (clip, media) = seconds(1, "serve-clip.ts");
    let send =
        |options: &str| studio.van.run(&format!("send {} @studio --latency 10000 {options}", clip.display()));
    send("").succeeds();
    server.until("a recording of a", || studio.recorded("a") == [media.clone()]);

    let good = std::fs::read_to_string(studio.config()).expect("it was written");
    std::fs::write(studio.config(), format!("{good}outpts = []\n")).expect("it can be written");
    server.signal(Signal::SIGHUP);
    server.says("not reloaded, and everything stays as it was: ");
    server.says("did you mean outputs?");
    send("").succeeds();
    server.until("another one", || studio.recorded("a") == [media.clone(), media.clone()]);

    studio.write(&["a", "b"]);
    server.signal(Signal::SIGHUP);
    server.says("configuration read again: added b");
    send("").fails(5, &["it may send a or b: choose one with --stream"]);
    send("--stream c").fails(5, &["it may not send c, but a or b"]);
    send("--stream b").succeeds();
    server.until("a recording of b", || studio.recorded("b") == [media.clone()]);
    server.until("metrics of both", || {
        let text = std::fs::read_to_string(&metrics).unwrap_or_default();
        ["a", "b"].iter().all(|name| text.contains(&format!("name=\"{name}\",state=\"waiting\"}} 1")))
    });
    server.signal(Signal::SIGTERM);
    let ended = server.end();
    ended.succeeds();
    let summaries: Vec<serde_json::Value> = String::from_utf8_lossy(&ended.out)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    let of: Vec<(&str, bool)> = summaries
        .iter()
        .map(|summary| (summary["name"].as_str().unwrap_or_default(), summary["identical"] == true))
        .collect();
    assert_eq!(of, [("a", true), ("a", true), ("b", true)]);
    let lines = std::fs::read_to_string(&stats).expect("it was written");
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let events: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    for event in
        ["listening", "receiving", "recording", "received", "not-reloaded", "reloaded", "not-allowed"]
    {
        assert!(events.contains(&event), "{event}: {events:?}");
    }
    let named = |line: &&serde_json::Value| line["event"] == "receiving";
    assert!(lines.iter().filter(named).all(|line| line["name"] == "a" || line["name"] == "b"));
    assert!(lines.iter().any(|line| line["name"] == "a" && line["media"]["bytes"].as_u64() > Some(0)));
    let _ = std::fs::remove_file(file("serve-clip.ts"));
}
