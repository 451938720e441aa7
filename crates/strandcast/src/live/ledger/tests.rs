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
    add(link("eth1", A, Some("1-1")), 100);
    // A twin in a new port looks like a stick that has moved, so that the first sum continues.
    assert_eq!(add(link("eth1", A, Some("1-1")), 0), 100);
    folder.write(&format!(
        "[[link]]\nname = \"eth1\"\nmac = \"{A}\"\nusb = \"1-1\"\nsince = \"2026-01-01\"\nused = 100\n\
         [[link]]\nname = \"eth2\"\nmac = \"{A}\"\nusb = \"1-2\"\nsince = \"2026-01-01\"\nused = 5\n"
    ));
    assert_eq!(add(link("eth2", A, Some("1-1")), 1), 101);
    assert_eq!(add(link("eth1", A, Some("1-2")), 1), 6);
    assert_eq!(add(link("eth3", A, Some("1-3")), 9), 9, "it may be either of the two");
}

#[test]
fn old_months_are_removed() {
    let folder = Folder::new("old");
    let stick = link("wwan0", A, None);
    for number in 0..40_u64 {
        let at = UNIX_EPOCH + Duration::from_secs(number * 31 * 86_400);
        folder.ledger().add(&stick, Month::of(at, 1), number).expect("writable");
    }
    assert_eq!(folder.text().matches("[[link]]").count(), KEPT);
    assert!(!folder.text().contains("\"1970-"), "{}", folder.text());
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
    for (text, line) in [("[[link]]\nname = 3\n", 2), ("not a ledger", 1), ("[[link]]\nname = \"a\"\n", 1)] {
        folder.write(text);
        let why = folder.ledger().add(&link("a", "", None), month(1), 1).expect_err(text).to_string();
        assert!(why.contains(&format!("ledger.toml:{line}: ")) && why.contains("--ledger"), "{why}");
        assert_eq!(folder.text(), text);
    }
    let unwritable = Ledger::at(PathBuf::from("/proc/nothing/ledger.toml"));
    let why = unwritable.add(&link("a", "", None), month(1), 1).expect_err("not writable").to_string();
    assert!(why.contains("cannot write /proc/nothing/ledger.toml"), "{why}");
}
