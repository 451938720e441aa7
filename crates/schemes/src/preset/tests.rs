use strandcast_proto::coding::{BlockCoding, Code, Coding, RepairCode, RepairCoding, RepairWhen};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::fixture::{self, MTU, Picture};
use strandcast_proto::policy::{HeadOfLineConfig, LossCause, LossTrigger, PathId, Scheme, Signal};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;
use strandcast_testing::contract;

use crate::{parse_spec, presets};

fn keeps_the_contract(spec: &str, seeds: core::ops::Range<u64>) {
    let parsed = parse_spec(spec).expect("a spec of this test");
    for seed in seeds {
        contract::replay(spec, seed, || parsed.build(&Seeds::new(11, 0)));
    }
}

#[test]
fn every_preset_keeps_the_contract() {
    for preset in presets() {
        keeps_the_contract(preset.name, 0..6);
    }
}

#[test]
fn schedulers_of_mptcp_keep_the_contract() {
    for scheduler in ["ecf", "blest", "daps", "linux", "widest", "widest,spill=when-full"] {
        keeps_the_contract(&format!("lia,scheduler={scheduler}"), 20..26);
        keeps_the_contract(&format!("cmt,scheduler={scheduler},rtx=scheduler"), 30..34);
    }
    // A lost chunk that the fastest path has carried already, with nothing in flight.
    keeps_the_contract("bond,scheduler=ecf,ecf-deviation=0", 148..149);
    for key in ["daps-wait=0", "daps-wait=8"] {
        keeps_the_contract(&format!("cmt,scheduler=daps,{key}"), 40..43);
    }
}

#[test]
fn rounds_keep_the_contract_whatever_is_set() {
    let keys = [
        "thresh=0",
        "thresh=1",
        "loss-gain=1",
        "kappa=1",
        "kappa=64",
        "hysteresis=0.15",
        "train=10",
        "pf=on",
    ];
    for (seed, key) in (400..).zip(keys) {
        keeps_the_contract(&format!("sctp-rev-plus,{key},m=3"), seed..seed + 1);
    }
}

/// One line each, and no other parts refused.
#[test]
fn parts_that_need_each_other_are_refused_alone() {
    let why = |spec: &str| parse_spec(spec).err().map(|e| e.to_string());
    let rounds =
        "feedback=rounds needs scheduler=receiver or scheduler=primary: rounds follow one path at a time";
    let needs =
        |part: &str, what: &str| Some(format!("{part} needs feedback=rounds: the receiver {what} by rounds"));
    assert_eq!(why("cmt,scheduler=receiver"), needs("scheduler=receiver", "chooses a path"));
    assert_eq!(why("sctp-rev,feedback=dac"), needs("scheduler=receiver", "chooses a path"));
    assert_eq!(why("sctp,cc=receiver-rate"), needs("cc=receiver-rate", "finds its rate"));
    for scheduler in ["round-robin", "lowest-rtt", "redundant", "loss-order"] {
        assert_eq!(why(&format!("sctp-rev,scheduler={scheduler}")).as_deref(), Some(rounds));
    }
    assert_eq!(why("sctp,feedback=rounds"), None);
    assert_eq!(why("cmt,loss=raf"), None);
}

/// A scheme that codes in blocks has no messages for repair symbols to protect.
#[test]
fn coded_symbols_and_repair_are_refused_together() {
    let why = |spec: &str| parse_spec(spec).err().map(|e| e.to_string());
    let both =
        "fec needs a scheduler of messages: scheduler=fmtcp and scheduler=nc-mptcp send coded symbols alone";
    for spec in ["fmtcp,fec=rlc", "nc-mptcp,fec=rs", "cmt,fec=raptorq,scheduler=fmtcp"] {
        assert_eq!(why(spec).as_deref(), Some(both), "{spec}");
    }
    for spec in ["fmtcp,fec=off", "cmt,fec=rlc", "nc-mptcp,scheduler=round-robin,fec=rlc"] {
        assert_eq!(why(spec), None, "{spec}");
    }
}

#[test]
fn coded_schemes_ask_for_their_codes() {
    let coding = |spec: &str| tuned(spec).coding;
    let blocks = |code, sources, ms| {
        Some(Coding::Blocks(BlockCoding { code, sources, flush: Duration::from_millis(ms) }))
    };
    assert_eq!(coding("fmtcp"), blocks(Code::Fountain, 0, 20));
    assert_eq!(coding("fmtcp,block=32,flush=5"), blocks(Code::Fountain, 32, 5));
    assert_eq!(coding("nc-mptcp,block=8"), blocks(Code::Rlc, 8, 20));
    assert_eq!(coding("lia,scheduler=nc-mptcp"), blocks(Code::Rlc, 0, 20));
    assert_eq!(coding("nc-mptcp,scheduler=lowest-rtt"), None);
}

/// With one path linked increases are a Reno of their own: the windows of both are those of `uncoupled` with the shell
/// of RFC 9260.
#[test]
fn one_path_has_one_window() {
    for scheme in ["fmtcp", "nc-mptcp"] {
        let run = |spec: &str| {
            let mut scheme = parse_spec(spec).expect("a spec of this test").build(&Seeds::new(3, 0));
            let mut picture = Picture::new(1);
            picture.signal(&mut *scheme, &Signal::PathChanged(PathId(0)));
            let (mut tsn, mut windows) = (1, Vec::new());
            for i in 0..200u32 {
                let flight = picture.paths[0].limit.cwnd;
                let high = tsn + (flight / MTU) as u32 - 1;
                picture.paths[0].in_flight = flight;
                picture.now += Duration::from_millis(100);
                picture.signal(&mut *scheme, &Signal::Acked(&fixture::ack(0, high, (tsn, high), flight)));
                tsn = high + 1;
                if i % 9 == 8 {
                    let (path, trigger, cause) =
                        (PathId(0), LossTrigger::FastRetransmit, LossCause::Congestion);
                    let event = Signal::LossEvent { path, trigger, highest: Tsn(high), cause };
                    picture.signal(&mut *scheme, &event);
                }
                windows.push(picture.paths[0].limit.cwnd);
            }
            windows
        };
        assert_eq!(run(scheme), run("cmt,fr-freeze=on,half-floor=2"), "{scheme}");
    }
}

#[test]
fn names_and_keys_are_unique_and_defaults_exist() {
    for (i, preset) in presets().iter().enumerate() {
        assert!(presets()[i + 1..].iter().all(|p| p.name != preset.name));
        let (keys, mut settings) = (preset.keys(), (preset.settings)());
        for (k, key) in keys.iter().enumerate() {
            assert!(keys[k + 1..].iter().all(|o| o.name != key.name), "{}", key.name);
        }
        for key in settings.keys() {
            let default = settings.get(key.name).expect("a key has a value");
            assert_eq!(
                settings.set(key.name, &default),
                Ok(true),
                "{}: the default is in its range",
                key.name
            );
        }
    }
}

fn tuned(spec: &str) -> TransportConfig {
    let mut config = TransportConfig::default();
    parse_spec(spec).expect("a spec of this test").tune(&mut config);
    config
}

/// The means of profile `live` against paths that block a buffer come with `bond` and `strand` into any profile, with
/// others by a key. `strand` acknowledges sooner by its own `ack-delay`.
#[test]
fn unblock_brings_copies_and_short_timers_into_any_profile() {
    let live = TransportConfig::live();
    let told = |c: &TransportConfig| (c.head_of_line, c.tail_probes, c.rto_min_strandcast);
    let delay = |spec| tuned(spec).sack_delay_strandcast;
    for spec in ["bond", "strand", "cmt,unblock=on"] {
        assert_eq!(told(&tuned(spec)), told(&live), "{spec}");
    }
    assert_eq!(
        (delay("bond"), delay("cmt,unblock=on")),
        (live.sack_delay_strandcast, live.sack_delay_strandcast)
    );
    assert_eq!(delay("strand"), Some(Duration::from_millis(15)));
    for spec in ["bond,unblock=off", "strand,unblock=off", "cmt", "sctp"] {
        assert_eq!(told(&tuned(spec)), told(&TransportConfig::default()), "{spec}");
        assert_eq!(delay(spec), None, "{spec}");
    }
    let own = tuned("bond,rto-min=700");
    assert_eq!((own.rto_min, own.rto_min_strandcast), (Duration::from_millis(700), None));
}

/// multipath-tcp.org's ecf and blest answer a full window as its default scheduler does; daps and today's Linux do not.
/// All of this holds regardless of the transport's own functions, unless a key changes it.
#[test]
fn schedulers_bring_their_answer_to_a_full_buffer() {
    let told = |scheduler: &str| {
        let mut config = TransportConfig::live();
        let spec = format!("cmt,scheduler={scheduler}");
        parse_spec(&spec).expect("a spec of this test").tune(&mut config);
        config.head_of_line
    };
    for scheduler in ["ecf", "blest", "linux,head-of-line=linux"] {
        assert_eq!(told(scheduler), Some(HeadOfLineConfig::LINUX), "{scheduler}");
    }
    for scheduler in ["daps", "linux", "ecf,head-of-line=off"] {
        assert_eq!(told(scheduler), None, "{scheduler}");
    }
    let without = HeadOfLineConfig { penalty: false, ..HeadOfLineConfig::LINUX };
    assert_eq!(told("blest,penalty=off"), Some(without));
    assert_eq!(told("lowest-rtt"), Some(HeadOfLineConfig::SOONER), "it has no answer of its own");
}

#[test]
fn presets_set_what_they_need_of_the_transport() {
    assert_eq!(tuned("sctp"), TransportConfig::default(), "RFC 9260's own timing");
    let cmt = tuned("cmt");
    assert_eq!(cmt.pf_max_retrans, Some(0), "potentially failed at the first timeout");
    assert!(cmt.failed_probe_interval.is_some_and(|t| t <= Duration::from_secs(2)));
    assert_eq!(cmt.rto_min, TransportConfig::default().rto_min);
    assert!(!cmt.strict_rfc && tuned("cmt,strict=on").strict_rfc);
    assert_eq!(tuned("cmt,rto-min=300").rto_min, Duration::from_millis(300));
    assert_eq!(tuned("cmt,pf=off,probe-interval=0"), TransportConfig::default());
}

/// Lets the window of path 1 grow over 60 full windows of acknowledgements; the next TSN.
#[test]
fn any_preset_repairs_beside_messages() {
    let with = |code, redundancy, when, window| {
        Some(Coding::Repair(RepairCoding { code, redundancy, when, window }))
    };
    for (keys, coding) in [
        ("fec=off,redundancy=7", None),
        ("fec=rlc", with(RepairCode::Rlc, 0.05, RepairWhen::Late, 128)),
        ("fec=rlc,redundancy=5 %", with(RepairCode::Rlc, 0.05, RepairWhen::Late, 128)),
        (
            "fec=raptorq,fec-when=always,redundancy=12.5%",
            with(RepairCode::RaptorQ, 0.125, RepairWhen::Always, 128),
        ),
        ("fec=rs,fec-window=50 messages", with(RepairCode::ReedSolomon, 0.05, RepairWhen::Late, 50)),
    ] {
        for preset in ["bond", "lia", "sctp", "cmt-qa", "cmt-cl-fd", "redundant"] {
            assert_eq!(tuned(&format!("{preset},{keys}")).coding, coding, "{preset},{keys}");
        }
    }
    let mistakes = [
        ("fec=foo", "fec can't be 'foo'; it can be off, rlc, raptorq, rs"),
        ("fec=rcl", "fec can't be 'rcl', did you mean rlc?; it can be off, rlc, raptorq, rs"),
        ("redundancy=500 %", "redundancy can't be '500 %'; it can be 0.1 to 50 %"),
        ("redundancy=0", "redundancy can't be '0'; it can be 0.1 to 50 %"),
        ("fec-when=never", "fec-when can't be 'never'; it can be always, late"),
        ("fec-window=1", "fec-window can't be '1'; it can be 2 to 256 messages"),
    ];
    for (key, line) in mistakes {
        let error = parse_spec(&format!("bond,{key}")).expect_err(key);
        assert_eq!(error.to_string(), line);
    }
}

#[test]
fn keys_of_repair_without_repair_are_refused_unless_it_is_switched_off_on_purpose() {
    for keys in ["redundancy=7", "fec-when=always", "fec-window=9,rto-min=0"] {
        let error = parse_spec(&format!("bond,{keys}")).expect_err(keys).to_string();
        assert!(error.contains("add fec=rlc"), "{keys}: {error}");
        assert!(parse_spec(&format!("bond,fec=off,{keys}")).is_ok(), "{keys}");
        assert!(parse_spec(&format!("bond,fec=rs,{keys}")).is_ok(), "{keys}");
    }
}

fn grow(picture: &mut Picture, scheme: &mut dyn Scheme) -> u32 {
    let mut tsn = 1;
    for _ in 0..60 {
        let flight = picture.paths[1].limit.cwnd;
        let high = tsn + (flight / MTU).clamp(1, 60) as u32 - 1;
        picture.paths[1].in_flight = flight;
        picture.now += Duration::from_millis(100);
        picture.signal(scheme, &Signal::Acked(&fixture::ack(1, high, (tsn, high), flight)));
        tsn = high + 1;
    }
    tsn
}

/// A path that holds others up has a smaller window afterwards in every preset and with every window, the others keep
/// theirs, and no part counts a loss. Windows that follow a measured rate stay at their least here, where none is
/// measured.
#[test]
fn a_penalty_cuts_every_window() {
    let grows = |name: &str| !matches!(name, "bbr" | "delay-guard");
    let windows = crate::congestion::congestions().into_iter().filter(|c| grows(c.name));
    let windows = windows.map(|c| format!("cmt,cc={}", c.name));
    let rounds = "cmt,cc=receiver-rate,feedback=rounds,scheduler=receiver".to_owned();
    let specs = presets().iter().map(|p| p.name.to_owned()).chain(windows).chain([rounds]);
    for spec in specs {
        let Ok(parsed) = parse_spec(&spec) else { continue };
        let mut scheme = parsed.build(&Seeds::new(3, 0));
        let mut picture = Picture::new(2);
        for path in [0, 1] {
            picture.signal(&mut *scheme, &Signal::PathChanged(PathId(path)));
        }
        let tsn = grow(&mut picture, &mut *scheme);
        let loss = picture.paths[1].est.loss;
        let (other, before) = (picture.paths[0].limit.cwnd, picture.paths[1].limit.cwnd);
        assert!(before > 8 * MTU, "{spec}: {before}");
        let (path, trigger, cause) = (PathId(1), LossTrigger::HeadOfLine, LossCause::Congestion);
        let event = Signal::LossEvent { path, trigger, highest: Tsn(tsn), cause };
        picture.signal(&mut *scheme, &event);
        let after = picture.paths[1].limit.cwnd;
        assert!(after < before && after >= before / 4, "{spec}: {after} of {before}");
        assert_eq!(picture.paths[0].limit.cwnd, other, "{spec}: the other path");
        assert_eq!(picture.paths[1].est.loss, loss, "{spec}: nothing was lost");
    }
}

#[test]
fn any_preset_has_a_cap_on_redundancy() {
    let cap = |spec: &str| {
        let mut config = TransportConfig::default();
        parse_spec(spec).expect(spec).tune(&mut config);
        config.redundancy
    };
    for preset in presets() {
        assert_eq!(cap(&format!("{},redundancy-cap=3", preset.name)), Some(0.03), "{}", preset.name);
    }
    assert_eq!([cap("bond"), cap("bond,redundancy-cap=0")], [None, None]);
    let own = ["strand", "strand,copy-share=2", "strand,copy-share=2,redundancy-cap=7 %"];
    assert_eq!(own.map(cap), [Some(0.05), Some(0.02), Some(0.07)]);
}
