use core::time::Duration;

use crate::{Keyed, Values, closest, keys, nearest, words};

words! {
    /// A place.
    #[derive(Default)]
    enum Place {
        /// Here.
        #[default]
        Here = "here",
        /// There.
        There = "over-there",
    }
}

keys! {
    /// Keys that several structs share.
    struct Shared {
        /// the place
        place: Place = Place::Here,
    }
}

keys! {
    /// A struct without keys.
    struct Nothing {}
}

keys! {
    /// A struct with every type of key.
    struct All {
        with nothing: Nothing,
        /// a share of
        /// the whole
        loss_gain: f64 [0.01, 1.0, "of it"] = 0.25,
        /// rates
        history as "kappa": usize [1, 64, "rates"] = 8,
        /// first window
        first: Option<u32> [0, 64, "MTU"] = None,
        /// pause
        train: Duration [10, 1000, "ms"] = Duration::from_millis(100),
        /// timeout
        timeout: Option<Duration> [0, 1000, "ms"] = None,
        /// as a switch
        frozen: bool = false,
        and shared: Shared,
    }
}

keys! {
    /// A struct without defaults.
    struct Bare in snake_case {
        /// a time
        rto_min: Duration [0, 60, "s"],
        /// a switch
        nagle: bool,
    } and {
        /// Not a key.
        hidden: u8,
    }
}

#[test]
fn keys_may_be_the_names_of_their_fields() {
    let mut bare = Bare { rto_min: Duration::from_millis(200), nagle: false, hidden: 7 };
    assert_eq!(bare.keys().iter().map(|k| k.name).collect::<Vec<_>>(), ["rto_min", "nagle"]);
    assert_eq!(bare.get("rto_min").as_deref(), Some("0.2"));
    assert_eq!((bare.set("rto_min", "0.5"), bare.set("hidden", "1")), (Ok(true), Ok(false)));
    assert_eq!((bare.rto_min.as_millis(), bare.hidden), (500, 7));
    assert!(bare.set("rto_min", "-1").is_err() && bare.set("rto_min", "61").is_err());
}

fn wrong(key: &str, text: &str) -> String {
    All::default().set(key, text).expect_err(text).to_string()
}

#[test]
fn keys_are_listed_in_the_order_of_their_declaration() {
    let keys = All::default().keys();
    let names: Vec<_> = keys.iter().map(|k| k.name).collect();
    assert_eq!(names, ["loss-gain", "kappa", "first", "train", "timeout", "frozen", "place"]);
    assert_eq!(keys[0].summary, "a share of the whole");
    assert_eq!(keys[0].values.describe(), "0.01 to 1 of it");
    assert_eq!(keys[5].values, Values::Switch);
    assert_eq!(Nothing::default().keys(), []);
}

#[test]
fn values_are_read_and_written() {
    let mut all = All::default();
    for (key, default, text) in [
        ("loss-gain", "0.25", "0.5"),
        ("kappa", "8", "64"),
        ("first", "0", "10"),
        ("train", "100", "20"),
        ("timeout", "0", "300"),
        ("frozen", "off", "on"),
        ("place", "here", "over-there"),
    ] {
        assert_eq!(all.get(key).as_deref(), Some(default));
        assert_eq!(all.set(key, text), Ok(true));
        assert_eq!(all.get(key).as_deref(), Some(text));
    }
    let timeout = Some(Duration::from_millis(300));
    assert_eq!((all.first, all.timeout, all.shared.place), (Some(10), timeout, Place::There));
    assert_eq!((all.set("history", "8"), all.get("history")), (Ok(false), None));
}

#[test]
fn a_number_may_be_written_with_its_unit() {
    let mut all = All::default();
    for (key, text, value) in [
        ("kappa", "9 rates", "9"),
        ("kappa", "9rates", "9"),
        ("loss-gain", "0.5 of it", "0.5"),
        ("train", "20 ms", "20"),
        ("timeout", "7ms", "7"),
        ("first", "2 MTU", "2"),
    ] {
        assert_eq!((all.set(key, text), all.get(key).as_deref()), (Ok(true), Some(value)), "{key}={text}");
    }
    assert_eq!(wrong("train", "20 s"), "train can't be '20 s'; it can be 10 to 1000 ms");
    assert_eq!(wrong("train", "ms"), "train can't be 'ms'; it can be 10 to 1000 ms");
}

#[test]
fn what_cannot_be_is_told_in_one_line() {
    assert_eq!(wrong("frozen", "yes"), "frozen can't be 'yes'; it can be on, off");
    assert_eq!(wrong("kappa", "0"), "kappa can't be '0'; it can be 1 to 64 rates");
    assert_eq!(wrong("loss-gain", "NaN"), "loss-gain can't be 'NaN'; it can be 0.01 to 1 of it");
    assert_eq!(wrong("train", "1.5"), "train can't be '1.5'; it can be 10 to 1000 ms");
    assert_eq!(
        wrong("place", "over-theer"),
        "place can't be 'over-theer', did you mean over-there?; it can be here, over-there"
    );
}

#[test]
fn near_names_are_found() {
    for (word, names, meant) in [
        ("lai", ["lia", "cubic"], Some("lia")),
        ("LIA", ["lia", "cubic"], Some("lia")),
        ("redundent", ["round-robin", "redundant"], Some("redundant")),
        ("quic", ["lia", "sctp"], None),
    ] {
        assert_eq!(nearest(word, names), meant);
    }
    assert_eq!(closest("quic", ["lia", "sctp"]), Some("lia"));
    assert_eq!(closest("quic", []), None);
}
