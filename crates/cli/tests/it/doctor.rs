//! `strandcast doctor` over loopback: what it names, what it leaves alone. Links have their tests in namespaces
//! (`tests/python/test_doctor.py`).

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::home::Home;
use crate::common::{Ended, Running, clip, file, port, run};

/// A studio, and a field that is paired with it as `@studio`.
struct Site {
    studio: Home,
    field: Home,
    port: u16,
}

impl Site {
    fn new(name: &str) -> Site {
        let (studio, field) = (Home::new(&format!("{name}-studio")), Home::new(&format!("{name}-field")));
        let site = Site { studio, field, port: port() };
        let text = site.studio.pairing(&site.host(), "");
        site.field.reads("key add studio", &text).succeeds();
        site
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn receive(&self, home: &Home, options: &str) -> Running {
        let receiver = home.start(&format!("receive {} /dev/null {options}", self.host()));
        receiver.says("listening");
        receiver
    }

    /// Key of the first enrolled sender.
    fn sender(&self) -> Option<String> {
        let list = self.studio.run("key list --json").json();
        list["senders"][0]["key"].as_str().map(str::to_owned)
    }

    fn doctor(&self) -> Ended {
        self.field.run("doctor @studio --quick --json")
    }
}

/// Codes of all findings; the exit code says whether there are any.
#[track_caller]
fn codes(ended: &Ended) -> Vec<String> {
    let report = ended.json();
    let code = |found: &Value| found["code"].as_str().unwrap().to_owned();
    let all: Vec<String> = report["findings"].as_array().unwrap().iter().map(code).collect();
    assert_eq!(ended.code, Some(i32::from(!all.is_empty())), "{ended:?}");
    for found in report["findings"].as_array().unwrap() {
        assert!(
            ["what", "cause", "mend"].iter().all(|key| !found[key].as_str().unwrap().is_empty()),
            "{found}"
        );
    }
    all
}

/// Content, mode and time of all files below a folder.
fn files(home: &Home) -> BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64)> {
    let look = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let seen = path.metadata().unwrap();
        (path.clone(), (std::fs::read(&path).unwrap(), seen.mode(), seen.mtime(), seen.mtime_nsec()))
    };
    std::fs::read_dir(home.store()).unwrap().map(look).collect()
}

#[test]
fn a_healthy_receiver_has_no_findings_and_nothing_is_changed() {
    let site = Site::new("healthy");
    let receiver = site.receive(&site.studio, "");
    // It enrols as any sender does, once.
    assert!(codes(&site.doctor()).is_empty());
    receiver.until("the enrolment", || site.sender().is_some());
    let before = [files(&site.field), files(&site.studio)];
    let ended = site.doctor();
    assert!(codes(&ended).is_empty(), "{ended:?}");
    let report = ended.json();
    let (link, peer) = (&report["links"][0], &report["peer"]);
    assert_eq!((&link["out"], &link["back"], &link["path_mtu"]), (&true.into(), &true.into(), &1500.into()));
    assert_eq!(link["seen"], link["local"], "no NAT is here: {report}");
    assert!(link["seen"].as_str().is_some_and(|at| at.starts_with("127.0.0.1:")), "{report}");
    assert_eq!((&peer["connected"], &peer["answered"]), (&true.into(), &true.into()));
    assert!(peer["clock_ahead_s"].as_f64().is_some_and(|s| s.abs() < 10.0), "{report}");
    let page = site.field.run("doctor @studio --quick");
    page.succeeds();
    assert!(String::from_utf8_lossy(&page.out).contains("\nno findings\n"), "{page:?}");
    receiver.signal(Signal::SIGTERM);
    let receiver = receiver.end();
    assert!(!receiver.err.contains("receiving from"), "{}", receiver.err);
    // The files hold secrets.
    assert!([files(&site.field), files(&site.studio)] == before, "a file has changed");
}

#[test]
fn a_stream_that_is_played_is_not_disturbed() {
    let site = Site::new("playing");
    let out = file("playing.ts");
    let receiver = site.studio.start(&format!("receive {} {} --once --json", site.host(), out.display()));
    receiver.says("listening");
    let sender = site.field.start(&format!("send {} @studio --latency 2000", clip().display()));
    receiver.says("receiving from");
    assert!(codes(&site.doctor()).is_empty());
    sender.signal(Signal::SIGTERM);
    sender.end();
    let receiver = receiver.end();
    assert!(!receiver.err.contains("replaces") && !receiver.err.contains("refused"), "{}", receiver.err);
    assert_eq!(receiver.json()["reconnects"], 0, "{}", receiver.err);
}

#[test]
fn what_keeps_the_receiver_away_is_named() {
    let site = Site::new("away");
    assert_eq!(codes(&site.doctor()), ["receiver-absent"]);
    let stranger = Home::new("stranger");
    let other = site.receive(&stranger, "");
    assert_eq!(codes(&site.doctor()), ["wrong-identity"]);
    drop(other);
    let plain = site.receive(&site.studio, "--plain");
    assert_eq!(codes(&site.doctor()), ["receiver-plain"]);
    let address = run(&format!("doctor {} --plain --quick --json", site.host()));
    assert!(codes(&address).is_empty(), "{address:?}");
    drop(plain);
    let receiver = site.receive(&site.studio, "");
    assert!(codes(&site.doctor()).is_empty());
    receiver.until("the enrolment", || site.sender().is_some());
    let key = site.sender().expect("it is enrolled");
    site.studio.run(&format!("key revoke {key}")).succeeds();
    receiver.until("the revocation", || codes(&site.doctor()) == ["key-refused"]);
    let told = site.doctor().json();
    assert!(told["findings"][0]["mend"].as_str().unwrap().contains("strandcast key allow"), "{told}");
}

#[test]
fn keys_that_cannot_be_read_are_named() {
    let site = Site::new("unreadable");
    let keys = site.field.store().join("identity");
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o644)).unwrap();
    let found = site.doctor();
    assert_eq!(codes(&found), ["store-unreadable"]);
    assert!(found.json()["findings"][0]["mend"].as_str().unwrap().starts_with("chmod 600 "), "{found:?}");
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(site.field.store().join("identity.receivers"), "version = 1\n[receiver").unwrap();
    assert_eq!(codes(&site.doctor()), ["store-unreadable"]);
}

#[test]
fn mistakes_have_a_line() {
    let home = Home::new("mistakes");
    home.run("doctor @absent").fails(2, &["there is no receiver @absent"]);
    home.run("doctor @a 127.0.0.1").fails(2, &["one @NAME"]);
    home.run("doctor --plain").fails(2, &["--plain needs an ADDRESS"]);
    home.run("doctor no-such-host.invalid").fails(4, &["no-such-host.invalid"]);
    assert!(!home.store().exists(), "nothing was made");
}
