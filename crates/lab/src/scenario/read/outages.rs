//! Reads the outages of links.

use core::time::Duration;

use crate::scenario::keys::link::{DOWN, LINK};
use crate::scenario::model::{Again, Down, OutageLaw};
use crate::scenario::table::{Read, Table, named};
use crate::scenario::value::Named;

/// Least time between the starts of two outages.
const SHORTEST: Duration = Duration::from_millis(1);

/// Reads one outage, called `down`, or several outages, each under a name.
pub(super) fn outages(table: &Table<'_>) -> Read<Named<Down>> {
    let outages = table.one_or_more(&LINK.down, "a table as { from = \"10 s\", to = \"20 s\" }")?;
    let outages = named(outages, |table| outage(&table))?;
    // Outages that recur may overlap other outages. Outages that overlap are merged.
    let mut in_order: Vec<(&String, &Down)> =
        outages.iter().filter(|(_, down)| down.again.is_none()).collect();
    in_order.sort_by_key(|(_, down)| down.from);
    for pair in in_order.windows(2) {
        let ((first, before), (second, after)) = (pair[0], pair[1]);
        if before.to.is_none_or(|end| end > after.from) {
            let message =
                format!("outage `{second}` begins before `{first}` has ended; merge the two into one outage");
            return Err(table.error_at(&LINK.down.key, message));
        }
    }
    Ok(outages)
}

fn outage(table: &Table<'_>) -> Read<Down> {
    let (from, to) = (table.get(&DOWN.from)?, table.maybe(&DOWN.to)?);
    let mode = table.get(&DOWN.mode)?;
    if let Some(to) = to
        && to <= from
    {
        let message = format!("the outage ends at {to:?} and begins at {from:?}; let it end later");
        return Err(table.error_at(&DOWN.to.key, message));
    }
    Ok(Down { from, to, mode, again: again(table, to.map(|to| to.saturating_sub(from)))? })
}

/// Reads the repetition of an outage of this length.
fn again(table: &Table<'_>, lasts: Option<Duration>) -> Read<Option<Again>> {
    let law = table.get(&DOWN.law)?;
    let cause = table.maybe(&DOWN.cause)?;
    let Some(every) = table.maybe(&DOWN.every)? else {
        let others = [&DOWN.law.key, &DOWN.cause.key];
        return match others.into_iter().find(|key| table.gives(key.name)) {
            Some(key) => {
                Err(table
                    .error_at(key, format!("`{}` belongs to outages that recur; give `every`", key.name)))
            }
            None => Ok(None),
        };
    };
    if cause.is_some() && law == OutageLaw::Constant {
        return Err(table.error_at(&DOWN.cause.key, "nothing is drawn; say `law = \"exponential\"`"));
    }
    match lasts {
        None => Err(table.error_at(&DOWN.every.key, "an outage that lasts can't come again; give `to`")),
        Some(_) if every < SHORTEST => {
            Err(table.error_at(&DOWN.every.key, "outages come again after 1 ms at the earliest"))
        }
        Some(lasts) if every <= lasts => {
            let message =
                format!("outages recur every {every:?}, but each lasts {lasts:?}; make `every` longer");
            Err(table.error_at(&DOWN.every.key, message))
        }
        Some(_) => Ok(Some(Again { every, law, cause })),
    }
}
