//! Flows.

use core::str::FromStr;
use core::time::Duration;
use std::collections::BTreeMap;

use super::app;
use super::link::node;
use crate::scenario::error::hint;
use crate::scenario::model::{Flow, Named, Number, Path, Scenario, Sctp, Tcp, TcpValue, Transport};
use crate::scenario::profiles;
use crate::scenario::route::{Routes, way};
use crate::scenario::table::{Item, Read, Table, dotted, named};
use crate::scenario::tree::Value;
use crate::scenario::units::Quantity;
use strandcast_sim::tcp::{Config, ConfigError, Profile};

/// A flow; the network is complete already.
pub(super) fn flow(table: &Table<'_>, kind: &str, network: &Scenario, routes: &Routes<'_>) -> Read<Flow> {
    let (from, to) = (node(table, "from", &network.nodes)?, node(table, "to", &network.nodes)?);
    if from == to {
        return Err(
            table.error_at("to", format!("the flow leads from `{from}` to itself; let it go elsewhere"))
        );
    }
    let transport = transport(table, kind)?;
    let (app, fits) = app::app(table, &transport)?;
    let start = table.need("start")?.number()?;
    let stop = table.maybe("stop").map(|item| item.time()).transpose()?;
    if let (Number::Constant(start), Some(stop)) = (&start, stop)
        && stop.as_secs_f64() <= *start
    {
        return Err(table.error_at(
            "stop",
            format!("the flow stops at {stop:?} and starts at {start} s; let it stop later"),
        ));
    }
    let several = matches!(transport, Transport::Sctp { .. } | Transport::Mptcp { .. });
    let paths = paths(table, (&from, &to), (network, routes), several)?;
    if !several && paths.len() > 1 {
        let message =
            format!("{kind} has one path, not {}; transports sctp and mptcp have several", paths.len());
        return Err(table.error_at("paths", message));
    }
    let compare = !matches!(transport, Transport::Udp { .. }) && table.need("compare")?.switch()?;
    let mut primary = None;
    if matches!(transport, Transport::Sctp { .. }) {
        primary = table.maybe("primary").map(|item| primary_path(&item, &paths)).transpose()?;
    }
    let count = table.need("count")?.whole()? as u32;
    Ok(Flow { from, to, transport, app, fits, start, stop, count, compare, paths, primary })
}

fn primary_path(item: &Item<'_>, paths: &Named<Path>) -> Read<String> {
    let name = item.text()?;
    match paths.get(&name) {
        Some(path) if path.join.is_none() => Ok(name),
        Some(_) => Err(item.error(format!("path `{name}` joins later; the primary is there from the start"))),
        None => {
            Err(item
                .error(format!("there is no path `{name}`{}", hint(&name, paths.keys().map(String::as_str)))))
        }
    }
}

fn transport(table: &Table<'_>, kind: &str) -> Read<Transport> {
    Ok(match kind {
        "sctp" => Transport::Sctp { scheme: table.need("scheme")?.text()?, sctp: sctp(table)? },
        "tcp" => Transport::Tcp { cc: table.need("cc")?.text()?, tcp: tcp(table)? },
        "mptcp" => Transport::Mptcp { cc: table.need("cc")?.text()?, tcp: tcp(table)? },
        _ => Transport::Udp { header: table.need("header")?.bytes()? as u32 },
    })
}

fn sctp(flow: &Table<'_>) -> Read<Sctp> {
    let profile = flow.need("profile")?.word(&[("rfc", "rfc"), ("live", "live"), ("ns2", "ns2")])?;
    let table = flow.inner("sctp")?;
    let mut sctp = profiles::sctp(profile).expect("each word is a profile");
    macro_rules! replace {
        ($($field:ident = $read:expr;)*) => { $(
            if let Some(item) = table.maybe(stringify!($field)) {
                let read: fn(&Item<'_>) -> Read<_> = $read;
                sctp.$field = read(&item)?;
            }
        )* };
    }
    replace! {
        mtu = |item| Ok(item.bytes()? as u16);
        encapsulation = |item| item.word(&[("udp", profiles::IP_UDP), ("none", profiles::IP)]);
        receive_buffer = |item| Ok(item.bytes()? as u32);
        send_buffer = |item| Ok(item.bytes()? as u32);
        buffer_limit = |item| Ok(Some(item.bytes()? as u32));
        rto_initial = |item| item.time();
        rto_min = |item| item.time();
        rto_min_ours = |item| item.time().map(Some);
        rto_max = |item| item.time();
        max_burst = |item| Ok(item.whole()? as u32);
        sack_delay = |item| item.time();
        sack_delay_ours = |item| item.time().map(Some);
        tail_probes = |item| item.switch();
        sack_frequency = |item| Ok(item.whole()? as u32);
        heartbeat_interval = |item| item.time();
        path_max_retrans = |item| Ok(item.whole()? as u32);
        association_max_retrans = |item| Ok(item.whole()? as u32);
        endured_silence = |item| item.time().map(above_zero);
        failed_after = |item| item.time().map(above_zero);
        reports = |item| item.switch();
        scheme_defaults = |item| item.text();
    }
    let alone = |others, ours| table.has(others) && !table.has(ours);
    if alone("rto_min", "rto_min_ours") {
        sctp.rto_min_ours = None;
    }
    if alone("sack_delay", "sack_delay_ours") {
        sctp.sack_delay_ours = None;
    }
    if sctp.rto_min > sctp.rto_max {
        let message = format!("RTO.Min {:?} is above RTO.Max {:?}; swap them", sctp.rto_min, sctp.rto_max);
        return Err(table.error_at(if table.has("rto_min") { "rto_min" } else { "rto_max" }, message));
    }
    Ok(sctp)
}

fn above_zero(time: Duration) -> Option<Duration> {
    Some(time).filter(|t| !t.is_zero())
}

/// Constants of TCP that are times.
const TCP_TIMES: [&str; 5] = ["rto_initial", "rto_min", "rto_max", "granularity", "ack_delay"];

/// The profile and the constants of `tcp` in a flow or in background load.
pub(super) fn tcp(table: &Table<'_>) -> Read<Tcp> {
    let item = table.need("profile")?;
    let profile = item.word(&Profile::ALL.map(|(name, _)| (name, name)))?;
    let mut config = Config::from(Profile::from_str(profile).expect("each word is a profile"));
    let mut set = BTreeMap::new();
    for (name, item) in table.item_or_empty("tcp").children()? {
        let value = constant(&item)?;
        if let (TcpValue::Number(n), true) = (&value, TCP_TIMES.contains(&name.as_str())) {
            item.doubt(Quantity::Time, *n);
        }
        config.set(&name, &(&value).into()).map_err(|wrong| match wrong {
            ConfigError::Value { why, .. } => item.wrong(&why),
            ConfigError::Unknown { what: "tcp key", nearest, .. } => {
                item.error(format!("unknown key; did you mean `{nearest}`?"))
            }
            other => item.error(other.to_string()),
        })?;
        set.insert(name, value);
    }
    config.validate().map_err(|wrong| {
        let item = table.item_or_empty("tcp");
        match wrong {
            ConfigError::Value { key, why } => item.part(dotted(&item.key, key), &item.node).error(why),
            other => item.error(other.to_string()),
        }
    })?;
    Ok(Tcp { profile: profile.into(), set })
}

fn constant(item: &Item<'_>) -> Read<TcpValue> {
    Ok(match &item.node.value {
        Value::Switch(on) => TcpValue::Switch(*on),
        Value::Integer(n) => TcpValue::Number(*n as f64),
        Value::Float(n) => TcpValue::Number(*n),
        Value::Text(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
            let unit = [Quantity::Time, Quantity::Size, Quantity::Packets].into_iter().find(|quantity| {
                quantity.units().any(|unit| text.ends_with(unit)) && quantity.parse(text).is_ok()
            });
            match unit.and_then(|quantity| quantity.parse(text).ok()) {
                Some(n) => TcpValue::Number(n),
                None => {
                    return Err(item.wrong("a number, a time as \"200 ms\", a size as \"64 KiB\" or a word"));
                }
            }
        }
        Value::Text(text) => TcpValue::Word(text.clone()),
        _ => return Err(item.wrong("a number, a time as \"200 ms\", a size as \"64 KiB\" or a word")),
    })
}

fn paths(
    table: &Table<'_>,
    ends: (&str, &str),
    (network, routes): (&Scenario, &Routes<'_>),
    several: bool,
) -> Read<Named<Path>> {
    let given = table.each("paths")?;
    if given.is_empty() {
        let via = routes.shortest(ends.0, ends.1).ok_or_else(|| {
            table.error(format!("no links lead from `{}` to `{}`; add some between them", ends.0, ends.1))
        })?;
        let back = via.iter().rev().cloned().collect();
        return Ok(BTreeMap::from([("default".into(), Path { via, back, join: None, leave: None })]));
    }
    let paths = named(given, |table| path(&table, ends, network, several))?;
    if paths.values().all(|path| path.join.is_some()) {
        return Err(
            table.error_at("paths", "all paths join later; let one be there from the start, without `join`")
        );
    }
    Ok(paths)
}

fn path(table: &Table<'_>, (from, to): (&str, &str), network: &Scenario, several: bool) -> Read<Path> {
    let via = links(&table.need("via")?, from, Some(to), network)?;
    let back = match table.maybe("back") {
        Some(item) => links(&item, to, Some(from), network)?,
        None => via.iter().rev().cloned().collect(),
    };
    let time = |name: &str| table.maybe(name).map(|item| item.time()).transpose();
    let (join, leave) = if several { (time("join")?, time("leave")?) } else { (None, None) };
    match leave {
        Some(leave) if leave <= join.unwrap_or_default() => {
            let join = join.unwrap_or_default();
            let message = format!("the path leaves at {leave:?} and joins at {join:?}; let it leave later");
            Err(table.error_at("leave", message))
        }
        _ => Ok(Path { via, back, join, leave }),
    }
}

/// Names of links that lead from one node to another; to any if `to` isn't given.
pub(super) fn links(item: &Item<'_>, from: &str, to: Option<&str>, network: &Scenario) -> Read<Vec<String>> {
    let (items, names) = link_names(item)?;
    match way(&network.links, from, to, &names) {
        Ok(_) => Ok(names),
        Err((i, wrong)) => Err(items.get(i).unwrap_or(item).error(wrong.to_string())),
    }
}

/// The elements of a list of links, and what they say.
pub(super) fn link_names<'a>(item: &Item<'a>) -> Read<(Vec<Item<'a>>, Vec<String>)> {
    let items = item.list("a list of links as [\"a\", \"b\"]")?;
    let names = items.iter().map(Item::text).collect::<Read<_>>()?;
    Ok((items, names))
}
