use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::*;

/// A ledger in a folder of its own, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("strandcast-ledger-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Folder(folder)
    }

    fn ledger(&self) -> Ledger {
        Ledger::at(self.0.join("below").join("ledger.toml"))
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.ledger().path).expect("it was written")
    }

    fn write(&self, text: &str) {
        std::fs::create_dir_all(self.0.join("below")).expect("a folder");
        std::fs::write(self.ledger().path, text).expect("room");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn link(name: &str, mac: &str, usb: Option<&str>) -> Known {
    Known { name: name.to_owned(), hardware: Hardware::new(mac.parse().ok(), usb.map(str::to_owned)) }
}

/// A month of 2026, which begins on its first day.
fn month(number: u64) -> Month {
    let days = 20_454 + 31 * (number - 1) + 5;
    let at: SystemTime = UNIX_EPOCH + Duration::from_secs(days * 86_400);
    Month::of(at, 1)
}

const A: &str = "0c:5b:8f:00:00:0a";

#[test]
fn use_is_added_up_by_month() {
    let folder = Folder::new("sums");
    let stick = link("wwan0", A, Some("1-2"));
    assert_eq!(folder.ledger().add(&stick, month(1), 0), Ok(0));
    assert_eq!(folder.ledger().add(&stick, month(1), 700), Ok(700));
    assert_eq!(folder.ledger().add(&stick, month(1), 50), Ok(750));
    assert_eq!(folder.ledger().add(&stick, month(2), 5), Ok(5));
    assert_eq!(folder.ledger().add(&stick, month(1), 0), Ok(750));
    let text = folder.text();
    assert!(
        text.starts_with("# Bytes that") && text.contains("since = \"2026-02-01\"\nused = 5\n"),
        "{text}"
    );
    let names: Vec<_> = std::fs::read_dir(folder.0.join("below")).expect("there").collect();
    assert_eq!(names.len(), 2, "the file and its lock: {names:?}");
    let mode = std::fs::metadata(folder.ledger().path).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_link_is_known_by_what_it_is() {
    let folder = Folder::new("identity");
    let add = |link: Known, bytes| folder.ledger().add(&link, month(1), bytes).expect("writable");
    assert_eq!(add(link("wwan0", A, Some("1-2")), 100), 100);
    // The same modem under another name; in another port; a twin in the port that it had.
    assert_eq!(add(link("wwan1", A, Some("1-2")), 10), 110);
    assert_eq!(add(link("wwan1", A, Some("1-3")), 1), 111);
    assert_eq!(add(link("wwan0", "0c:5b:8f:00:00:0b", Some("1-2")), 7), 7);
    // A phone draws another address each time; its port identifies it.
    assert_eq!(add(link("usb0", "02:00:00:00:00:01", Some("1-4")), 20), 20);
    assert_eq!(add(link("usb1", "06:00:00:00:00:02", Some("1-4")), 2), 22);
    // Without hardware, the name.
    assert_eq!(add(link("tun0", "", None), 30), 30);
    assert_eq!(add(link("tun0", "", None), 3), 33);
    assert_eq!(add(link("tun1", "", None), 4), 4);
}

#[test]
fn sticks_with_one_address_have_a_count_each() {
    let folder = Folder::new("twins");
    let add = |link: Known, bytes| folder.ledger().add(&link, month(1), bytes).expect("writable");
    // The first is alone at first. Then the address proves nothing, and the ports identify them.
    assert_eq!(add(link("eth1", A, Some("1-1")), 100), 100);
    assert_eq!(add(link("eth1", "", Some("1-1")), 1), 101);
    assert_eq!(add(link("eth2", "", Some("1-2")), 5), 5);
    assert_eq!(add(link("eth1", "", Some("1-2")), 1), 6, "they have exchanged their names");
    assert_eq!(add(link("eth2", "", Some("1-1")), 1), 102);
    assert_eq!(add(link("eth2", A, Some("1-1")), 1), 103);
}

#[test]
fn a_phone_in_the_port_of_a_stick_is_another_link() {
    let folder = Folder::new("ports");
    let add = |link: Known, bytes| folder.ledger().add(&link, month(1), bytes).expect("writable");
    assert_eq!(add(link("wwan0", A, Some("1-2")), 100), 100);
    assert_eq!(add(link("usb0", "02:00:00:00:00:01", Some("1-2")), 7), 7);
    assert_eq!(add(link("wwan0", A, Some("1-2")), 1), 101);
}

#[test]
fn the_last_thirteen_months_stay() {
    let folder = Folder::new("old");
    let (stick, other) = (link("wwan0", A, None), link("tun0", "", None));
    let at = |number: u64| Month::of(UNIX_EPOCH + Duration::from_secs(number * 31 * 86_400), 1);
    // A clock that was wrong leaves months out of order.
    for number in [7, 30, 2, 29].into_iter().chain(0..40) {
        folder.ledger().add(&stick, at(number), 1).expect("writable");
        folder.ledger().add(&other, at(number.min(3)), 1).expect("writable");
        folder.ledger().add(&stick, at(number), 1).expect("writable");
    }
    let text = folder.text();
    assert_eq!(text.matches("name = \"wwan0\"").count(), KEPT, "{text}");
    assert_eq!(text.matches("name = \"tun0\"").count(), 4, "{text}");
    assert!(text.contains(&at(39).begin()) && text.contains(&at(27).begin()), "{text}");
    assert!(!text.contains(&format!("name = \"wwan0\"\nmac = \"{A}\"\nsince = \"1970")), "{text}");
}

#[test]
fn writers_do_not_lose_each_others_bytes() {
    let folder = Folder::new("writers");
    std::thread::scope(|scope| {
        for name in ["wwan0", "wwan0", "wwan1"] {
            let ledger = folder.ledger();
            scope.spawn(move || {
                for _ in 0..50 {
                    ledger.add(&link(name, "", None), month(1), 2).expect("writable");
                }
            });
        }
    });
    let sum = |name| folder.ledger().add(&link(name, "", None), month(1), 0);
    assert_eq!((sum("wwan0"), sum("wwan1")), (Ok(200), Ok(100)));
}

#[test]
fn a_file_that_is_no_ledger_stays() {
    let folder = Folder::new("broken");
    for (text, line) in [
        ("[[link]]\nname = 3\n", 2),
        ("not a ledger", 1),
        ("[[link]]\nname = \"a\"\n", 1),
        ("# comment\n\nother = 1\n", 3),
    ] {
        folder.write(text);
        let why = folder.ledger().add(&link("a", "", None), month(1), 1).expect_err(text).to_string();
        assert!(why.contains(&format!("ledger.toml:{line}: ")) && why.contains("--ledger"), "{why}");
        assert_eq!(folder.text(), text);
    }
    folder.write("# Receivers that this machine may send to\n");
    let why = folder.ledger().add(&link("a", "", None), month(1), 1).expect_err("keys").to_string();
    assert!(why.contains("is a file of keys"), "{why}");
    let unwritable = Ledger::at(PathBuf::from("/proc/nothing/ledger.toml"));
    let why = unwritable.add(&link("a", "", None), month(1), 1).expect_err("not writable").to_string();
    assert!(why.contains("cannot write /proc/nothing/ledger.toml"), "{why}");
}
