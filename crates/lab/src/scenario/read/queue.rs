//! Reads the queues of links, and the policers before them.

use strandcast_netem::link::{Codel as CodelDefault, FqCodel};

use crate::scenario::keys::link::{LINK, POLICER, QUEUE, REVERSE_QUEUE};
use crate::scenario::model::{Codel, Policer, Queue, QueueKind, Turns};
use crate::scenario::spec::Key;
use crate::scenario::table::{Read, Table};
use crate::scenario::value::QueueLimit;

pub(super) fn policer(table: &Table<'_>) -> Read<Option<Policer>> {
    if !table.has(&LINK.policer) {
        return Ok(None);
    }
    let table = table.inner(&LINK.policer)?;
    Ok(Some(Policer { rate: table.get(&POLICER.rate)?, burst: table.get(&POLICER.burst)? }))
}

pub(super) fn queue(table: &Table<'_>) -> Read<Queue> {
    of_kind(table, table.get(&QUEUE.kind)?, table.get(&QUEUE.in_service)?, None)
}

/// Reads the queue of the other direction. Keys that are absent have the forward values.
pub(super) fn reverse_queue(table: &Table<'_>, forward: Queue) -> Read<Queue> {
    let kind = table.maybe(&REVERSE_QUEUE.kind)?.unwrap_or(forward.kind);
    let given = table.maybe(&REVERSE_QUEUE.in_service)?;
    let forward = (kind == forward.kind).then_some(forward);
    let in_service = given.unwrap_or(forward.is_some_and(|forward| forward.in_service));
    of_kind(table, kind, in_service, forward)
}

/// Reads a queue of this kind. Keys that are absent have the values of `like`, or the kind's defaults.
fn of_kind(table: &Table<'_>, kind: QueueKind, in_service: bool, like: Option<Queue>) -> Read<Queue> {
    let own = |key: &Key, kinds: &[QueueKind]| {
        if !table.gives(key.name) || kinds.contains(&kind) {
            return Ok(());
        }
        let fit: Vec<_> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
        let message = format!("a queue of kind `{kind}` has no `{}`; {} has", key.name, fit.join(" or "));
        Err(table.error_at(key, message))
    };
    let managed = [QueueKind::Codel, QueueKind::FqCodel];
    own(&QUEUE.target.key, &managed)?;
    own(&QUEUE.interval.key, &managed)?;
    own(&QUEUE.quantum.key, &[QueueKind::FqCodel])?;
    own(&QUEUE.flows.key, &[QueueKind::FqCodel])?;
    if in_service {
        own(&QUEUE.in_service.key, &[QueueKind::DropTail])?;
    }
    let codel = if managed.contains(&kind) { Some(codel(table, like)?) } else { None };
    let turns = if kind == QueueKind::FqCodel { Some(turns(table, like)?) } else { None };
    // The defaults of CoDel and FQ-CoDel are those of Linux.
    let limit = table.maybe(&QUEUE.limit)?.or(like.map(|like| like.limit)).unwrap_or(match kind {
        QueueKind::DropTail => QueueLimit::Packets(100),
        QueueKind::Codel => QueueLimit::Packets(1000),
        QueueKind::FqCodel => QueueLimit::Packets(10_240),
    });
    passing(table, Queue { kind, limit, in_service, codel, turns })
}

fn codel(table: &Table<'_>, like: Option<Queue>) -> Read<Codel> {
    let CodelDefault { target, interval } = CodelDefault::default();
    let like = like.and_then(|like| like.codel).unwrap_or(Codel { target, interval });
    Ok(Codel {
        target: table.maybe(&QUEUE.target)?.unwrap_or(like.target),
        interval: table.maybe(&QUEUE.interval)?.unwrap_or(like.interval),
    })
}

fn turns(table: &Table<'_>, like: Option<Queue>) -> Read<Turns> {
    let FqCodel { quantum, flows, .. } = FqCodel::default();
    let like = like.and_then(|like| like.turns).unwrap_or(Turns { quantum, flows });
    Ok(Turns {
        quantum: table.maybe(&QUEUE.quantum)?.unwrap_or(like.quantum),
        flows: table.maybe(&QUEUE.flows)?.unwrap_or(like.flows),
    })
}

/// Checks that a queue lets packets pass.
fn passing(table: &Table<'_>, queue: Queue) -> Read<Queue> {
    let nothing = matches!(queue.limit, QueueLimit::Packets(0) | QueueLimit::Bytes(0));
    if queue.in_service && nothing {
        return Err(table.error_at(
            &QUEUE.limit.key,
            "no packet can ever be sent; the packet in service counts, so let it be 1 or more",
        ));
    }
    if queue.kind == QueueKind::FqCodel && nothing {
        return Err(table.error_at(&QUEUE.limit.key, "no packet can ever be sent; let it be 1 or more"));
    }
    Ok(queue)
}
