//! Links.

use crate::scenario::error::hint;
use crate::scenario::keys::Takes;
use crate::scenario::model::{
    Arq, Direction, Down, DownMode, Link, LinkRate, Loss, Named, Node, Queue, QueueKind, QueueLimit, Reorder,
};
use crate::scenario::table::{Item, Read, Table, named};
use crate::scenario::traces;
use crate::scenario::tree::Value;
use strandcast_netem::loss::Modulation;

pub(super) fn link(table: &Table<'_>, nodes: &Named<Node>) -> Read<Link> {
    let (from, to) = (node(table, "from", nodes)?, node(table, "to", nodes)?);
    if from == to {
        return Err(
            table.error_at("to", format!("the link leads from `{from}` to itself; it joins two nodes"))
        );
    }
    let forward = Direction {
        rate: table.need("rate")?.rate()?,
        delay: table.need("delay")?.number()?,
        queue: queue(&table.inner("queue")?, None)?,
        loss: losses(table)?,
        arq: arq(table, None)?,
        reorder: reorder(table)?,
        duplicate: table.need("duplicate")?.amount()?,
        corrupt: table.need("corrupt")?.amount()?,
        down: outages(table)?,
    };
    let reverse = reverse(&table.inner("reverse")?, &forward)?;
    Ok(Link {
        from,
        to,
        forward,
        reverse,
        wireless: table.need("wireless")?.switch()?,
        spares_background: table.need("loss_takes")?.word(&[("all", false), ("flows", true)])?,
    })
}

/// The name of a node, which must have been declared.
pub(super) fn node(table: &Table<'_>, key: &str, nodes: &Named<Node>) -> Read<String> {
    let item = table.need(key)?;
    let name = item.text()?;
    if nodes.contains_key(&name) {
        return Ok(name);
    }
    let hint = hint(&name, nodes.keys().map(String::as_str));
    Err(item.error(format!("there is no node `{name}`{hint}; nodes are declared as [nodes.{name}]")))
}

fn reverse(table: &Table<'_>, forward: &Direction) -> Read<Direction> {
    Ok(Direction {
        rate: table.maybe("rate").map_or(Ok(forward.rate.clone()), |item| item.rate())?,
        delay: table.maybe("delay").map_or(Ok(forward.delay.clone()), |item| item.number())?,
        queue: queue(&table.inner("queue")?, Some(forward.queue))?,
        loss: losses(table)?,
        arq: arq(table, forward.arq)?,
        reorder: reorder(table)?,
        duplicate: table.need("duplicate")?.amount()?,
        corrupt: table.need("corrupt")?.amount()?,
        down: if table.has("down") { outages(table)? } else { forward.down.clone() },
    })
}

/// A queue; what isn't given is as in `like`, or by default.
fn queue(table: &Table<'_>, like: Option<Queue>) -> Read<Queue> {
    let kind = |item: Item<'_>| item.word(&[("drop-tail", QueueKind::DropTail)]);
    let or = |name: &str| if like.is_some() { Ok(table.maybe(name)) } else { table.need(name).map(Some) };
    let like =
        like.unwrap_or(Queue { kind: QueueKind::DropTail, limit: QueueLimit::Unlimited, in_service: false });
    let queue = Queue {
        kind: or("kind")?.map_or(Ok(like.kind), kind)?,
        limit: or("limit")?.map_or(Ok(like.limit), |item| item.limit())?,
        in_service: or("in_service")?.map_or(Ok(like.in_service), |item| item.switch())?,
    };
    match queue.limit {
        QueueLimit::Packets(0) | QueueLimit::Bytes(0) if queue.in_service => Err(table.error_at(
            "limit",
            "no packet can ever be sent; the packet in service counts, so let it be 1 or more",
        )),
        _ => Ok(queue),
    }
}

/// Retransmission by the link; as in `like` if it isn't given.
fn arq(table: &Table<'_>, like: Option<Arq>) -> Read<Option<Arq>> {
    if !table.has("arq") {
        return Ok(like);
    }
    let retries = table.inner("arq")?.need("retries")?.whole()?;
    let retries = u8::try_from(retries).expect("the key takes 255 at most");
    Ok((retries > 0).then_some(Arq { retries }))
}

fn reorder(table: &Table<'_>) -> Read<Option<Reorder>> {
    if !table.has("reorder") {
        return Ok(None);
    }
    let table = table.inner("reorder")?;
    Ok(Some(Reorder {
        probability: table.need("probability")?.amount()?,
        extra: table.need("extra")?.time()?,
    }))
}

fn losses(table: &Table<'_>) -> Read<Named<Loss>> {
    let models = table.kinds("loss")?.into_iter().map(|(name, kind, table)| (name, (kind, table))).collect();
    named(models, |(model, table)| match model {
        "uniform" => Ok(Loss::Uniform { rate: table.need("rate")?.number()? }),
        "snr" => Ok(Loss::Snr {
            modulation: table.need("modulation")?.word(&MODULATIONS)?,
            snr: table.need("snr")?.number()?,
        }),
        "list" => list(&table),
        _ => markov(&table),
    })
}

pub(in crate::scenario) const MODULATIONS: [(&str, Modulation); 6] = [
    ("bpsk", Modulation::Bpsk),
    ("qpsk", Modulation::Qpsk),
    ("16qam", Modulation::Qam16),
    ("64qam", Modulation::Qam64),
    ("dbpsk", Modulation::Dbpsk),
    ("dqpsk", Modulation::Dqpsk),
];

fn list(table: &Table<'_>) -> Read<Loss> {
    let item = table.need("file")?;
    let file = item.file()?;
    traces::losses(&item, &file)?;
    Ok(Loss::List { file, repeat: table.need("loop")?.switch()? })
}

fn markov(table: &Table<'_>) -> Read<Loss> {
    const BY_PACKET: [&str; 4] = ["rate", "burst", "p_good_to_bad", "p_bad_to_good"];
    const BY_TIME: [&str; 2] = ["good", "bad"];
    let by_time = table.need("by")?.word(&[("packet", false), ("time", true)])?;
    let (others, mend): (&[&str], _) =
        if by_time { (&BY_PACKET, "give `good` and `bad`") } else { (&BY_TIME, "say `by = \"time\"`") };
    if let Some(name) = others.iter().find(|name| table.has(name)) {
        let by = if by_time { "time" } else { "packet" };
        return Err(table.error_at(name, format!("the state moves by {by}, so there is no `{name}`; {mend}")));
    }
    let (loss_good, loss_bad) = (table.need("loss_good")?.amount()?, table.need("loss_bad")?.amount()?);
    if by_time {
        let (mean_good, mean_bad) = (table.need("good")?.time()?, table.need("bad")?.time()?);
        return Ok(Loss::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad });
    }
    let (p_good_to_bad, p_bad_to_good) =
        if table.has("rate") || table.has("burst") { by_burst(table)? } else { by_probabilities(table)? };
    Ok(Loss::MarkovByPacket { p_good_to_bad, p_bad_to_good, loss_good, loss_bad })
}

fn by_probabilities(table: &Table<'_>) -> Read<(f64, f64)> {
    if !table.has("p_good_to_bad") && !table.has("p_bad_to_good") {
        return Err(table.error(
            "there is no loss in it; give `rate` and `burst`, or `p_good_to_bad` and `p_bad_to_good`",
        ));
    }
    Ok((table.need("p_good_to_bad")?.amount()?, table.need("p_bad_to_good")?.amount()?))
}

/// The two probabilities with which all packets in Bad are lost, `rate` of all, in bursts of `burst` on average:
/// stationarity makes the share of time in Bad p_gb / (p_gb + p_bg), a burst is geometric with mean 1 / p_bg.
fn by_burst(table: &Table<'_>) -> Read<(f64, f64)> {
    if let Some(name) =
        ["p_good_to_bad", "p_bad_to_good", "loss_good", "loss_bad"].iter().find(|name| table.has(name))
    {
        return Err(table.error_at(name, format!("`rate` and `burst` say all; leave `{name}` out")));
    }
    let (rate, burst) = (table.need("rate")?.amount()?, table.need("burst")?.amount()?);
    if burst < 1.0 {
        return Err(
            table.error_at("burst", format!("{burst} is no length of a burst; it is at least 1 packet"))
        );
    }
    let p_bad_to_good = 1.0 / burst;
    let p_good_to_bad = rate * p_bad_to_good / (1.0 - rate);
    if rate >= 1.0 || p_good_to_bad > 1.0 {
        let most = burst / (1.0 + burst);
        let message = format!(
            "bursts of {burst} packets can't lose {rate} of all; at most {most:.4}, or longer bursts"
        );
        return Err(table.error_at("rate", message));
    }
    Ok((p_good_to_bad, p_bad_to_good))
}

/// One outage, called `down`, or several by name.
fn outages(table: &Table<'_>) -> Read<Named<Down>> {
    let item = table.item_or_empty("down");
    let Takes::Down(keys) = item.takes else { unreachable!("down is a key for outages") };
    let several = match &item.node.value {
        Value::Table(branch) => branch.values().all(|node| matches!(node.value, Value::Table(_))),
        _ => return Err(item.wrong("a table as { from = \"10 s\", to = \"20 s\" }, or several by name")),
    };
    let outages = if several { item.children()? } else { vec![("down".into(), item)] };
    let outages = named(outages, |item| outage(&item.table(keys, None)?))?;
    let mut in_order: Vec<(&String, &Down)> = outages.iter().collect();
    in_order.sort_by_key(|(_, down)| down.from);
    for pair in in_order.windows(2) {
        let ((first, before), (second, after)) = (pair[0], pair[1]);
        if before.to.is_none_or(|end| end > after.from) {
            let message = format!("outage `{second}` begins before `{first}` has ended; make one of them");
            return Err(table.error_at("down", message));
        }
    }
    Ok(outages)
}

fn outage(table: &Table<'_>) -> Read<Down> {
    let down = Down {
        from: table.need("from")?.time()?,
        to: table.maybe("to").map(|item| item.time()).transpose()?,
        mode: table.need("mode")?.word(&[("silent", DownMode::Silent), ("notify", DownMode::Notify)])?,
    };
    match down.to {
        Some(to) if to <= down.from => {
            let message =
                format!("the outage ends at {to:?} and begins at {:?}; let it end later", down.from);
            Err(table.error_at("to", message))
        }
        _ => Ok(down),
    }
}

/// Whether the rate of a link is known, so that a share of it can be offered.
pub(super) fn has_rate(rate: &LinkRate) -> bool {
    !matches!(rate, LinkRate::Infinite)
}
