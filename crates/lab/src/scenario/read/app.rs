//! Reads the applications of flows.

use core::time::Duration;

use crate::scenario::keys::app::{AppKind, BULK, CBR, FINITE, KEY_FRAMES, Law, ONOFF, PAUSE, POISSON, VIDEO};
use crate::scenario::keys::flow::ENDS;
use crate::scenario::model::{App, Frames, KeyFrames, OnOffLaw, Pause, Transport, Video};
use crate::scenario::spec::Key;
use crate::scenario::table::{Read, Table, named};
use crate::scenario::traces;
use crate::scenario::typed::Kind;
use crate::scenario::value::Named;

/// Default size in bytes of a message over a transport other than SCTP.
const MESSAGE: u32 = 1400;
/// Time after the capture in the papers' profile. Bytes that are in order within it count for the PSNR of
/// equation 17. ASSUMED: no paper states this time.
const PAPERS_DEADLINE: Duration = Duration::from_secs(2);

/// Reads the application of the flow of this table. The flag is true if messages should be as long as an SCTP packet
/// permits.
pub(super) fn app(flow: &Table<'_>, transport: &Transport) -> Read<(App, bool)> {
    let (kind, table) = flow.kind(&ENDS.app)?;
    let udp = matches!(transport, Transport::Udp { .. });
    if udp && matches!(kind, AppKind::Bulk | AppKind::Finite) {
        let message = format!(
            "udp has no limit of its own, so `{}` has no rate; choose cbr, poisson, onoff or video",
            kind.word()
        );
        return Err(flow.error_at(&ENDS.app.key, message));
    }
    let fits = !table.has(&BULK.size) && matches!(transport, Transport::Sctp { .. });
    let size = match (table.maybe(&BULK.size)?, transport) {
        (Some(size), _) => size,
        (None, Transport::Sctp { sctp, .. }) => sctp.largest_payload(),
        (None, _) => MESSAGE,
    };
    let app = match kind {
        AppKind::Bulk => App::Bulk { size },
        AppKind::Finite => App::Finite { size, bytes: table.get(&FINITE.bytes)? },
        AppKind::Cbr => App::Cbr { size, rate: table.get(&CBR.rate)? },
        AppKind::Poisson => App::Poisson { size, rate: table.get(&POISSON.rate)? },
        AppKind::OnOff => onoff(&table, size)?,
        AppKind::Video => App::Video(video(&table, size, transport)?),
    };
    Ok((app, fits))
}

fn onoff(table: &Table<'_>, size: u32) -> Read<App> {
    let shape = shape(table)?;
    let law = match table.get(&ONOFF.law)? {
        Law::Constant => OnOffLaw::Constant,
        Law::Exponential => OnOffLaw::Exponential,
        Law::Pareto => OnOffLaw::Pareto { shape },
    };
    if table.has(&ONOFF.shape) && !matches!(law, OnOffLaw::Pareto { .. }) {
        return Err(table.error_at(&ONOFF.shape.key, "only Pareto's law has a shape; say `law = \"pareto\"`"));
    }
    let (rate, on, off) = (table.get(&ONOFF.rate)?, table.get(&ONOFF.on)?, table.get(&ONOFF.off)?);
    Ok(App::OnOff { size, rate, on, off, law })
}

/// Reads a Pareto shape. The shape must be above 1, because otherwise the distribution has no mean.
pub(super) fn shape(table: &Table<'_>) -> Read<f64> {
    let shape = table.get(&ONOFF.shape)?;
    if shape > 1.0 {
        Ok(shape)
    } else {
        Err(table.error_at(
            &ONOFF.shape.key,
            format!("with shape {shape} the distribution has no mean; give a shape above 1"),
        ))
    }
}

fn video(table: &Table<'_>, size: u32, transport: &Transport) -> Read<Video> {
    let repeat = table.get(&VIDEO.repeat)?;
    let frames = match (table.maybe(&VIDEO.rate)?, table.given(&VIDEO.trace.key)) {
        (Some(rate), None) if !table.has(&VIDEO.repeat) => at_a_rate(table, rate)?,
        (Some(_), None) => {
            return Err(table.error_at(&VIDEO.repeat.key, "only a trace has an end; leave `loop` out"));
        }
        (None, Some(item)) => {
            let of_rate: [&Key; 4] =
                [&VIDEO.burst.key, &VIDEO.spacing.key, &VIDEO.key_frames.key, &VIDEO.pause.key];
            if let Some(key) = of_rate.iter().find(|key| table.gives(key.name)) {
                let message =
                    format!("a trace has the times of frames; leave `{}` out, or give `rate`", key.name);
                return Err(table.error_at(key, message));
            }
            let file = item.file()?;
            traces::frames(&item, &file)?;
            Frames::Trace { file, repeat }
        }
        (Some(_), Some(_)) => {
            return Err(table.error_at(&VIDEO.rate.key, "the frames are given twice; keep `rate` or `trace`"));
        }
        (None, None) => return Err(table.error("there are no frames in it; give `rate` or `trace`")),
    };
    let expire = table.get(&VIDEO.expire)?;
    if expire && !matches!(transport, Transport::Sctp { .. }) {
        return Err(table.error_at(&VIDEO.expire.key, "only sctp gives messages up; leave `expire` out"));
    }
    let keep_alive = table.maybe(&VIDEO.keep_alive)?;
    if keep_alive.is_some() && !matches!(transport, Transport::Sctp { .. }) {
        return Err(
            table.error_at(&VIDEO.keep_alive.key, "only sctp has keep-alives; leave `keep_alive` out")
        );
    }
    let (deadline, prebuffer) = (table.get(&VIDEO.deadline)?, table.get(&VIDEO.prebuffer)?);
    let of_papers = transport.profile() == Some("ns2");
    let psnr_deadline = table.maybe(&VIDEO.psnr_deadline)?;
    let psnr_deadline = psnr_deadline.unwrap_or(if of_papers { PAPERS_DEADLINE } else { deadline });
    Ok(Video { frames, size, deadline, expire, prebuffer, psnr_deadline, keep_alive })
}

/// Reads the frames of a video with a rate. Messages are single or in bursts.
fn at_a_rate(table: &Table<'_>, rate: f64) -> Read<Frames> {
    let burst = table.maybe(&VIDEO.burst)?;
    let in_bursts: [&Key; 2] = [&VIDEO.spacing.key, &VIDEO.key_frames.key];
    if let Some(key) = in_bursts.iter().find(|key| burst.is_none() && table.gives(key.name)) {
        let message = format!("`{}` needs `burst`; set `burst`, or leave this key out", key.name);
        return Err(table.error_at(key, message));
    }
    let pause = pauses(table)?;
    if burst.is_none() && pause.is_empty() {
        return Ok(Frames::Constant { rate });
    }
    let key_frames = if table.has(&VIDEO.key_frames) {
        let table = table.inner(&VIDEO.key_frames)?;
        Some(KeyFrames { every: table.get(&KEY_FRAMES.every)?, times: table.get(&KEY_FRAMES.times)? })
    } else {
        None
    };
    Ok(Frames::Live { rate, burst, spacing: table.get(&VIDEO.spacing)?, key_frames, pause })
}

/// Reads one pause, called `pause`, or several pauses, each under a name.
fn pauses(table: &Table<'_>) -> Read<Named<Pause>> {
    let pauses =
        named(table.one_or_more(&VIDEO.pause, "a table as { from = \"0 s\", to = \"3 s\" }")?, |table| {
            let pause = Pause {
                from: table.get(&PAUSE.from)?,
                to: table.get(&PAUSE.to)?,
                keep: table.get(&PAUSE.keep)?,
            };
            if pause.to <= pause.from {
                let message = format!(
                    "the pause ends at {:?} and begins at {:?}; let it end later",
                    pause.to, pause.from
                );
                return Err(table.error_at(&PAUSE.to.key, message));
            }
            Ok(pause)
        })?;
    let mut in_order: Vec<(&String, &Pause)> = pauses.iter().collect();
    in_order.sort_by_key(|(_, pause)| pause.from);
    match in_order.windows(2).find(|pair| pair[0].1.to > pair[1].1.from) {
        Some(pair) => {
            let (first, second) = (pair[0].0, pair[1].0);
            let message =
                format!("pause `{second}` begins before `{first}` has ended; merge the two into one pause");
            Err(table.error_at(&VIDEO.pause.key, message))
        }
        None => Ok(pauses),
    }
}
