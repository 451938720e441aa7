//! Keys of presets and of their parts: each is read, printed and read back, and refused where nothing uses it.

use std::collections::BTreeSet;

use strandcast_proto::seeds::Seeds;
use strandcast_schemes::combinations::with_key;
use strandcast_schemes::{Listed, Values, congestions, lookup, parse_spec, presets};

use crate::specs;

fn error(spec: &str) -> String {
    parse_spec(spec).expect_err(spec).to_string()
}

/// Some values of a key, its bounds among them.
fn values(key: &Listed) -> Vec<String> {
    match key.values {
        Values::OneOf(words) => words.iter().map(ToString::to_string).collect(),
        Values::Switch => vec!["on".into(), "off".into()],
        Values::Number(least, most, _) => vec![least.to_string(), (least + 1).to_string(), most.to_string()],
        Values::Decimal(least, most, _) => {
            vec![least.to_string(), (least + (most - least) / 4.0).to_string(), most.to_string()]
        }
    }
}

mod thorough {
    use super::*;

    #[test]
    fn every_key_of_every_part_is_read_printed_and_read_back() {
        for preset in presets() {
            for key in preset.keys() {
                for value in values(&key) {
                    let spec = with_key(preset, &key, &value);
                    let Ok(parsed) = parse_spec(&spec) else {
                        assert!(
                            error(&spec).contains(" needs "),
                            "{spec}: only parts that do not go together"
                        );
                        continue;
                    };
                    assert_eq!(parsed.value(key.name).as_ref(), Some(&value), "{spec}");
                    let printed = parsed.to_string();
                    let read = parse_spec(&printed).expect("what was printed is a spec");
                    assert_eq!((read.value(key.name), read.to_string()), (Some(value), printed), "{spec}");
                }
            }
        }
    }
}

#[test]
fn every_spec_that_is_printed_is_accepted_and_printed_alike() {
    let mut random = Seeds::new(7, 0).stream("printed specs");
    for i in 0..500 * presets().len() {
        let printed = specs::draw(&mut random, i % presets().len());
        let read = parse_spec(&printed).expect("what was printed is a spec");
        assert_eq!(read.to_string(), printed);
        read.build(&Seeds::new(1, 0));
    }
    assert!(specs::random().iter().all(|spec| parse_spec(spec).is_ok()));
}

/// `all` has each preset's keys, `keys` those that are not refused.
#[test]
fn a_key_is_refused_unless_a_part_of_the_scheme_has_it() {
    for preset in presets() {
        let here = parse_spec(preset.name).expect("a preset alone is a spec").keys();
        for key in preset.keys() {
            let spec = format!("{},{}={}", preset.name, key.name, key.default);
            let refused = parse_spec(&spec).is_err();
            if refused && error(&spec).contains(" do nothing without ") {
                assert!(here.contains(&key.name) && parse_spec(&format!("{spec},fec=off")).is_ok(), "{spec}");
                continue;
            }
            assert_eq!(refused, !here.contains(&key.name), "{spec}");
            assert!(!refused || error(&spec).starts_with(&format!("{} is a key of ", key.name)), "{spec}");
        }
    }
}

#[test]
fn a_refusal_says_which_part_has_the_key() {
    for (spec, line) in [
        ("cmt,psi=0.5", "psi is a key of scheduler=loss-order; scheme cmt has scheduler=round-robin"),
        ("cmt,psi=nonsense", "psi is a key of scheduler=loss-order; scheme cmt has scheduler=round-robin"),
        ("lia,turn=packet", "turn is a key of scheduler=round-robin; scheme lia has scheduler=lowest-rtt"),
        (
            "redundant,loss=rfc,rtx=same",
            "rtx is a key of loss=sfr or loss=silence; scheme redundant has loss=rfc",
        ),
        (
            "sctp,dac=on",
            "dac is a key of loss=sfr or loss=silence or feedback=dac; scheme sctp has loss=rfc, feedback=rfc",
        ),
        (
            "cmt,m=5",
            "m is a key of loss=raf or scheduler=loss-order; scheme cmt has loss=sfr, scheduler=round-robin",
        ),
        ("sctp,train=50", "train is a key of feedback=rounds; scheme sctp has feedback=rfc"),
    ] {
        let key = line.split(' ').next().expect("a line begins with the key");
        assert_eq!(error(spec), format!("{line}: leave {key} out, or choose a part that has it"));
    }
    assert!(
        error("cmt-qa,psi=0.5").starts_with("scheme cmt-qa has no key 'psi'; its keys are epsilon, gain, ")
    );
    assert!(
        error("sctp,rxt=same").starts_with("scheme sctp has no key 'rxt', did you mean rtx?; its keys are ")
    );
}

/// They name no part that is not chosen, and have the values that the spec gives them.
#[test]
fn keys_in_use_are_those_that_a_spec_may_set() {
    let specs = presets().iter().map(|preset| preset.name);
    for text in specs.chain(["strand,loss=raf,m=5", "cmt,cc=cubic,beta=0.5", "sctp,loss=sfr,dac=on"]) {
        let spec = parse_spec(text).expect(text);
        let used = spec.in_use();
        assert!(used.iter().map(|key| key.name).eq(spec.keys()), "{text}");
        for key in &used {
            let chosen = |(role, word): (&str, &str)| spec.value(role).as_deref() == Some(word);
            assert!(key.parts().all(chosen), "{text}: {}", key.name);
            assert_eq!(Some(&key.default), spec.value(key.name).as_ref(), "{text}: {}", key.name);
        }
        let all = spec.listed();
        let listed = |key: &Listed| all.iter().any(|a| (a.name, &a.default) == (key.name, &key.default));
        assert!(used.iter().all(listed), "{text}");
    }
}

/// The order of words in a spec does not matter: parts are chosen first.
#[test]
fn parts_are_chosen_before_their_keys_are_read() {
    for spec in ["cmt,psi=0.5,scheduler=loss-order", "cmt,scheduler=loss-order,psi=0.5"] {
        let read = parse_spec(spec).expect("loss-order has the key");
        assert_eq!(read.to_string(), "cmt,scheduler=loss-order,psi=0.5");
    }
    let both = parse_spec("cmt-la,loss=raf,m=5").expect("both parts have the key");
    assert_eq!(both.to_string(), "cmt-la,loss=raf,m=5");
}

/// A key that several parts have means the same in each of them, and has one default per preset.
#[test]
fn a_key_of_several_parts_has_one_range_and_one_default() {
    for preset in presets() {
        for key in preset.keys() {
            for (role, word) in key.parts() {
                let spec = format!("{},{role}={word}", preset.name);
                let Ok(parsed) = parse_spec(&spec) else { continue };
                assert_eq!(parsed.value(key.name).as_ref(), Some(&key.default), "{spec}: {}", key.name);
                for value in values(&key) {
                    parse_spec(&format!("{spec},{}={value}", key.name))
                        .expect("the range is that of the list");
                }
            }
        }
    }
}

/// Settings of a window reach nothing else: neither another part nor the common keys of all windows have a key of
/// that name.
#[test]
fn keys_of_windows_are_theirs_alone() {
    let of = |spec: &str| parse_spec(spec).map(|spec| spec.keys()).unwrap_or_default();
    let cmt = lookup("cmt").expect("it exists").keys();
    let others: BTreeSet<_> = cmt.iter().map(|key| key.name).collect();
    for window in congestions() {
        let own = of(&format!("cmt,cc={}", window.name));
        let plain = of("cmt,cc=rfc");
        for key in own.iter().filter(|key| !plain.contains(key)) {
            assert!(!others.contains(key), "{}: {key}", window.name);
        }
    }
}

/// Keys that a preset sets although its own parts do not use them.
#[test]
fn a_preset_has_defaults_for_parts_that_a_spec_may_choose() {
    let value = |spec: &str, key: &str| parse_spec(spec).expect(spec).value(key).expect(key);
    assert_eq!(value("sctp,loss=sfr", "dac"), "off");
    assert_eq!(value("sctp,feedback=dac", "dac"), "off");
    assert_eq!(value("bond,scheduler=primary", "rtx"), "scheduler");
    assert_eq!(value("bond,cc=rfc", "initial-cwnd"), "10");
    assert_eq!(parse_spec("sctp,loss=sfr").expect("sfr goes with it").to_string(), "sctp,loss=sfr");
}
