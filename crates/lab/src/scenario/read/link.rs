//! Reads the tables of links.

use crate::scenario::error::hint;
use crate::scenario::keys::link::{ARQ, LINK, LossTakes, REORDER, REVERSE};
use crate::scenario::keys::loss::{LIST, LossKind, MARKOV, MovedBy, SNR, UNIFORM};
use crate::scenario::model::{Arq, Direction, Link, Loss, Node, Reorder};
use crate::scenario::spec::Key;
use crate::scenario::table::{Read, Table, named};
use crate::scenario::traces;
use crate::scenario::value::{LinkRate, Named};

use super::outages::outages;
use super::queue::{policer, queue, reverse_queue};

pub(super) fn link(table: &Table<'_>, nodes: &Named<Node>) -> Read<Link> {
    let (from, to) = (table.get(&LINK.from)?, table.get(&LINK.to)?);
    node(table, &LINK.from.key, &from, nodes)?;
    node(table, &LINK.to.key, &to, nodes)?;
    if from == to {
        let message = format!("the link leads from `{from}` to itself; it joins two nodes");
        return Err(table.error_at(&LINK.to.key, message));
    }
    let forward = Direction {
        rate: table.get(&LINK.rate)?,
        delay: table.get(&LINK.delay)?,
        keep_order: table.get(&LINK.keep_order)?,
        policer: policer(table)?,
        queue: queue(&table.inner(&LINK.queue)?)?,
        loss: losses(table)?,
        arq: if table.has(&LINK.arq) { arq(table)? } else { None },
        reorder: reorder(table)?,
        duplicate: table.get(&LINK.duplicate)?,
        corrupt: table.get(&LINK.corrupt)?,
        down: outages(table)?,
    };
    let reverse = reverse(&table.inner(&LINK.reverse)?, &forward)?;
    Ok(Link {
        from,
        to,
        forward,
        reverse,
        wireless: table.get(&LINK.wireless)?,
        spares_background: table.get(&LINK.loss_takes)? == LossTakes::Flows,
    })
}

/// Checks that a node has been declared.
pub(super) fn node(table: &Table<'_>, key: &Key, name: &str, nodes: &Named<Node>) -> Read<()> {
    if nodes.contains_key(name) {
        return Ok(());
    }
    let hint = hint(name, nodes.keys().map(String::as_str));
    let message = format!("there is no node `{name}`{hint}; nodes are declared as [nodes.{name}]");
    Err(table.error_at(key, message))
}

fn reverse(table: &Table<'_>, forward: &Direction) -> Read<Direction> {
    Ok(Direction {
        rate: table.maybe(&REVERSE.rate)?.unwrap_or_else(|| forward.rate.clone()),
        delay: table.maybe(&REVERSE.delay)?.unwrap_or_else(|| forward.delay.clone()),
        keep_order: table.maybe(&REVERSE.keep_order)?.unwrap_or(forward.keep_order),
        policer: policer(table)?,
        queue: reverse_queue(&table.inner(&REVERSE.queue)?, forward.queue)?,
        loss: losses(table)?,
        arq: if table.has(&REVERSE.arq) { arq(table)? } else { forward.arq },
        reorder: reorder(table)?,
        duplicate: table.get(&REVERSE.duplicate)?,
        corrupt: table.get(&REVERSE.corrupt)?,
        down: if table.has(&REVERSE.down) { outages(table)? } else { forward.down.clone() },
    })
}

/// Reads the retransmission of a link.
fn arq(table: &Table<'_>) -> Read<Option<Arq>> {
    let retries = table.inner(&LINK.arq)?.get(&ARQ.retries)?;
    Ok((retries > 0).then_some(Arq { retries }))
}

fn reorder(table: &Table<'_>) -> Read<Option<Reorder>> {
    if !table.has(&LINK.reorder) {
        return Ok(None);
    }
    let table = table.inner(&LINK.reorder)?;
    Ok(Some(Reorder { probability: table.get(&REORDER.probability)?, extra: table.get(&REORDER.extra)? }))
}

fn losses(table: &Table<'_>) -> Read<Named<Loss>> {
    named(table.kinds(&LINK.loss)?, |(model, table)| match model {
        LossKind::Uniform => Ok(Loss::Uniform { rate: table.get(&UNIFORM.rate)? }),
        LossKind::Snr => Ok(Loss::Snr { modulation: table.get(&SNR.modulation)?, snr: table.get(&SNR.snr)? }),
        LossKind::List => list(&table),
        LossKind::Markov => markov(&table),
    })
}

fn list(table: &Table<'_>) -> Read<Loss> {
    let item = table.item(&LIST.file.key)?;
    let file = item.file()?;
    traces::losses(&item, &file)?;
    Ok(Loss::List { file, repeat: table.get(&LIST.repeat)? })
}

fn markov(table: &Table<'_>) -> Read<Loss> {
    let by = table.get(&MARKOV.by)?;
    let (others, mend): (&[&Key], _) = match by {
        MovedBy::Time => (
            &[&MARKOV.rate.key, &MARKOV.burst.key, &MARKOV.p_good_to_bad.key, &MARKOV.p_bad_to_good.key],
            "give `good` and `bad`",
        ),
        MovedBy::Packet => (&[&MARKOV.good.key, &MARKOV.bad.key], "say `by = \"time\"`"),
    };
    if let Some(key) = others.iter().find(|key| table.gives(key.name)) {
        let message = format!("the state moves by {by}, so there is no `{}`; {mend}", key.name);
        return Err(table.error_at(key, message));
    }
    let (loss_good, loss_bad) = (table.get(&MARKOV.loss_good)?, table.get(&MARKOV.loss_bad)?);
    if by == MovedBy::Time {
        let (mean_good, mean_bad) = (table.need(&MARKOV.good)?, table.need(&MARKOV.bad)?);
        return Ok(Loss::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad });
    }
    let by_burst = table.has(&MARKOV.rate) || table.has(&MARKOV.burst);
    let (p_good_to_bad, p_bad_to_good) =
        if by_burst { probabilities_of_bursts(table)? } else { probabilities(table)? };
    Ok(Loss::MarkovByPacket { p_good_to_bad, p_bad_to_good, loss_good, loss_bad })
}

fn probabilities(table: &Table<'_>) -> Read<(f64, f64)> {
    if !table.has(&MARKOV.p_good_to_bad) && !table.has(&MARKOV.p_bad_to_good) {
        return Err(table.error(
            "there is no loss in it; give `rate` and `burst`, or `p_good_to_bad` and `p_bad_to_good`",
        ));
    }
    Ok((table.need(&MARKOV.p_good_to_bad)?, table.need(&MARKOV.p_bad_to_good)?))
}

/// Transition probabilities for a mean loss of `rate` in bursts of `burst` packets on average. All packets in Bad are
/// lost. In the stationary state, the share of packets in Bad is p_gb / (p_gb + p_bg). The length of a burst is
/// geometric with mean 1 / p_bg.
fn probabilities_of_bursts(table: &Table<'_>) -> Read<(f64, f64)> {
    let others =
        [&MARKOV.p_good_to_bad.key, &MARKOV.p_bad_to_good.key, &MARKOV.loss_good.key, &MARKOV.loss_bad.key];
    if let Some(key) = others.iter().find(|key| table.gives(key.name)) {
        let message = format!("`rate` and `burst` determine the model; leave `{}` out", key.name);
        return Err(table.error_at(key, message));
    }
    let (rate, burst) = (table.need(&MARKOV.rate)?, table.need(&MARKOV.burst)?);
    if burst < 1.0 {
        return Err(table.error_at(
            &MARKOV.burst.key,
            format!("{burst} is not a length of a burst; it is at least 1 packet"),
        ));
    }
    let p_bad_to_good = 1.0 / burst;
    let p_good_to_bad = rate * p_bad_to_good / (1.0 - rate);
    if rate >= 1.0 || p_good_to_bad > 1.0 {
        let most = burst / (1.0 + burst);
        let message = format!(
            "bursts of {burst} packets can't lose {rate} of all; at most {most:.4}, or longer bursts"
        );
        return Err(table.error_at(&MARKOV.rate.key, message));
    }
    Ok((p_good_to_bad, p_bad_to_good))
}

/// Returns whether a link has a finite rate. Only then can a load be given as a share of the link's rate.
pub(super) fn has_rate(rate: &LinkRate) -> bool {
    !matches!(rate, LinkRate::Infinite)
}
