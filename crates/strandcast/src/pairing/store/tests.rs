//! The store: its files, its refusals, and the senders that it admits.

use std::os::unix::fs::PermissionsExt as _;

use strandcast_proto::seeds::Seeds;
use strandcast_seal::{Enrolment, Peer, PublicKey, Token};

use super::test_folder::TestFolder;
use super::*;
use crate::error::Error;
use crate::pairing::forms::{fingerprint, key_text};
use crate::pairing::pairing::Pairing;

const DAY: WallClock = 24 * 3600;

fn store(folder: &TestFolder) -> Store {
    Store::at(folder.path().join("deep/identity"))
}

fn key(n: u8) -> PublicKey {
    PublicKey([n; 32])
}

fn token(n: u8) -> Token {
    Token::from_bytes([n; 32])
}

fn pairing(n: u8) -> Pairing {
    let hosts = vec!["studio.example:9899".parse().unwrap(), "[2001:db8::1]:7".parse().unwrap()];
    Pairing { once: false, hosts, peer: Peer { key: key(n), token: token(n) } }
}

fn add(store: &Store, name: &str, n: u8) -> Result<(), Error> {
    store.change_receivers(|receivers| receivers.add(name, &pairing(n)))
}

/// Makes a token.
fn pair(store: &Store, n: u8) {
    let change = |senders: &mut Senders| {
        senders.pair(token(n), false, None, 0);
        Ok::<_, Error>(())
    };
    store.change_senders(change).unwrap();
}

/// A refusal of the store: one line with exit code 3.
#[track_caller]
fn refusal<T: std::fmt::Debug>(result: Result<T, Error>, words: &[&str]) {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Store(_)), "{text}");
    assert!(!text.contains('\n') && words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
}

#[test]
fn an_identity_is_made_once_and_kept() {
    let folder = TestFolder::new("once");
    let store = store(&folder);
    assert!(store.identity().unwrap().is_none());
    let (first, made) = store.identity_or_new().unwrap();
    assert!(made);
    let (again, made) = store.identity_or_new().unwrap();
    assert!(!made && again.public() == first.public());
    let text = std::fs::read_to_string(store.path()).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() == 1 && lines[0].starts_with("strandcast-identity 1 scs1-"), "{text}");
    let folder = std::fs::metadata(store.path().parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
}

#[test]
fn many_at_once_make_one_identity() {
    let folder = TestFolder::new("race");
    let store = store(&folder);
    let keys: Vec<PublicKey> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..20).map(|_| scope.spawn(|| store.identity_or_new().unwrap().0.public())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(keys.iter().all(|key| *key == keys[0]));
}

#[test]
fn a_lost_identity_is_not_replaced() {
    for lose in ["receivers", "senders"] {
        let folder = TestFolder::new(&format!("lost-{lose}"));
        let store = store(&folder);
        store.identity_or_new().unwrap();
        match lose {
            "receivers" => add(&store, "studio", 1).unwrap(),
            _ => pair(&store, 1),
        }
        std::fs::remove_file(store.path()).unwrap();
        let path = store.path().to_str().unwrap().to_owned();
        refusal(store.identity(), &[&path, "lost", "restore"]);
        refusal(store.identity_or_new(), &[&path, "lost", "restore"]);
        assert!(!store.path().exists());
    }
}

#[test]
fn a_damaged_identity_is_refused_with_its_file_and_left_as_it_is() {
    let folder = TestFolder::new("damaged");
    let store = store(&folder);
    store.identity_or_new().unwrap();
    let good = std::fs::read_to_string(store.path()).unwrap();
    let path = store.path().to_str().unwrap().to_owned();
    let at = good.len() - 10;
    let typed = format!("{}{}", &good[..at], good[at..].replace(|c: char| c.is_ascii_alphanumeric(), "7"));
    for (content, word) in [
        (String::new(), "is not an identity"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----".into(), "is not an identity"),
        (good[..good.len() - 9].to_owned(), "cut short: 8 characters missing"),
        (typed, "mistyped"),
        (good.replace("identity 1", "identity 2"), "newer version"),
        (format!("{good}{good}"), "is not an identity"),
    ] {
        std::fs::write(store.path(), &content).unwrap();
        refusal(store.identity(), &[&path, word]);
        refusal(store.identity_or_new(), &[&path, word]);
        assert_eq!(std::fs::read_to_string(store.path()).unwrap(), content);
    }
    std::fs::write(store.path(), &good).unwrap();
    std::fs::set_permissions(store.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    refusal(store.identity_or_new(), &[&path, "chmod 600"]);
}

#[test]
fn receivers_are_kept_by_name() {
    let folder = TestFolder::new("receivers");
    let store = store(&folder);
    store.identity_or_new().unwrap();
    add(&store, "studio", 1).unwrap();
    add(&store, "van", 2).unwrap();
    add(&store, "studio", 1).unwrap();
    assert!(matches!(add(&store, "studio", 3), Err(Error::Usage(_))), "another receiver");
    let read = store.receivers().unwrap();
    let names: Vec<&str> = read.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["studio", "van"]);
    let studio = read.get("studio").unwrap();
    assert_eq!((studio.hosts(), studio.key), (pairing(1).hosts, key(1)));
    assert_eq!(studio.peer().token.id(), token(1).id());
    let removed =
        store.change_receivers(|r| Ok::<_, Error>((r.remove("studio"), r.remove("studio")))).unwrap();
    assert_eq!(removed, (true, false));
    assert!(store.receivers().unwrap().get("studio").is_none());
}

#[test]
fn a_failed_change_writes_nothing() {
    let folder = TestFolder::new("unchanged");
    let store = store(&folder);
    store.identity_or_new().unwrap();
    add(&store, "studio", 1).unwrap();
    let path = folder.path().join("deep/identity.receivers");
    let before = std::fs::read(&path).unwrap();
    add(&store, "studio", 2).unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn other_content_is_refused_with_its_line_and_without_secrets() {
    let folder = TestFolder::new("content");
    let store = store(&folder);
    store.identity_or_new().unwrap();
    add(&store, "studio", 1).unwrap();
    let path = folder.path().join("deep/identity.receivers");
    let good = std::fs::read_to_string(&path).unwrap();
    let secret = good.lines().find(|line| line.contains("sct1-")).unwrap();
    let secret = secret.split('"').nth(1).unwrap();
    let name = path.to_str().unwrap();
    for (content, words) in [
        (good.replace("version = 1", "version = 2"), &[name, "newer"][..]),
        (good.replace("version = 1", ""), &[name, "line"]),
        (good.replace("token =", "tokn ="), &[name, "line", "tokn"]),
        (good.replace(&secret[secret.len() - 4..], "7777"), &[name, "line", "mistyped"]),
        (format!("{good}\n[["), &[name, "line"]),
    ] {
        std::fs::write(&path, &content).unwrap();
        let error = store.receivers().unwrap_err().to_string();
        assert!(!error.contains(&secret[10..30]), "{error}");
        refusal(store.receivers(), words);
        refusal(add(&store, "van", 2), words);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content, "it is left as it is");
    }
}

#[test]
fn senders_survive_the_file() {
    let folder = TestFolder::new("senders");
    let store = store(&folder);
    store.identity_or_new().unwrap();
    let change = |senders: &mut Senders| {
        senders.listen = vec!["[::]:7000".parse().unwrap()];
        senders.pair(token(1), true, Some(5 * DAY), 10);
        senders.pair(token(2), false, None, 20);
        senders.enrol(token(1).id(), key(1), 30);
        senders.allow(&key_text(&key(2)), Some("van"), 40)?;
        senders.revoke("van", 50)?;
        Ok::<_, Error>(())
    };
    store.change_senders(change).unwrap();
    let mut expected = Senders::default();
    change(&mut expected).unwrap();
    assert_eq!(format!("{:?}", store.senders().unwrap()), format!("{expected:?}"));
}

#[test]
fn a_change_is_detected_once() {
    let folder = TestFolder::new("watch");
    let store = store(&folder);
    store.identity_or_new().unwrap();
    let mut changes = ChangeDetector::new(&store);
    assert!(!changes.changed());
    for n in 0..3 {
        pair(&store, n);
        assert!(changes.changed() && !changes.changed());
    }
}

/// Returns whether a key is admitted with a token at a time.
fn admitted(senders: &Senders, n: u8, t: u8, now: WallClock) -> bool {
    senders.access(now).admits(token(t).id(), &key(n))
}

#[test]
fn a_token_admits_new_senders_until_it_expires_and_known_ones_for_ever() {
    let mut senders = Senders::default();
    senders.pair(token(1), false, Some(DAY), 0);
    assert!(admitted(&senders, 1, 1, DAY - 1) && !admitted(&senders, 1, 1, DAY));
    assert_eq!((senders.next_expiry(DAY - 1), senders.next_expiry(DAY)), (Some(DAY), None));
    assert!(senders.enrol(token(1).id(), key(1), 5), "a new sender");
    assert!(!senders.enrol(token(1).id(), key(1), 6), "a known one");
    assert!(admitted(&senders, 1, 1, 100 * DAY) && !admitted(&senders, 2, 1, DAY));
    assert!(!admitted(&senders, 1, 9, 0), "no token of ours");
}

#[test]
fn a_one_time_token_admits_its_first_sender_only() {
    let mut senders = Senders::default();
    senders.pair(token(1), true, None, 0);
    assert!(admitted(&senders, 1, 1, 0) && admitted(&senders, 2, 1, 0));
    senders.enrol(token(1).id(), key(1), 5);
    assert!(admitted(&senders, 1, 1, 9) && !admitted(&senders, 2, 1, 9));
}

#[test]
fn a_known_sender_closes_a_one_time_token_too() {
    let mut senders = Senders::default();
    senders.allow(&key_text(&key(1)), None, 0).unwrap();
    senders.pair(token(1), true, None, 0);
    let mut access = senders.access(1);
    assert_eq!(access.enrol(token(1).id(), key(1)), Enrolment::New);
    assert!(!senders.enrol(token(1).id(), key(1), 1), "the sender is not new");
    assert!(admitted(&senders, 1, 1, 2) && !admitted(&senders, 2, 1, 2));
    // A sender that enrolled with another token now sends with this one, and still does after others are made.
    senders = Senders::default();
    senders.pair(token(1), true, None, 0);
    senders.enrol(token(1).id(), key(1), 1);
    senders.pair(token(2), true, None, 2);
    assert!(!senders.enrol(token(2).id(), key(1), 3));
    senders.pair(token(3), true, None, 4);
    assert!(admitted(&senders, 1, 1, 5) && admitted(&senders, 1, 2, 5) && !admitted(&senders, 2, 2, 5));
}

#[test]
fn a_string_in_many_hands_does_not_fill_the_disk() {
    let mut senders = Senders::default();
    senders.pair(token(1), false, None, 0);
    let nth = |n: u32| PublicKey(std::array::from_fn(|i| n.to_be_bytes()[i % 4]));
    let admits = |senders: &Senders, n: u32| senders.access(1).admits(token(1).id(), &nth(n));
    let mut enrolled = 0;
    for n in 0..1500 {
        enrolled += u32::from(admits(&senders, n) && senders.enrol(token(1).id(), nth(n), 1));
    }
    assert_eq!((enrolled, senders.senders().len()), (1000, 1000));
    assert!(admits(&senders, 999) && !admits(&senders, 1000), "those that came first stay");
}

#[test]
fn a_revoked_sender_is_out_and_so_is_what_enrolled_it() {
    let mut senders = Senders::default();
    senders.pair(token(1), false, None, 0);
    senders.pair(token(2), false, None, 0);
    for n in [1, 2] {
        senders.enrol(token(1).id(), key(n), 5);
    }
    let (sender, closed) = senders.revoke(&fingerprint(&key(1)), 6).unwrap();
    assert!((sender.revoked, closed) == (true, true));
    for t in [1, 2] {
        assert!(!admitted(&senders, 1, t, 9), "under no token");
    }
    assert!(admitted(&senders, 2, 1, 9), "the other one stays");
    assert!(!admitted(&senders, 3, 1, 9), "with a new key the first one would be back");
    assert!(admitted(&senders, 3, 2, 9), "another pairing is not concerned");
    assert!(!senders.revoke(&key_text(&key(1)), 7).unwrap().1, "it is closed already");
    senders.allow(&key_text(&key(1)), None, 8).unwrap();
    assert!(admitted(&senders, 1, 1, 9));
}

#[test]
fn keys_can_be_allowed_and_revoked_before_they_come() {
    let mut senders = Senders::default();
    senders.pair(token(1), true, None, 0);
    senders.enrol(token(1).id(), key(1), 0);
    senders.allow(&key_text(&key(2)), Some("van"), 1).unwrap();
    assert!(admitted(&senders, 2, 1, 1));
    assert_eq!(senders.allow(&key_text(&key(3)), Some("van"), 1).unwrap_err(), WhoError::Taken("van".into()));
    assert!(senders.get(&key(3)).is_none(), "nothing is added by a mistake");
    senders.allow(&key_text(&key(2)), None, 2).unwrap();
    assert_eq!(senders.get(&key(2)).unwrap().label(), "van", "a name stays");
    senders.revoke(&key_text(&key(4)), 3).unwrap();
    assert!(!senders.enrol(token(1).id(), key(4), 4) && !admitted(&senders, 4, 1, 4));
    assert!(matches!(senders.revoke("unknown", 5), Err(WhoError::Unknown(_))));
    let damaged = &key_text(&key(5))[..50];
    assert!(matches!(senders.revoke(damaged, 5), Err(WhoError::Damaged(_))));
}

#[test]
fn tokens_of_no_use_are_forgotten_and_others_are_not() {
    let mut senders = Senders::default();
    senders.pair(token(1), true, Some(DAY), 0);
    senders.pair(token(2), true, Some(DAY), 0);
    senders.enrol(token(2).id(), key(2), 1);
    senders.pair(token(3), false, None, 2 * DAY);
    let left: Vec<_> = senders.tokens().iter().map(|entry| entry.secret.id()).collect();
    assert_eq!(left, [token(2).id(), token(3).id()], "1 has expired, 2 is what its sender has");
    senders.revoke(&key_text(&key(2)), 2 * DAY).unwrap();
    senders.pair(token(4), false, None, 2 * DAY);
    let left: Vec<_> = senders.tokens().iter().map(|entry| entry.secret.id()).collect();
    assert_eq!(left, [token(3).id(), token(4).id()]);
}

#[test]
fn what_a_receiver_shows_stays_the_same_and_has_no_limits() {
    let mut senders = Senders::default();
    let mut random = Seeds::new(1, 0).stream("token");
    senders.pair(token(1), true, None, 0);
    senders.pair(token(2), false, Some(DAY), 0);
    let shown = senders.reusable(&mut random, 0);
    assert_eq!(senders.tokens().len(), 3);
    assert_eq!(senders.reusable(&mut random, 9).id(), shown.id());
    assert!(senders.access(100 * DAY).admits(shown.id(), &key(1)));
}
