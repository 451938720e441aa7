//! Identities, pairings and `strandcast key`, as a person uses them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::common;
use crate::common::home::Home;
use crate::common::terminal::Terminal;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The pairing string on a terminal.
fn pairing_on(screen: &str) -> String {
    let line = screen.lines().find(|line| line.starts_with("sc1-"));
    line.unwrap_or_else(|| panic!("no pairing string on {screen:?}")).trim().to_owned()
}

#[test]
fn a_pairing_string_on_a_terminal_is_added_elsewhere_by_pasting_it() {
    let (studio, van) = (Home::new("paste-studio"), Home::new("paste-van"));
    let (code, screen) = Terminal::start(&mut studio.command("key pair --host studio.example"), 100).end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains('█') && screen.contains("admits any sender"), "{screen}");
    let text = pairing_on(&screen);
    let mut terminal = Terminal::start(&mut van.command("key add studio"), 100);
    terminal.shows("paste the pairing string of studio");
    // As a chat broke it into lines.
    terminal.types(&format!("{}\n{}\n", &text[..60], &text[60..]));
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("added @studio") && screen.contains("studio.example:9899"), "{screen}");
    assert!(!screen.contains(&text[..20]), "it is not shown: {screen}");
    let list = van.run("key list --json").json();
    assert_eq!(list["receivers"][0]["name"], "studio");
    let shown = studio.run("key show --json").json();
    assert_eq!(list["receivers"][0]["key"], shown["key"]);
    assert_eq!(list["receivers"][0]["fingerprint"], shown["fingerprint"]);
}

#[test]
fn a_narrow_terminal_gets_the_string_without_a_code() {
    let home = Home::new("narrow");
    let (code, screen) = Terminal::start(&mut home.command("key pair --host a.b"), 40).end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains('█') && screen.contains("too narrow"), "{screen}");
    assert!(screen.lines().any(|line| line.starts_with("sc1-")), "{screen}");
}

#[test]
fn a_secret_goes_to_a_terminal_or_a_private_file_and_nowhere_else() {
    let home = Home::new("secret");
    let ended = home.run("key pair --host a.b");
    ended.fails(2, &["terminal", "--out"]);
    assert!(ended.out.is_empty());
    let text = home.pairing("a.b", "--once");
    assert_eq!(mode(&home.path().join("pairing")), 0o600);
    home.run(&format!("key pair --host a.b --out {}", home.path().join("pairing").display()))
        .fails(3, &["exists"]);
    home.reads("key add here", &text).succeeds();
    let listed = home.run("key list");
    listed.succeeds();
    let (listed, json) =
        (String::from_utf8(listed.out).unwrap(), home.run("key list --json").json().to_string());
    let store = std::fs::read_to_string(home.store().join("identity.senders")).unwrap();
    let token = store.lines().find_map(|line| line.strip_prefix("secret = ")).unwrap().trim_matches('"');
    assert!(token.starts_with("sct1-") && listed.contains("@here"), "{listed}");
    for shown in [&listed, &json] {
        assert!(
            !shown.contains(&token[8..28]) && !shown.contains("sc1-") && !shown.contains("scs1-"),
            "{shown}"
        );
    }
}

#[test]
fn the_store_is_private() {
    let home = Home::new("private");
    let text = home.pairing("a.b", "");
    home.reads("key add x", &text).succeeds();
    assert_eq!(mode(&home.store()), 0o700);
    for name in ["identity", "identity.receivers", "identity.senders", "identity.lock"] {
        assert_eq!(mode(&home.store().join(name)), 0o600, "{name}");
    }
    for name in ["identity", "identity.receivers", "identity.senders"] {
        let path = home.store().join(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        home.run("key list").fails(3, &[path.to_str().unwrap(), "chmod 600"]);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn an_identity_is_new_once_and_never_replaced() {
    let home = Home::new("new");
    home.run("key show").fails(3, &["strandcast key new"]);
    home.run("key new").succeeds();
    let shown = String::from_utf8(home.run("key show").out).unwrap();
    assert!(shown.starts_with("sck1-") && shown.lines().count() == 2, "{shown}");
    let before = std::fs::read(home.store().join("identity")).unwrap();
    home.run("key new").fails(2, &["identity already"]);
    home.pairing("a.b", "");
    assert_eq!(std::fs::read(home.store().join("identity")).unwrap(), before);
    std::fs::remove_file(home.store().join("identity")).unwrap();
    for command in ["key new", "key show", "key list", "key pair --host a.b --out x"] {
        home.run(command).fails(3, &["identity", "lost", "restore"]);
    }
    assert!(!home.store().join("identity").exists());
}

#[test]
fn another_identity_is_named_by_option_or_environment() {
    let home = Home::new("named");
    let show = |command: &mut std::process::Command| {
        let ended = command.output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    };
    let (a, b) = (home.path().join("keys/a.key"), home.path().join("keys/b.key"));
    for path in [&a, &b] {
        home.run(&format!("key new --key {}", path.display())).succeeds();
    }
    // Their pairings do not mix either.
    home.run(&format!("key pair --host a.b --key {} --out {}", a.display(), home.path().join("p").display()))
        .succeeds();
    let by_option = show(&mut home.command(&format!("key show --key {}", b.display())));
    assert_eq!(show(home.command("key show").env("STRANDCAST_KEY", &b)), by_option);
    let first = show(home.command(&format!("key --key {} show", a.display())).env("STRANDCAST_KEY", &b));
    assert_ne!(first, by_option, "the option counts");
    assert!(!home.store().exists(), "the user's own store is not touched");
    show(home.command("key new").env("XDG_CONFIG_HOME", home.path().join("xdg")));
    assert!(home.path().join("xdg/strandcast/identity").exists());
    let homeless = home.command("key new").env_remove("HOME").output().unwrap();
    let said = String::from_utf8(homeless.stderr).unwrap();
    assert!(homeless.status.code() == Some(3) && said.contains("--key"), "{said}");
}

#[test]
fn damaged_strings_and_names_are_told_apart() {
    let home = Home::new("damaged");
    let text = home.pairing("a.b", "");
    let mut typed = text.clone().into_bytes();
    typed[40] = if typed[40] == b'7' { b'8' } else { b'7' };
    for (text, word) in [
        (&text[..text.len() - 7], "cut short: 7 characters missing"),
        (std::str::from_utf8(&typed).unwrap(), "mistyped"),
        (&text.replacen("sc1-", "sc2-", 1), "newer version"),
        ("", "begin with sc1-"),
        ("studio.example", "begin with sc1-"),
    ] {
        let ended = home.reads("key add studio", text);
        ended.fails(2, &[word]);
        assert!(
            !ended.err.contains(&text[text.len().min(10)..]) || text.len() < 20,
            "no secret in {ended:?}"
        );
    }
    for name in ["-x", "a/b", ".", ""] {
        let ended = home.command("key add").arg(name).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{name:?}");
    }
    home.reads("key add studio", &format!("> {}\r\n> {}\r\n", &text[..50], text[50..].to_uppercase()))
        .succeeds();
    home.run("key remove studoi").fails(2, &["@studio"]);
    home.run("key remove studio").succeeds();
    home.run("key remove studio").fails(2, &["no receiver @studio"]);
}

#[test]
fn senders_are_allowed_named_and_revoked() {
    let (studio, van) = (Home::new("allow-studio"), Home::new("allow-van"));
    van.run("key new").succeeds();
    let key = van.run("key show --json").json();
    let (key, short) = (key["key"].as_str().unwrap(), key["fingerprint"].as_str().unwrap());
    studio.run(&format!("key allow {key} --as van")).succeeds();
    let listed = |revoked: bool| {
        let list = studio.run("key list --json").json();
        let sender = &list["senders"][0];
        assert_eq!((&sender["name"], &sender["key"]), (&"van".into(), &key.into()), "{list}");
        assert_eq!(sender["revoked"], revoked);
    };
    listed(false);
    for who in ["van", key, short] {
        studio.run(&format!("key revoke {who}")).succeeds();
        listed(true);
        studio.run(&format!("key allow {who}")).succeeds();
        listed(false);
    }
    let since = |name: &str| studio.run("key list --json").json()["senders"][0][name].as_u64();
    assert!(since("revoked_since").is_none());
    studio.run("key revoke van").succeeds();
    assert!(since("revoked_since") >= since("since"), "{:?}", since("revoked_since"));
    let list = String::from_utf8(studio.run("key list").out).unwrap();
    assert!(list.contains("revoked since 2"), "{list}");
    studio.run("key revoke sck1-abc").fails(2, &["cut short: 57 characters missing"]);
    studio.run("key revoke unknown").fails(2, &["no sender unknown"]);
    studio.run(&format!("key allow {}", &key[..40])).fails(2, &["cut short"]);
}

#[test]
fn a_store_that_cannot_be_written_is_one_line() {
    let home = Home::new("unwritable");
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    home.run(&format!("key new --key {}", file.join("identity").display()))
        .fails(3, &[file.to_str().unwrap()]);
    home.run("key new --key /proc/identity").fails(3, &["/proc/identity"]);
}

#[test]
fn a_string_that_cannot_be_written_admits_no_one() {
    let home = Home::new("no-string");
    let there = home.path().join("there");
    std::fs::write(&there, "mine").unwrap();
    for (out, why) in [(there.clone(), "stays as it is"), (home.path().join("none/file"), "cannot write")] {
        home.run(&format!("key pair --host a.b --out {}", out.display())).fails(3, &[why]);
    }
    assert_eq!(std::fs::read(&there).unwrap(), b"mine");
    assert_eq!(home.run("key list --json").json()["pairings"], serde_json::json!([]));
    // The other way round: a token that could not be stored leaves no string.
    std::fs::create_dir(home.store().join("identity.senders.new")).unwrap();
    let out = home.path().join("new");
    home.run(&format!("key pair --host a.b --out {}", out.display())).fails(3, &["identity.senders"]);
    assert!(!out.exists());
}

#[test]
fn a_pairing_string_is_closed_by_its_id() {
    let home = Home::new("close");
    home.pairing("a.b", "");
    home.pairing("a.b", "--once");
    let ids = || -> Vec<String> {
        let list = home.run("key list --json").json();
        list["pairings"].as_array().unwrap().iter().map(|p| p["id"].as_str().unwrap().to_owned()).collect()
    };
    let before = ids();
    home.run(&format!("key revoke {}", before[0])).succeeds();
    assert_eq!(ids(), before[1..]);
    home.run("key revoke 0123456789abcdef").fails(2, &["no sender 0123456789abcdef"]);
}

#[test]
fn a_host_or_name_that_is_none_is_named() {
    let home = Home::new("hosts");
    let out = home.path().join("out");
    let pair = |hosts: &[&str]| {
        let mut command = home.command("key pair --out");
        command.arg(&out);
        for host in hosts {
            command.args(["--host", host]);
        }
        let ended = command.output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        String::from_utf8(ended.stderr).unwrap()
    };
    assert!(pair(&["fine.example", "a b"]).contains("--host: \"a b\" is neither"));
    let many: Vec<String> = (0..30).map(|i| format!("host-{i}.example")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(pair(&many).contains("30 hosts are too many"));
    assert!(!out.exists());
    home.run("send x @").fails(2, &["1 to 32 characters"]);
}

#[test]
fn files_of_keys_are_not_written_over() {
    let home = Home::new("own-files");
    let text = home.pairing("127.0.0.1:9", "");
    home.reads("key add studio", &text).succeeds();
    let input = common::clip();
    for name in ["identity", "identity.receivers", "identity.senders", "identity.lock"] {
        let path = home.store().join(name);
        let before = std::fs::read(&path).unwrap();
        let link = home.path().join(format!("link-{name}"));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for target in [path.display(), link.display()] {
            for command in [
                format!("send {} @studio --keylog {target}", input.display()),
                format!("send {} @studio --pcap {target}", input.display()),
                format!("receive 127.0.0.1:{} {target}", common::port()),
                format!("receive 127.0.0.1:{} {target} --plain", common::port()),
            ] {
                home.run(&command).fails(3, &[&target.to_string(), "file of keys"]);
            }
        }
        assert_eq!(std::fs::read(&path).unwrap(), before, "{name}");
    }
    // Nor made in the place of one that is not there yet.
    let new = Home::new("own-files-new");
    let senders = new.store().join("identity.senders");
    new.run(&format!("receive 127.0.0.1:{} {}", common::port(), senders.display()))
        .fails(3, &["file of keys"]);
}

#[test]
fn keys_are_logged_to_private_key_logs_alone() {
    let home = Home::new("keylog");
    let text = home.pairing("127.0.0.1:9", "");
    home.reads("key add studio", &text).succeeds();
    let log = home.path().join("keys.txt");
    let send = format!("send {} @studio --retry 1 --keylog {}", common::clip().display(), log.display());
    for (mode, content, code, words) in [
        (0o644, "", 3, "chmod 600"),
        (0o640, "STRANDCAST1 ", 3, "chmod 600"),
        (0o600, "my video", 3, "not a key log"),
        (0o600, "STRANDCAST", 3, "not a key log"),
        (0o600, "", 5, "no answer"),
        (0o600, "STRANDCAST1 0011223344556677 0 AES-128-GCM 00\n", 5, "no answer"),
    ] {
        std::fs::write(&log, content).unwrap();
        std::fs::set_permissions(&log, std::fs::Permissions::from_mode(mode)).unwrap();
        home.run(&send).fails(code, &[words]);
        assert_eq!(std::fs::read_to_string(&log).unwrap(), content);
    }
    std::fs::remove_file(&log).unwrap();
    let pcap = home.path().join("all.pcap");
    home.run(&format!("{send} --pcap {}", pcap.display())).fails(5, &["no answer"]);
    assert_eq!((mode(&log), mode(&pcap)), (0o600, 0o600));
    std::fs::write(&pcap, "").unwrap();
    std::fs::set_permissions(&pcap, std::fs::Permissions::from_mode(0o644)).unwrap();
    home.run(&format!("{send} --pcap {}", pcap.display())).fails(5, &["no answer"]);
    assert_eq!(mode(&pcap), 0o600, "an empty one that was there is private from now on");
    let folder = send.replace("keys.txt", ".");
    home.run(&folder).fails(3, &["cannot write"]);
    home.run(&format!("{} /dev/null", send.trim_end_matches(&log.display().to_string())))
        .fails(3, &["not a regular file"]);
}

/// There are not two strings of which the user has to choose one.
#[test]
fn a_receiver_shows_the_string_of_key_pair() {
    let studio = Home::new("one-string");
    let (code, screen) = Terminal::start(&mut studio.command("key pair --host studio.example"), 100).end();
    assert_eq!(code, Some(0), "{screen}");
    let out = common::file("one-string.ts");
    let receive = format!("receive 127.0.0.1:{} {}", common::port(), out.display());
    let terminal = Terminal::start(&mut studio.command(&receive), 100);
    terminal.shows("at the sender:");
    let seen = terminal.seen();
    assert_eq!(pairing_on(&seen), pairing_on(&screen));
    assert!(seen.contains("reach this machine at studio.example:9899"), "{seen}");
}

/// A receiver of another user or `HOME` is another one, and a service without a home makes none that would be lost.
#[test]
fn the_identity_that_listens_shows_and_is_made_in_a_home_alone() {
    let home = Home::new("listens");
    home.run("key new").succeeds();
    let name = home.run("key show --json").json()["fingerprint"].as_str().unwrap().to_owned();
    let receive = format!("receive 127.0.0.1:{} {}", common::port(), common::file("listens.ts").display());
    let receiver = home.start(&receive);
    receiver.says(&format!("identity {name} in {}", home.store().join("identity").display()));
    let nowhere = home.path().join("nowhere");
    let words = format!("HOME is {}, which is not a folder", nowhere.display());
    common::spawn(home.command(&receive).env("HOME", &nowhere)).end().fails(3, &[&words, "--key"]);
    assert!(!nowhere.exists());
    common::spawn(home.command(&receive).env_remove("HOME")).end().fails(3, &["HOME is not set", "--key"]);
}
