//! What flows send.

use crate::scenario::keys::app::{AppKind, BULK, CBR, FINITE, Law, ONOFF, POISSON, VIDEO};
use crate::scenario::keys::flow::ENDS;
use crate::scenario::model::{App, Frames, OnOffLaw, Transport, Video};
use crate::scenario::table::{Read, Table};
use crate::scenario::traces;
use crate::scenario::typed::Kind;

/// Bytes of a message that isn't SCTP's, if the file doesn't say.
const MESSAGE: u32 = 1400;

/// What the flow of this table sends, and whether its messages are as long as a packet of SCTP takes.
pub(super) fn app(flow: &Table<'_>, transport: &Transport) -> Read<(App, bool)> {
    let (kind, table) = flow.kind(&ENDS.app)?;
    let udp = matches!(transport, Transport::Udp { .. });
    if udp && matches!(kind, AppKind::Bulk | AppKind::Finite) {
        let message = format!(
            "udp takes whatever it is given, so `{}` has no rate; choose cbr, poisson, onoff or video",
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

/// A Pareto shape, which is above 1: else there is no mean.
pub(super) fn shape(table: &Table<'_>) -> Read<f64> {
    let shape = table.get(&ONOFF.shape)?;
    if shape > 1.0 {
        Ok(shape)
    } else {
        Err(table.error_at(&ONOFF.shape.key, format!("with shape {shape} there is no mean; it is above 1")))
    }
}

fn video(table: &Table<'_>, size: u32, transport: &Transport) -> Read<Video> {
    let repeat = table.get(&VIDEO.repeat)?;
    let frames = match (table.maybe(&VIDEO.rate)?, table.given(&VIDEO.trace.key)) {
        (Some(rate), None) if !table.has(&VIDEO.repeat) => Frames::Constant { rate },
        (Some(_), None) => {
            return Err(table.error_at(&VIDEO.repeat.key, "only a trace has an end; leave `loop` out"));
        }
        (None, Some(item)) => {
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
    let (deadline, prebuffer) = (table.get(&VIDEO.deadline)?, table.get(&VIDEO.prebuffer)?);
    let psnr_deadline = table.get(&VIDEO.psnr_deadline)?;
    Ok(Video { frames, size, deadline, expire, prebuffer, psnr_deadline })
}
