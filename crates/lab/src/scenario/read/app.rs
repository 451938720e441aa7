//! What flows send.

use crate::scenario::keys::APP;
use crate::scenario::model::{App, Frames, OnOffLaw, Transport, Video};
use crate::scenario::table::{Read, Table};
use crate::scenario::traces;

/// Bytes of a message that isn't SCTP's, if the file doesn't say.
const MESSAGE: u32 = 1400;

/// What the flow of this table sends, and whether its messages are as long as a packet of SCTP takes.
pub(super) fn app(flow: &Table<'_>, transport: &Transport) -> Read<(App, bool)> {
    let item = flow.item_or_empty("app");
    let (kind, table) = item.kind(&APP, "bulk")?;
    let udp = matches!(transport, Transport::Udp { .. });
    if udp && matches!(kind, "bulk" | "finite") {
        let message = format!(
            "udp takes whatever it is given, so `{kind}` has no rate; choose cbr, poisson, onoff or video"
        );
        return Err(flow.error_at("app", message));
    }
    let fits = !table.has("size") && matches!(transport, Transport::Sctp { .. });
    let size = match (table.maybe("size"), transport) {
        (Some(item), _) => item.bytes()? as u32,
        (None, Transport::Sctp { sctp, .. }) => sctp.largest_payload(),
        (None, _) => MESSAGE,
    };
    let rate = || table.need("rate")?.number();
    let app = match kind {
        "bulk" => App::Bulk { size },
        "finite" => App::Finite { size, bytes: table.need("bytes")?.bytes()? },
        "cbr" => App::Cbr { size, rate: rate()? },
        "poisson" => App::Poisson { size, rate: rate()? },
        "onoff" => onoff(&table, size)?,
        _ => App::Video(video(&table, size, transport)?),
    };
    Ok((app, fits))
}

fn onoff(table: &Table<'_>, size: u32) -> Read<App> {
    let shape = shape(table)?;
    let law = table.need("law")?.word(&[
        ("constant", OnOffLaw::Constant),
        ("exponential", OnOffLaw::Exponential),
        ("pareto", OnOffLaw::Pareto { shape }),
    ])?;
    if table.has("shape") && !matches!(law, OnOffLaw::Pareto { .. }) {
        return Err(table.error_at("shape", "only Pareto's law has a shape; say `law = \"pareto\"`"));
    }
    let rate = table.need("rate")?.number()?;
    Ok(App::OnOff { size, rate, on: table.need("on")?.time()?, off: table.need("off")?.time()?, law })
}

/// A Pareto shape, which is above 1: else there is no mean.
pub(super) fn shape(table: &Table<'_>) -> Read<f64> {
    let item = table.need("shape")?;
    let shape = item.amount()?;
    if shape > 1.0 {
        Ok(shape)
    } else {
        Err(item.error(format!("with shape {shape} there is no mean; it is above 1")))
    }
}

fn video(table: &Table<'_>, size: u32, transport: &Transport) -> Read<Video> {
    let repeat = table.need("loop")?.switch()?;
    let frames = match (table.maybe("rate"), table.maybe("trace")) {
        (Some(rate), None) if !table.has("loop") => Frames::Constant { rate: rate.amount()? },
        (Some(_), None) => return Err(table.error_at("loop", "only a trace has an end; leave `loop` out")),
        (None, Some(item)) => {
            let file = item.file()?;
            traces::frames(&item, &file)?;
            Frames::Trace { file, repeat }
        }
        (Some(_), Some(_)) => {
            return Err(table.error_at("rate", "the frames are given twice; keep `rate` or `trace`"));
        }
        (None, None) => return Err(table.error("there are no frames in it; give `rate` or `trace`")),
    };
    let expire = table.need("expire")?.switch()?;
    if expire && !matches!(transport, Transport::Sctp { .. }) {
        return Err(table.error_at("expire", "only sctp gives messages up; leave `expire` out"));
    }
    let (deadline, prebuffer) = (table.need("deadline")?.time()?, table.need("prebuffer")?.time()?);
    Ok(Video { frames, size, deadline, expire, prebuffer })
}
