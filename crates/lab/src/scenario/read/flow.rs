//! Reads the tables of flows.

use core::time::Duration;
use std::collections::BTreeMap;

use strandcast_sim::tcp::{Config, ConfigError};

use super::app;
use super::link::node;
use crate::scenario::error::hint;
use crate::scenario::keys::flow::{
    ENDS, FlowKind, JOINING_PATH, MPTCP_FLOW, PATH, SCTP_FLOW, SEVERAL, SINGLE, TCP, TCP_FLOW, UDP_FLOW,
};
use crate::scenario::keys::sctp::{IP, SCTP, Sctp};
use crate::scenario::model::{Ends, Flow, Path, Scenario, Tcp, Transport};
use crate::scenario::route::{Routes, way};
use crate::scenario::table::{Item, Read, Table, dotted, named};
use crate::scenario::tree::Value;
use crate::scenario::typed::Kind;
use crate::scenario::units::Quantity;
use crate::scenario::value::{Named, Number, TcpValue};
use crate::scenario::warning::Longest;

/// Maximum number of paths of a flow. The numbers of paths have eight bits.
const MAX_PATHS: usize = 255;

/// Reads a flow. The network must already be complete.
pub(super) fn flow(table: &Table<'_>, kind: FlowKind, network: &Scenario, routes: &Routes<'_>) -> Read<Flow> {
    let (kind_of_ends, from, to) = ends(table, network)?;
    let transport = transport(table, kind)?;
    let (app, fits) = app::app(table, &transport)?;
    let start = table.get(&ENDS.start)?;
    let stop = table.maybe(&ENDS.stop)?;
    if let (Number::Constant(start), Some(stop)) = (&start, stop)
        && stop.as_secs_f64() <= *start
    {
        return Err(table.error_at(
            &ENDS.stop.key,
            format!("the flow stops at {stop:?} and starts at {start} s; let it stop later"),
        ));
    }
    let several = matches!(transport, Transport::Sctp { .. } | Transport::Mptcp { .. });
    let paths = match kind_of_ends {
        Ends::Given => paths(table, (&from, &to), (network, routes), several)?,
        Ends::Random => drawn_paths(table, network, several)?,
    };
    if paths.len() > MAX_PATHS {
        let message = format!("a flow has at most {MAX_PATHS} paths, not {}", paths.len());
        return Err(table.error_at(&SEVERAL.paths.key, message));
    }
    if !several && paths.len() > 1 {
        let message = format!(
            "{} has one path, not {}; transports sctp and mptcp have several",
            kind.word(),
            paths.len()
        );
        return Err(table.error_at(&SEVERAL.paths.key, message));
    }
    let compare = !matches!(transport, Transport::Udp { .. }) && table.get(&SCTP_FLOW.compare)?;
    let mut primary = None;
    if matches!(transport, Transport::Sctp { .. }) {
        primary = table.given(&SCTP_FLOW.primary.key).map(|item| primary_path(&item, &paths)).transpose()?;
    }
    let count = table.get(&ENDS.count)?;
    Ok(Flow {
        ends: kind_of_ends,
        from,
        to,
        transport,
        app,
        fits,
        start,
        stop,
        count,
        compare,
        paths,
        primary,
    })
}

/// Reads the choice of the ends, and the ends themselves.
fn ends(table: &Table<'_>, network: &Scenario) -> Read<(Ends, String, String)> {
    let ends = table.get(&ENDS.ends)?;
    if ends == Ends::Random {
        if let Some(key) = [&ENDS.from.key, &ENDS.to.key].into_iter().find(|key| table.gives(key.name)) {
            let message = format!(
                "the ends of this flow are drawn at random, so it has no `{}`; leave it out",
                key.name
            );
            return Err(table.error_at(key, message));
        }
        return Ok((ends, String::new(), String::new()));
    }
    let (from, to) = (table.need(&ENDS.from)?, table.need(&ENDS.to)?);
    node(table, &ENDS.from.key, &from, &network.nodes)?;
    node(table, &ENDS.to.key, &to, &network.nodes)?;
    if from == to {
        return Err(table
            .error_at(&ENDS.to.key, format!("the flow leads from `{from}` to itself; let it go elsewhere")));
    }
    Ok((ends, from, to))
}

/// Reads the paths of a flow with random ends. The paths are radios, because all stations of a radio can reach each
/// other.
fn drawn_paths(table: &Table<'_>, network: &Scenario, several: bool) -> Read<Named<Path>> {
    let given = table.each(if several { &SEVERAL.paths } else { &SINGLE.paths })?;
    if given.is_empty() {
        let Some(radio) = network.radio.keys().next() else {
            let message = "ends are drawn among the stations of a radio; give [radio.*]";
            return Err(table.error_at(&ENDS.ends.key, message));
        };
        let via = vec![radio.clone()];
        let path = Path { back: via.clone(), via, join: None, leave: None };
        return Ok(BTreeMap::from([("default".into(), path)]));
    }
    named(given, |table| {
        let item = table.item(&PATH.via.key)?;
        let via = item.names()?.1;
        match &via[..] {
            [radio] if network.radio.contains_key(radio) => {}
            _ => {
                let message =
                    "the ends are drawn, so that a path is one radio; name one, or give `from` and `to`";
                return Err(item.error(message));
            }
        }
        let (join, leave) = joining(&table, several)?;
        Ok(Path { back: via.clone(), via, join, leave })
    })
}

fn primary_path(item: &Item<'_>, paths: &Named<Path>) -> Read<String> {
    let name = item.text()?;
    match paths.get(&name) {
        Some(path) if path.join.is_none() => Ok(name),
        Some(_) => {
            Err(item
                .error(format!("path `{name}` joins later; the primary path must be there from the start")))
        }
        None => {
            Err(item
                .error(format!("there is no path `{name}`{}", hint(&name, paths.keys().map(String::as_str)))))
        }
    }
}

fn transport(table: &Table<'_>, kind: FlowKind) -> Read<Transport> {
    Ok(match kind {
        FlowKind::Sctp => Transport::Sctp { scheme: table.get(&SCTP_FLOW.scheme)?, sctp: sctp(table)? },
        FlowKind::Tcp => Transport::Tcp { cc: table.get(&TCP_FLOW.cc)?, tcp: tcp(table)? },
        FlowKind::Mptcp => Transport::Mptcp {
            cc: table.get(&MPTCP_FLOW.cc)?,
            scheduler: table.get(&MPTCP_FLOW.scheduler)?,
            tcp: tcp(table)?,
        },
        FlowKind::Udp => Transport::Udp { header: table.get(&UDP_FLOW.header)? },
    })
}

fn sctp(flow: &Table<'_>) -> Read<Sctp> {
    let profile = flow.get(&SCTP_FLOW.profile)?;
    let table = flow.inner(&SCTP_FLOW.sctp)?;
    let mut sctp = profile.constants();
    sctp.replace(&table)?;
    sctp.seal = flow.get(&SCTP_FLOW.seal)?;
    if sctp.seal && sctp.encapsulation == IP {
        let message =
            "sealed packets go in UDP; give `encapsulation = \"udp\"` in `sctp`, or leave `seal` out";
        return Err(flow.error_at(&SCTP_FLOW.seal.key, message));
    }
    if table.has(&SCTP.rto_min) && !table.has(&SCTP.rto_min_strandcast) {
        sctp.rto_min_strandcast = None;
    }
    if table.has(&SCTP.sack_delay) && !table.has(&SCTP.sack_delay_strandcast) {
        sctp.sack_delay_strandcast = None;
    }
    if sctp.rto_min > sctp.rto_max {
        let message = format!("RTO.Min {:?} is above RTO.Max {:?}; swap them", sctp.rto_min, sctp.rto_max);
        return Err(table.error_at(
            if table.has(&SCTP.rto_min) { &SCTP.rto_min.key } else { &SCTP.rto_max.key },
            message,
        ));
    }
    Ok(sctp)
}

/// Reads profile and constants of `tcp` in a flow or in background load.
pub(super) fn tcp(table: &Table<'_>) -> Read<Tcp> {
    let profile = table.get(&TCP.profile)?;
    let mut config = Config::from(profile);
    let mut set = BTreeMap::new();
    for (name, item) in table.item_or_empty(&TCP.tcp.key).children()? {
        let value = constant(&item)?;
        if let (TcpValue::Number(n), true) = (&value, config.is_time(&name)) {
            Item { longest: longest(&name), ..item.clone() }.warn_if_unlikely(Quantity::Time, *n);
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
        let item = table.item_or_empty(&TCP.tcp.key);
        match wrong {
            ConfigError::Value { key, why } => item.part(dotted(&item.key, key), &item.node).error(why),
            other => item.error(other.to_string()),
        }
    })?;
    Ok(Tcp { profile: profile.to_string(), set })
}

/// Greatest value of a time of TCP that causes no warning.
fn longest(name: &str) -> Longest {
    match name {
        "ack_delay" | "granularity" => Longest::Delay,
        "rto_max" => Longest::Hour,
        _ => Longest::Minute,
    }
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
    let given = table.each(if several { &SEVERAL.paths } else { &SINGLE.paths })?;
    if given.is_empty() {
        let via = routes.shortest(ends.0, ends.1).ok_or_else(|| {
            table.error(format!("no links lead from `{}` to `{}`; add some between them", ends.0, ends.1))
        })?;
        let back = via.iter().rev().cloned().collect();
        return Ok(BTreeMap::from([("default".into(), Path { via, back, join: None, leave: None })]));
    }
    let paths = named(given, |table| path(&table, ends, network, several))?;
    if paths.values().all(|path| path.join.is_some()) {
        return Err(table.error_at(
            &SEVERAL.paths.key,
            "all paths join later; let one be there from the start, without `join`",
        ));
    }
    Ok(paths)
}

fn path(table: &Table<'_>, (from, to): (&str, &str), network: &Scenario, several: bool) -> Read<Path> {
    let via = links(&table.item(&PATH.via.key)?, from, Some(to), network)?;
    let back = match table.given(&PATH.back.key) {
        Some(item) => links(&item, to, Some(from), network)?,
        None => via.iter().rev().cloned().collect(),
    };
    let (join, leave) = joining(table, several)?;
    Ok(Path { via, back, join, leave })
}

/// Times at which a path joins and leaves.
fn joining(table: &Table<'_>, several: bool) -> Read<(Option<Duration>, Option<Duration>)> {
    if !several {
        return Ok((None, None));
    }
    let (join, leave) = (table.maybe(&JOINING_PATH.join)?, table.maybe(&JOINING_PATH.leave)?);
    match leave {
        Some(leave) if leave <= join.unwrap_or_default() => {
            let join = join.unwrap_or_default();
            let message = format!("the path leaves at {leave:?} and joins at {join:?}; let it leave later");
            Err(table.error_at(&JOINING_PATH.leave.key, message))
        }
        _ => Ok((join, leave)),
    }
}

/// Reads names of links that lead from one node to another node. Without `to`, they may lead to any node.
pub(super) fn links(item: &Item<'_>, from: &str, to: Option<&str>, network: &Scenario) -> Read<Vec<String>> {
    let (items, names) = item.names()?;
    match way(network, from, to, &names) {
        Ok(_) => Ok(names),
        Err((i, wrong)) => Err(items.get(i).unwrap_or(item).error(wrong.to_string())),
    }
}
