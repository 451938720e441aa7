//! Meaning of scenario files.

use core::time::Duration;
use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;
use strandcast_lab::scenario::{
    App, Arq, Document, Every, Frames, Hop, LinkRate, Loss, Modulation, Number, OnOffLaw, QueueLimit,
    Scenario, TcpValue, Transport, hash, load, parse,
};

/// Two nodes, one link, one flow.
const SMALL: &str = r#"
[nodes.a]
[nodes.b]
[links.l]
from = "a"
to = "b"
rate = "2 Mbit/s"
[flows.f]
from = "a"
to = "b"
"#;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scenario")
}

#[track_caller]
fn read(text: &str) -> Scenario {
    parse(text, "net.toml", &folder(), &[]).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn small(more: &str) -> Scenario {
    read(&format!("{SMALL}{more}"))
}

#[track_caller]
fn set(arguments: &[&str]) -> Scenario {
    let sets: Vec<String> = arguments.iter().map(|argument| argument.to_string()).collect();
    parse(SMALL, "net.toml", &folder(), &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// The link `l` with more keys.
#[track_caller]
fn link(more: &str) -> strandcast_lab::scenario::Link {
    read(&SMALL.replace("rate = \"2 Mbit/s\"\n", more)).links["l"].clone()
}

/// The flow `f` with more keys.
#[track_caller]
fn flow(more: &str) -> strandcast_lab::scenario::Flow {
    small(more).flows["f"].clone()
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn what_is_not_written_has_its_default() {
    let scenario = small("");
    assert_eq!(scenario.title, "");
    let run = &scenario.run;
    assert_eq!(
        (run.time, run.warmup, run.seed, run.runs, run.series),
        (60 * SECOND, Duration::ZERO, 1, 1, None)
    );
    assert!(scenario.host.overhead);
    let link = &scenario.links["l"];
    assert!(!link.wireless);
    assert_eq!(link.forward.delay, Number::Constant(0.0));
    assert_eq!((link.forward.queue.limit, link.forward.queue.in_service), (QueueLimit::Packets(100), false));
    assert_eq!(link.forward, link.reverse);
    let flow = &scenario.flows["f"];
    assert_eq!((flow.count, flow.compare, flow.stop, &flow.primary), (1, false, None, &None));
    let Transport::Sctp { scheme, sctp } = &flow.transport else { panic!("sctp is the default") };
    assert_eq!((scheme.as_str(), sctp.mtu, sctp.encapsulation), ("cmt", 1400, 28));
    // 1400 = 20 IP + 8 UDP + 12 SCTP + 16 DATA + 1344.
    assert_eq!((&flow.app, flow.fits), (&App::Bulk { size: 1344 }, true));
    assert_eq!(flow.paths["default"].via, ["l"]);
}

#[test]
fn numbers_of_links() {
    let l = link("rate = { steps = [[0, \"1 Mbit/s\"], [\"500 ms\", 2e6]] }\n");
    let steps = vec![(Duration::ZERO, 1e6), (SECOND / 2, 2e6)];
    assert_eq!(l.forward.rate, LinkRate::Number(Number::Steps(steps)));
    for (every, means) in [
        ("", Every::Run),
        (", every = \"run\"", Every::Run),
        (", every = \"packet\"", Every::Packet),
        (", every = \"5 s\"", Every::Period(5 * SECOND)),
        (", every = 5", Every::Period(5 * SECOND)),
    ] {
        let l = link(&format!("delay = {{ uniform = [\"10 ms\", 0.02]{every} }}\n"));
        assert_eq!(l.forward.delay, Number::Uniform { low: 0.01, high: 0.02, every: means });
    }
    let LinkRate::Opportunities { file } = link("rate = { trace = \"good.up\" }\n").forward.rate else {
        panic!("any name but .csv is mahimahi's");
    };
    assert_eq!((file.path, &*file.text), (folder().join("good.up"), "1\n2\n"));
    let LinkRate::Number(Number::Trace { repeat, .. }) =
        link("rate = { trace = \"single.csv\" }\n").forward.rate
    else {
        panic!("the file is .csv");
    };
    assert!(!repeat);
}

#[test]
fn queues() {
    for (limit, means) in [
        ("50", QueueLimit::Packets(50)),
        ("\"50 packets\"", QueueLimit::Packets(50)),
        ("\"1 packet\"", QueueLimit::Packets(1)),
        ("\"50\"", QueueLimit::Packets(50)),
        ("0", QueueLimit::Packets(0)),
        ("\"64 kB\"", QueueLimit::Bytes(64_000)),
        ("\"64KiB\"", QueueLimit::Bytes(65_536)),
        ("\"1500 B\"", QueueLimit::Bytes(1500)),
        ("\"unlimited\"", QueueLimit::Unlimited),
    ] {
        assert_eq!(link(&format!("queue.limit = {limit}\n")).forward.queue.limit, means, "{limit}");
    }
}

#[test]
fn the_other_direction_is_alike_without_loss() {
    let l = link(
        "rate = 1e6\ndelay = 0.01\nqueue = { limit = 5, in_service = true }\nloss.uniform.rate = 0.1\n\
         duplicate = 0.1\ncorrupt = 0.1\nreorder = { probability = 0.1, extra = 1 }\ndown = { from = 1 }\n",
    );
    let forward = &l.forward;
    assert_eq!(forward.down, l.reverse.down);
    let bare = strandcast_lab::scenario::Direction {
        loss: Default::default(),
        duplicate: 0.0,
        corrupt: 0.0,
        reorder: None,
        ..forward.clone()
    };
    assert_eq!(l.reverse, bare);
    let l = link(
        "rate = 1e6\nqueue = { limit = 5, in_service = true }\ndown = { from = 1 }\n\
         reverse = { rate = 2e6, queue.limit = 9, down = {}, loss.uniform.rate = 0.5 }\n",
    );
    assert_eq!(l.reverse.rate, LinkRate::Number(Number::Constant(2e6)));
    assert_eq!((l.reverse.queue.limit, l.reverse.queue.in_service), (QueueLimit::Packets(9), true));
    assert!(l.reverse.down.is_empty() && l.forward.down.len() == 1 && l.reverse.loss.len() == 1);
}

#[test]
fn losses() {
    let l = link(
        "loss.uniform.rate = \"2 %\"\nloss.markov = { rate = 0.01, burst = 3 }\n\
         loss.x = { model = \"markov\", by = \"time\", good = 10, bad = \"100 ms\" }\n\
         loss.uniform2 = { model = \"uniform\", rate = 0.5 }\n",
    );
    assert_eq!(l.forward.loss.len(), 4);
    assert_eq!(l.forward.loss["uniform"], Loss::Uniform { rate: Number::Constant(0.02) });
    let Loss::MarkovByPacket { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } = l.forward.loss["markov"]
    else {
        panic!("markov is by packet");
    };
    // Stationary loss p_gb / (p_gb + p_bg), mean burst 1 / p_bg.
    assert!((p_good_to_bad / (p_good_to_bad + p_bad_to_good) - 0.01).abs() < 1e-12);
    assert!((1.0 / p_bad_to_good - 3.0).abs() < 1e-12);
    assert_eq!((loss_good, loss_bad), (0.0, 1.0));
    let by_time =
        Loss::MarkovByTime { mean_good: 10 * SECOND, mean_bad: SECOND / 10, loss_good: 0.0, loss_bad: 1.0 };
    assert_eq!(l.forward.loss["x"], by_time);
}

#[test]
fn bit_errors_and_the_link_s_own_retransmission() {
    let l = link(
        "loss.snr = { modulation = \"16qam\", snr = \"13.5 dB\" }\n\
         loss.fading = { model = \"snr\", modulation = \"qpsk\", snr = { uniform = [10, \"20 dB\"], every = \"1 s\" } }\n\
         arq = { retries = 4 }\n",
    );
    let constant = Loss::Snr { modulation: Modulation::Qam16, snr: Number::Constant(13.5) };
    assert_eq!(l.forward.loss["snr"], constant);
    let snr = Number::Uniform { low: 10.0, high: 20.0, every: Every::Period(SECOND) };
    assert_eq!(l.forward.loss["fading"], Loss::Snr { modulation: Modulation::Qpsk, snr });
    assert_eq!((l.forward.arq, l.reverse.arq), (Some(Arq { retries: 4 }), Some(Arq { retries: 4 })));
    let l = link("arq.retries = 3\nreverse.arq.retries = 0\n");
    assert_eq!((l.forward.arq, l.reverse.arq), (Some(Arq { retries: 3 }), None));
    assert_eq!(link("rate = 1e6\n").forward.arq, None);
}

#[test]
fn outages_have_one_name_or_several() {
    let one = link("down = { from = 1, to = 2 }\n").forward.down;
    assert_eq!(one.keys().collect::<Vec<_>>(), ["down"]);
    let several = link("down.x = { from = 3 }\ndown.from = { from = 1, to = 3 }\n").forward.down;
    assert_eq!(several.keys().collect::<Vec<_>>(), ["from", "x"]);
}

#[test]
fn profiles_of_sctp() {
    let f = flow("profile = \"ns2\"\nsctp = { rto_min = \"200 ms\", receive_buffer = \"256 KiB\" }\n");
    let Transport::Sctp { sctp, .. } = f.transport else { panic!("sctp") };
    assert_eq!((sctp.rto_initial, sctp.rto_min, sctp.receive_buffer), (3 * SECOND, SECOND / 5, 1 << 18));
    // 1500 = 20 IP + 12 SCTP + 16 DATA + 1452.
    assert_eq!((sctp.mtu, sctp.encapsulation, f.app), (1500, 20, App::Bulk { size: 1452 }));
    let odd = flow("sctp = { mtu = 1001, encapsulation = \"none\" }\n");
    assert_eq!(odd.app, App::Bulk { size: 952 }, "953 bytes would be padded beyond the packet");
}

#[test]
fn other_transports() {
    let Transport::Tcp { cc, tcp } =
        flow("transport = \"tcp\"\ntcp = { segment = \"1 kB\", rto_min = \"0.2 s\" }\n").transport
    else {
        panic!("tcp");
    };
    assert_eq!((cc.as_str(), tcp.profile.as_str()), ("reno", "rfc"));
    assert_eq!(
        (&tcp.set["segment"], &tcp.set["rto_min"]),
        (&TcpValue::Number(1000.0), &TcpValue::Number(0.2))
    );
    let Transport::Mptcp { cc, scheduler, .. } = flow("transport = \"mptcp\"\n").transport else {
        panic!("mptcp")
    };
    assert_eq!((cc.as_str(), scheduler.as_str()), ("lia", "lowest-rtt"));
    let udp = flow("transport = \"udp\"\napp = { kind = \"poisson\", rate = \"1 Mbit/s\" }\n");
    assert_eq!(udp.transport, Transport::Udp { header: 28 });
    assert_eq!(udp.app, App::Poisson { size: 1400, rate: Number::Constant(1e6) });
    let App::OnOff { law, .. } =
        flow("app = { kind = \"onoff\", rate = 1, on = 1, off = 2, law = \"pareto\" }\n").app
    else {
        panic!("onoff");
    };
    assert_eq!(law, OnOffLaw::Pareto { shape: 1.5 });
    let App::Video(video) = flow("app = { kind = \"video\", rate = \"1 Mbit/s\" }\n").app else {
        panic!("video")
    };
    assert_eq!(
        (video.frames, video.deadline, video.prebuffer),
        (Frames::Constant { rate: 1e6 }, SECOND, 2 * SECOND)
    );
}

#[test]
fn background_load_has_the_papers_mix() {
    let cross = small("[cross.c]\nvia = [\"l\"]\nload = \"30 %\"\n").cross["c"].clone();
    assert_eq!(
        (cross.load, cross.tcp_share, cross.shape, cross.lead),
        (Number::Constant(0.3), 0.9, 1.5, 10 * SECOND)
    );
    let mean: f64 = cross.sizes.values().map(|size| f64::from(size.bytes) * size.share).sum();
    let by_hand = 0.49 * 44.0 + 0.012 * 576.0 + 0.021 * 628.0 + 0.017 * 1300.0 + 0.46 * 1500.0;
    assert!((mean - by_hand).abs() < 1e-9);
    assert_eq!(cross.tcp.set["recovery"], TcpValue::Word("newreno".into()));
}

/// A square with a diagonal: a-b-d, a-c-d, and a-d by a chain of its own.
const SQUARE: &str = r#"
[nodes]
a = {}
b = {}
c = {}
d = {}
[links]
z1 = { from = "a", to = "b" }
z2 = { from = "d", to = "b" }
y1 = { from = "a", to = "c", rate = 1e6 }
y2 = { from = "c", to = "d" }
diagonal = { from = "b", to = "c" }
[flows.f]
from = "a"
to = "d"
"#;

#[test]
fn routes_have_the_fewest_links_and_then_the_first_names() {
    let square = read(SQUARE);
    assert_eq!(square.flows["f"].paths["default"].via, ["y1", "y2"]);
    assert_eq!(square.flows["f"].paths["default"].back, ["y2", "y1"]);
    assert_eq!(square.route("d", "a"), Some(vec!["y2".into(), "y1".into()]));
    assert_eq!(square.route("b", "c"), Some(vec!["diagonal".into()]));
    assert_eq!(square.route("a", "a"), Some(vec![]));
    assert_eq!(square.route("a", "nowhere"), None);
    let way = square.way("a", "d", &["z1".into(), "z2".into()]).expect("it is a way");
    let link = |link: &str, reverse| Hop::Link { link: link.into(), reverse };
    assert_eq!(way, [link("z1", false), link("z2", true)]);
    assert!(square.direction(&way[1]).is_some());
}

#[test]
fn background_load_begins_where_its_second_link_is_not() {
    let load = |via: &str| {
        let square = read(&format!("{SQUARE}[cross.c]\nvia = {via}\nload = 0.1\n"));
        let (from, way) = square.cross_way(&square.cross["c"]).expect("it was read");
        (from.to_string(), way.len())
    };
    assert_eq!(load("[\"y1\", \"y2\"]"), ("a".into(), 2));
    assert_eq!(load("[\"y1\", \"z1\"]"), ("c".into(), 2));
    assert_eq!(load("[\"y1\"]"), ("a".into(), 1));
}

#[test]
fn arguments_change_what_the_file_says() {
    let rate = |n: f64| LinkRate::Number(Number::Constant(n));
    for argument in
        ["links.l.rate=10Mbit/s", "links.l.rate=\"10 Mbit/s\"", "links.l.rate = 10e6", "links.'l'.rate=1e7"]
    {
        assert_eq!(set(&[argument]).links["l"].forward.rate, rate(1e7), "{argument}");
    }
    let lossy = set(&["links.l.loss.uniform.rate=0.02"]).links["l"].forward.loss.clone();
    assert_eq!(lossy["uniform"], Loss::Uniform { rate: Number::Constant(0.02) });
    let table = set(&["links.l.delay={uniform=[0, 1]}"]).links["l"].forward.delay.clone();
    assert_eq!(table, Number::Uniform { low: 0.0, high: 1.0, every: Every::Run });
    let inside = set(&["links.l.delay.uniform=[0, 1]", "links.l.delay.every=packet"]);
    assert_eq!(
        inside.links["l"].forward.delay,
        Number::Uniform { low: 0.0, high: 1.0, every: Every::Packet }
    );
    let scheme = set(&["flows.f.scheme=cmt,rtx=same"]);
    assert!(
        matches!(&scheme.flows["f"].transport, Transport::Sctp { scheme, .. } if scheme == "cmt,rtx=same")
    );
    assert_eq!(set(&["run.time=10", "run.time=20"]).run.time, 20 * SECOND, "the last one holds");
    let new = set(&["nodes.\"c.1\"={}", "links.m.from=a", "links.m.to=c.1"]);
    assert_eq!(new.links["m"].to, "c.1");
}

#[test]
fn a_document_tells_its_users_mistakes_with_a_line() {
    let sets = ["flows.g={from=\"a\", to=\"b\", scheme=\"cmtt\"}".to_string()];
    let text = SMALL.replace("[flows.f]\n", "[flows.f]\nscheme = \"cmtt\"\n");
    let document = Document::parse(&text, "net.toml", Path::new(""), &sets).expect("it is TOML");
    assert_eq!(
        document.error(&["flows", "f", "scheme"], "unknown scheme").to_string(),
        "net.toml:9: flows.f.scheme: unknown scheme"
    );
    assert_eq!(
        document.error(&["flows", "f", "cc"], "what isn't there").to_string(),
        "net.toml:8: flows.f.cc: what isn't there"
    );
    assert_eq!(
        document.error(&["flows", "g", "scheme"], "unknown scheme").to_string(),
        format!("--set {}: flows.g.scheme: unknown scheme", sets[0])
    );
    let missing = load(Path::new("/nowhere/net.toml"), &[]).expect_err("it does not exist").to_string();
    assert!(missing.starts_with("/nowhere/net.toml: can't be read: "), "{missing}");
}

#[test]
fn the_hash_is_that_of_what_is_said() {
    let same = [
        SMALL.to_string(),
        SMALL.replace("rate = \"2 Mbit/s\"", "# a comment\nrate   = 2_000_000"),
        SMALL.replace("rate = \"2 Mbit/s\"", "rate = \"2e3kbps\"\nqueue.limit = \"100 packets\""),
        "flows = { f = { to = \"b\", from = \"a\", scheme = \"cmt\" } }\nnodes = { b = {}, a = {} }\n\
         [links]\nl = { rate = 2e6, to = \"b\", from = \"a\" }\n"
            .to_string(),
    ];
    let hashes: Vec<String> = same.iter().map(|text| hash(&read(text))).collect();
    assert_eq!(hashes[0].len(), 64);
    assert!(hashes.iter().all(|other| *other == hashes[0]), "{hashes:?}");
    for other in [
        "links.l.rate=2000001",
        "run.seed=2",
        "flows.f.scheme=sctp",
        "links.l.loss.uniform.rate=0",
        "nodes.c={}",
    ] {
        assert_ne!(hash(&set(&[other])), hashes[0], "{other}");
    }
}

#[test]
fn the_hash_has_traces_by_their_contents() {
    let root = std::env::temp_dir().join(format!("strandcast-scenario-{}", std::process::id()));
    let of = |folder: &str, name: &str, contents: &str| {
        let folder = root.join(folder);
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        std::fs::write(folder.join(name), contents).expect("the temporary folder can be written");
        let text = SMALL.replace("\"2 Mbit/s\"", &format!("{{ trace = \"{name}\" }}"));
        hash(&parse(&text, "net.toml", &folder, &[]).unwrap_or_else(|error| panic!("{error}")))
    };
    let first = of("one", "a.up", "1\n2\n");
    assert_eq!(of("two", "b.up", "1\n2\n"), first);
    assert_ne!(of("two", "b.up", "1\n3\n"), first);
    std::fs::remove_dir_all(&root).expect("it was made here");
}

proptest! {
    /// Reading a damaged file ends with a scenario or one line.
    #[test]
    fn damaged_files_give_one_line(cut in 0..2000usize, len in 0..40usize, put in "[a-z0-9=\\[\\]{}\"'.,# \n-]{0,12}") {
        let text = include_str!("../../../../scenarios/examples/shared-bottleneck.toml");
        let from = (0..=cut.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        let to = (from + len..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len());
        let damaged = format!("{}{put}{}", &text[..from], &text[to..]);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/examples");
        if let Err(error) = parse(&damaged, "net.toml", &folder, &[]) {
            let line = error.to_string();
            prop_assert!(line.starts_with("net.toml:") && !line.contains('\n'), "{}", line);
            let lines = damaged.lines().count().max(1);
            prop_assert!(error.line.is_some_and(|line| (1..=lines + 1).contains(&line)), "{}", line);
        }
    }

    /// Arguments give what the file gives, for any name and number.
    #[test]
    fn an_argument_is_a_line_of_the_file(name in "[ a-zA-Z0-9_.-]{1,8}", rate in 1.0..1e12f64) {
        let mut text = String::from(SMALL);
        let _ = write!(text, "[links.\"{name}\"]\nfrom = \"a\"\nto = \"b\"\nrate = {rate:?}\n");
        let sets = [
            format!("links.\"{name}\".from=a"),
            format!("links.\"{name}\".to=b"),
            format!("links.\"{name}\".rate={rate:?}"),
        ];
        prop_assume!(name != "l");
        prop_assert_eq!(read(&text), parse(SMALL, "net.toml", &folder(), &sets).expect("it is the same"));
    }
}
