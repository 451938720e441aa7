//! A scenario in the words of its file.

use core::time::Duration;

use serde_json::{Map, Value, json};

use super::model::{
    App, Cross, Direction, Down, DownMode, Every, Flow, Frames, Host, Link, LinkRate, Loss, Named, Number,
    OnOffLaw, PacketSize, Path, Queue, QueueKind, QueueLimit, Reorder, Run, Scenario, Sctp, Tcp, TcpValue,
    TraceFile, Transport, Video,
};
use super::profiles;
use super::read::MODULATIONS;

/// All that a scenario says, defaults included, as tables that a scenario file takes: read again they are the same
/// scenario, with the same [`hash`](super::hash). Numbers are plain, in SI units; the limit of a queue in bytes has its
/// unit, since a plain one counts packets. What is not there has no key: an outage that does not end, the size of
/// messages that fill a packet.
pub fn written(scenario: &Scenario) -> Value {
    let Scenario { title, run, host, nodes, links, flows, cross } = scenario;
    let Run { time, warmup, seed, runs, series } = run;
    let Host { overhead } = host;
    let run = table([
        ("time", Some(seconds(*time))),
        ("warmup", Some(seconds(*warmup))),
        ("seed", Some(json!(seed))),
        ("runs", Some(json!(runs))),
        ("series", series.map(seconds)),
    ]);
    json!({
        "title": title, "run": run, "host": { "overhead": overhead },
        "nodes": each(nodes, |_| json!({})), "links": each(links, link), "flows": each(flows, flow),
        "cross": each(cross, background),
    })
}

fn each<T>(named: &Named<T>, write: impl Fn(&T) -> Value) -> Value {
    Value::Object(named.iter().map(|(name, one)| (name.clone(), write(one))).collect())
}

/// A table of the keys that have a value.
fn table<const N: usize>(keys: [(&str, Option<Value>); N]) -> Value {
    let given = keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(given.collect())
}

/// The keys of both.
fn joined(first: Value, second: Value) -> Value {
    let keys = [first, second].into_iter().flat_map(|value| match value {
        Value::Object(keys) => keys,
        _ => Map::new(),
    });
    Value::Object(keys.collect())
}

fn seconds(time: Duration) -> Value {
    json!(time.as_secs_f64())
}

fn path_of(file: &TraceFile) -> Value {
    json!(file.path.to_string_lossy())
}

fn link(link: &Link) -> Value {
    let Link { from, to, forward, reverse, wireless, spares_background } = link;
    let ends = json!({
        "from": from, "to": to, "wireless": wireless,
        "loss_takes": if *spares_background { "flows" } else { "all" },
        "reverse": direction(reverse, forward.arq.is_some()),
    });
    joined(ends, direction(forward, false))
}

/// A direction of a link; `none` tells that it has no retransmission, which another one has by default.
fn direction(direction: &Direction, none: bool) -> Value {
    let Direction { rate, delay, queue, loss, arq, reorder, duplicate, corrupt, down } = direction;
    let retries = arq.map(|arq| arq.retries).or(none.then_some(0));
    let rate = match rate {
        LinkRate::Infinite => json!("infinite"),
        LinkRate::Number(rate) => number(rate),
        LinkRate::Opportunities { file } => json!({ "trace": path_of(file) }),
    };
    let Queue { kind: QueueKind::DropTail, limit, in_service } = queue;
    let limit = match limit {
        QueueLimit::Unlimited => json!("unlimited"),
        QueueLimit::Packets(packets) => json!(packets),
        QueueLimit::Bytes(bytes) => json!(format!("{bytes} B")),
    };
    let reorder = reorder
        .map(|Reorder { probability, extra }| json!({ "probability": probability, "extra": seconds(extra) }));
    table([
        ("rate", Some(rate)),
        ("delay", Some(number(delay))),
        ("queue", Some(json!({ "kind": "drop-tail", "limit": limit, "in_service": in_service }))),
        ("loss", Some(each(loss, model))),
        ("arq", retries.map(|retries| json!({ "retries": retries }))),
        ("reorder", reorder),
        ("duplicate", Some(json!(duplicate))),
        ("corrupt", Some(json!(corrupt))),
        ("down", Some(each(down, outage))),
    ])
}

fn number(number: &Number) -> Value {
    match number {
        Number::Constant(value) => json!(value),
        Number::Uniform { low, high, every } => {
            let every = match every {
                Every::Run => json!("run"),
                Every::Packet => json!("packet"),
                Every::Period(period) => seconds(*period),
            };
            json!({ "uniform": [low, high], "every": every })
        }
        Number::Steps(steps) => {
            let steps = steps.iter().map(|(time, value)| json!([time.as_secs_f64(), value]));
            json!({ "steps": steps.collect::<Vec<_>>() })
        }
        Number::Trace { file, repeat } => json!({ "trace": path_of(file), "loop": repeat }),
    }
}

fn model(loss: &Loss) -> Value {
    match loss {
        Loss::Uniform { rate } => json!({ "model": "uniform", "rate": number(rate) }),
        Loss::MarkovByPacket { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } => json!({
            "model": "markov", "by": "packet", "p_good_to_bad": p_good_to_bad, "p_bad_to_good": p_bad_to_good,
            "loss_good": loss_good, "loss_bad": loss_bad,
        }),
        Loss::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad } => json!({
            "model": "markov", "by": "time", "good": seconds(*mean_good), "bad": seconds(*mean_bad),
            "loss_good": loss_good, "loss_bad": loss_bad,
        }),
        Loss::Snr { modulation, snr } => {
            let word = MODULATIONS.iter().find(|(_, one)| one == modulation).map(|(word, _)| *word);
            json!({ "model": "snr", "modulation": word, "snr": number(snr) })
        }
        Loss::List { file, repeat } => json!({ "model": "list", "file": path_of(file), "loop": repeat }),
    }
}

fn outage(down: &Down) -> Value {
    let Down { from, to, mode } = down;
    let mode = match mode {
        DownMode::Silent => "silent",
        DownMode::Notify => "notify",
    };
    table([("from", Some(seconds(*from))), ("to", to.map(seconds)), ("mode", Some(json!(mode)))])
}

fn flow(flow: &Flow) -> Value {
    let Flow { from, to, transport, app, fits, start, stop, count, compare, paths, primary } = flow;
    let (own, comparable) = match transport {
        Transport::Sctp { scheme, sctp } => {
            let (profile, constants) = (sctp.profile.name(), sctp_constants(sctp));
            (json!({ "transport": "sctp", "scheme": scheme, "profile": profile, "sctp": constants }), true)
        }
        Transport::Tcp { cc, tcp } => (joined(json!({ "transport": "tcp", "cc": cc }), constants(tcp)), true),
        Transport::Mptcp { cc, tcp } => {
            (joined(json!({ "transport": "mptcp", "cc": cc }), constants(tcp)), true)
        }
        Transport::Udp { header } => (json!({ "transport": "udp", "header": header }), false),
    };
    let common = table([
        ("from", Some(json!(from))),
        ("to", Some(json!(to))),
        ("app", Some(application(app, *fits))),
        ("start", Some(number(start))),
        ("stop", stop.map(seconds)),
        ("count", Some(json!(count))),
        ("compare", comparable.then(|| json!(compare))),
        ("paths", Some(each(paths, path))),
        ("primary", primary.as_ref().map(|name| json!(name))),
    ]);
    joined(common, own)
}

fn path(path: &Path) -> Value {
    let Path { via, back, join, leave } = path;
    let back = (!back.is_empty()).then(|| json!(back));
    table([
        ("via", Some(json!(via))),
        ("back", back),
        ("join", join.map(seconds)),
        ("leave", leave.map(seconds)),
    ])
}

fn sctp_constants(sctp: &Sctp) -> Value {
    let mut constants = json!({
        "mtu": sctp.mtu,
        "encapsulation": if sctp.encapsulation == profiles::IP { "none" } else { "udp" },
        "receive_buffer": sctp.receive_buffer,
        "send_buffer": sctp.send_buffer,
        "rto_initial": seconds(sctp.rto_initial),
        "rto_min": seconds(sctp.rto_min),
        "rto_max": seconds(sctp.rto_max),
        "max_burst": sctp.max_burst,
        "sack_delay": seconds(sctp.sack_delay),
        "sack_frequency": sctp.sack_frequency,
        "heartbeat_interval": seconds(sctp.heartbeat_interval),
        "path_max_retrans": sctp.path_max_retrans,
        "association_max_retrans": sctp.association_max_retrans,
        "reports": sctp.reports,
        "scheme_defaults": sctp.scheme_defaults,
    });
    if let Some(limit) = sctp.buffer_limit {
        constants["buffer_limit"] = json!(limit);
    }
    for (key, ours) in [("rto_min_ours", sctp.rto_min_ours), ("sack_delay_ours", sctp.sack_delay_ours)] {
        if let Some(ours) = ours {
            constants[key] = seconds(ours);
        }
    }
    let own = sctp.profile.transport();
    if sctp.tail_probes != own.tail_probes {
        constants["tail_probes"] = json!(sctp.tail_probes);
    }
    let silences = [
        ("endured_silence", sctp.endured_silence, own.endured_silence),
        ("failed_after", sctp.failed_after, own.failed_after),
    ];
    for (key, time, own) in silences {
        if time != own {
            constants[key] = seconds(time.unwrap_or_default());
        }
    }
    constants
}

/// The profile of TCP, and the constants that it does not have.
fn constants(tcp: &Tcp) -> Value {
    let Tcp { profile, set } = tcp;
    let set = each(set, |value| match value {
        TcpValue::Number(number) => json!(number),
        TcpValue::Word(word) => json!(word),
        TcpValue::Switch(on) => json!(on),
    });
    json!({ "profile": profile, "tcp": set })
}

fn application(app: &App, fits: bool) -> Value {
    let (size, own) = match app {
        App::Bulk { size } => (size, json!({ "kind": "bulk" })),
        App::Finite { size, bytes } => (size, json!({ "kind": "finite", "bytes": bytes })),
        App::Cbr { size, rate } => (size, json!({ "kind": "cbr", "rate": number(rate) })),
        App::Poisson { size, rate } => (size, json!({ "kind": "poisson", "rate": number(rate) })),
        App::OnOff { size, rate, on, off, law } => (size, on_off(rate, (*on, *off), *law)),
        App::Video(video) => (&video.size, frames(video)),
    };
    joined(own, table([("size", (!fits).then(|| json!(size)))]))
}

fn on_off(rate: &Number, (on, off): (Duration, Duration), law: OnOffLaw) -> Value {
    let (law, shape) = match law {
        OnOffLaw::Constant => ("constant", None),
        OnOffLaw::Exponential => ("exponential", None),
        OnOffLaw::Pareto { shape } => ("pareto", Some(json!(shape))),
    };
    table([
        ("kind", Some(json!("onoff"))),
        ("rate", Some(number(rate))),
        ("on", Some(seconds(on))),
        ("off", Some(seconds(off))),
        ("law", Some(json!(law))),
        ("shape", shape),
    ])
}

fn frames(video: &Video) -> Value {
    let Video { frames, size: _, deadline, expire, prebuffer } = video;
    let source = match frames {
        Frames::Constant { rate } => json!({ "rate": rate }),
        Frames::Trace { file, repeat } => json!({ "trace": path_of(file), "loop": repeat }),
    };
    let own = json!({
        "kind": "video", "deadline": seconds(*deadline), "expire": expire, "prebuffer": seconds(*prebuffer),
    });
    joined(own, source)
}

fn background(cross: &Cross) -> Value {
    let Cross { via, load, tcp_share, sizes, on, off, shape, sources, lead, tcp } = cross;
    let sizes = each(sizes, |PacketSize { bytes, share }| json!({ "bytes": bytes, "share": share }));
    let own = json!({
        "via": via, "load": number(load), "tcp_share": tcp_share, "sizes": sizes, "on": seconds(*on),
        "off": seconds(*off), "shape": shape, "sources": sources, "lead": seconds(*lead),
    });
    joined(own, constants(tcp))
}
