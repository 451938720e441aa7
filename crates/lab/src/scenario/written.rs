//! A scenario written in the format of its file.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::keys::app::{APP, AppKind, BULK, CBR, FINITE, KEY_FRAMES, Law, ONOFF, PAUSE, POISSON, VIDEO};
use super::keys::cross::{CROSS, PACKET_SIZE};
use super::keys::flow::{
    ENDS, FLOW, FlowKind, JOINING_PATH, MPTCP_FLOW, PATH, SCTP_FLOW, SEVERAL, TCP, TCP_FLOW, UDP_FLOW,
};
use super::keys::link::{ARQ, DOWN, LINK, LossTakes, POLICER, QUEUE, REORDER};
use super::keys::loss::{LIST, LOSS, LossKind, MARKOV, MovedBy, SNR, UNIFORM};
use super::keys::radio::{FILE_PLACE, GRID, NAMED, NODE, PLACE, PlaceKind, RADIO, RECTANGLE};
use super::keys::root::{HOST, ROOT, RUN};
use super::keys::sctp::{SCTP, Sctp};
use super::model::{
    Again, App, Arq, Codel, Cross, Direction, Down, Ends, Flow, Frames, Host, KeyFrames, Link, Loss, Node,
    OnOffLaw, PacketSize, Path, Pause, Policer, Queue, Reorder, Run, Scenario, Tcp, Transport, Turns, Video,
};
use super::radio::{Placement, Radio};
use super::typed::{Declared, Entry};
use super::value::{Named, TcpValue};

/// Returns the complete scenario with defaults, as tables of a scenario file. A reader of these tables gets an equal
/// scenario with an equal [`hash`](super::hash). Numbers are plain, in SI units. The limit of a queue in bytes has a
/// unit, because a plain number counts packets. A value that is absent has no key. Examples are the end of an outage
/// that does not end, and the size of messages that fill a packet.
pub fn written(scenario: &Scenario) -> Value {
    let Scenario { title, run, host, nodes, links, radio, flows, cross } = scenario;
    let Run { time, warmup, seed, runs, series } = run;
    let Host { overhead } = host;
    let run = table([
        RUN.time.write(time),
        RUN.warmup.write(warmup),
        RUN.seed.write(seed),
        RUN.runs.write(runs),
        RUN.series.write(series.as_ref()),
    ]);
    table([
        ROOT.title.write(title),
        ROOT.run.with(run),
        ROOT.host.with(table([HOST.overhead.write(overhead)])),
        ROOT.nodes.with(Value::Object(own_nodes(nodes, radio))),
        ROOT.radio.with(if radio.is_empty() { Value::Null } else { each(radio, channel) }),
        ROOT.links.with(each(links, link)),
        ROOT.flows.with(each(flows, flow)),
        ROOT.cross.with(each(cross, background)),
    ])
}

/// Returns the nodes that the scenario lists itself. The placement of a radio creates the other nodes.
fn own_nodes(nodes: &Named<Node>, radios: &Named<Radio>) -> Map<String, Value> {
    let made: BTreeSet<String> = radios.values().flat_map(|radio| radio.place.nodes()).collect();
    let write = |(name, Node { place }): (&String, &Node)| {
        let place = place.map(|[x, y]| [NODE.x.write(Some(&x)), NODE.y.write(Some(&y))]);
        (name.clone(), table(place.into_iter().flatten()))
    };
    nodes.iter().filter(|(name, _)| !made.contains(*name)).map(write).collect()
}

fn channel(radio: &Radio) -> Value {
    let Radio { profile, routing, place, stations, medium, dcf, mobility } = radio;
    let constants = |set: &Named<String>| each(set, |value| json!(value));
    table([
        RADIO.profile.with(json!(profile)),
        RADIO.routing.write(routing),
        RADIO.place.with(stations_place(place)),
        RADIO.stations.write(Some(stations)),
        RADIO.medium.with(constants(medium)),
        RADIO.dcf.with(constants(dcf)),
        RADIO.mobility.with(constants(mobility)),
    ])
}

fn stations_place(place: &Placement) -> Value {
    let prefix = NAMED.prefix.with(place.prefix().map_or(Value::Null, |prefix| json!(prefix)));
    match place {
        Placement::Nodes => Value::Null,
        Placement::Grid { columns, rows, spacing, .. } => table([
            PLACE.tag(PlaceKind::Grid),
            prefix,
            GRID.columns.write(columns),
            GRID.rows.write(rows),
            GRID.spacing.write(spacing),
        ]),
        Placement::Uniform { count, width, height, .. } => table([
            PLACE.tag(PlaceKind::Uniform),
            prefix,
            RECTANGLE.count.write(count),
            RECTANGLE.width.write(width),
            RECTANGLE.height.write(height),
        ]),
        Placement::File { file, .. } => {
            table([PLACE.tag(PlaceKind::File), prefix, FILE_PLACE.file.write(file)])
        }
    }
}

fn each<T>(named: &Named<T>, write: impl Fn(&T) -> Value) -> Value {
    Value::Object(named.iter().map(|(name, one)| (name.clone(), write(one))).collect())
}

/// A table of the keys that have a value.
fn table(entries: impl IntoIterator<Item = Entry>) -> Value {
    let given = entries.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}

fn link(link: &Link) -> Value {
    let Link { from, to, forward, reverse, wireless, spares_background } = link;
    let takes = if *spares_background { LossTakes::Flows } else { LossTakes::All };
    let ends = [
        LINK.from.write(from),
        LINK.to.write(to),
        LINK.wireless.write(wireless),
        LINK.loss_takes.write(&takes),
        LINK.reverse.with(table(direction(reverse, forward.arq.is_some()))),
    ];
    table(ends.into_iter().chain(direction(forward, false)))
}

/// A direction of a link. `none` means that this direction does not retransmit, although the other direction, which is
/// its default, does.
fn direction(direction: &Direction, none: bool) -> [Entry; 11] {
    let Direction { rate, delay, keep_order, policer, queue, loss, arq, reorder, duplicate, corrupt, down } =
        direction;
    let arq = arq.or(none.then_some(Arq { retries: 0 }));
    let arq = arq.map_or(Value::Null, |Arq { retries }| table([ARQ.retries.write(&retries)]));
    let policer = policer.map_or(Value::Null, |Policer { rate, burst }| {
        table([POLICER.rate.write(&rate), POLICER.burst.write(&burst)])
    });
    let reorder = reorder.map_or(Value::Null, |Reorder { probability, extra }| {
        table([REORDER.probability.write(&probability), REORDER.extra.write(&extra)])
    });
    [
        LINK.rate.write(rate),
        LINK.delay.write(delay),
        LINK.keep_order.write(keep_order),
        LINK.policer.with(policer),
        LINK.queue.with(queue_of(queue)),
        LINK.loss.with(each(loss, model)),
        LINK.arq.with(arq),
        LINK.reorder.with(reorder),
        LINK.duplicate.write(duplicate),
        LINK.corrupt.write(corrupt),
        LINK.down.with(each(down, outage)),
    ]
}

fn queue_of(queue: &Queue) -> Value {
    let Queue { kind, limit, in_service, codel, turns } = queue;
    let (target, interval) = codel.map(|Codel { target, interval }| (target, interval)).unzip();
    let (quantum, flows) = turns.map(|Turns { quantum, flows }| (quantum, flows)).unzip();
    table([
        QUEUE.kind.write(kind),
        QUEUE.limit.write(Some(limit)),
        QUEUE.in_service.write(in_service),
        QUEUE.target.write(target.as_ref()),
        QUEUE.interval.write(interval.as_ref()),
        QUEUE.quantum.write(quantum.as_ref()),
        QUEUE.flows.write(flows.as_ref()),
    ])
}

fn model(loss: &Loss) -> Value {
    match loss {
        Loss::Uniform { rate } => table([LOSS.tag(LossKind::Uniform), UNIFORM.rate.write(rate)]),
        Loss::MarkovByPacket { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } => table([
            LOSS.tag(LossKind::Markov),
            MARKOV.by.write(&MovedBy::Packet),
            MARKOV.p_good_to_bad.write(Some(p_good_to_bad)),
            MARKOV.p_bad_to_good.write(Some(p_bad_to_good)),
            MARKOV.loss_good.write(loss_good),
            MARKOV.loss_bad.write(loss_bad),
        ]),
        Loss::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad } => table([
            LOSS.tag(LossKind::Markov),
            MARKOV.by.write(&MovedBy::Time),
            MARKOV.good.write(Some(mean_good)),
            MARKOV.bad.write(Some(mean_bad)),
            MARKOV.loss_good.write(loss_good),
            MARKOV.loss_bad.write(loss_bad),
        ]),
        Loss::Snr { modulation, snr } => {
            table([LOSS.tag(LossKind::Snr), SNR.modulation.write(modulation), SNR.snr.write(snr)])
        }
        Loss::List { file, repeat } => {
            table([LOSS.tag(LossKind::List), LIST.file.write(file), LIST.repeat.write(repeat)])
        }
    }
}

fn outage(down: &Down) -> Value {
    let Down { from, to, mode, again } = down;
    let own = [DOWN.from.write(from), DOWN.to.write(to.as_ref()), DOWN.mode.write(mode)];
    let again = again.iter().flat_map(|Again { every, law, cause }| {
        [DOWN.every.write(Some(every)), DOWN.law.write(law), DOWN.cause.write(cause.as_ref())]
    });
    table(own.into_iter().chain(again))
}

fn flow(flow: &Flow) -> Value {
    let Flow { ends, from, to, transport, app, fits, start, stop, count, compare, paths, primary } = flow;
    let compare = SCTP_FLOW.compare.write(compare);
    let own = match transport {
        Transport::Sctp { scheme, sctp } => vec![
            FLOW.tag(FlowKind::Sctp),
            SCTP_FLOW.scheme.write(scheme),
            SCTP_FLOW.profile.write(&sctp.profile),
            SCTP_FLOW.sctp.with(table(sctp_constants(sctp))),
            SCTP_FLOW.seal.write(&sctp.seal),
            compare,
        ],
        Transport::Tcp { cc, tcp } => {
            let [profile, constants] = tcp_constants(tcp);
            vec![FLOW.tag(FlowKind::Tcp), TCP_FLOW.cc.write(cc), profile, constants, compare]
        }
        Transport::Mptcp { cc, scheduler, tcp } => {
            let [profile, constants] = tcp_constants(tcp);
            let (cc, scheduler) = (MPTCP_FLOW.cc.write(cc), MPTCP_FLOW.scheduler.write(scheduler));
            vec![FLOW.tag(FlowKind::Mptcp), cc, scheduler, profile, constants, compare]
        }
        Transport::Udp { header } => vec![FLOW.tag(FlowKind::Udp), UDP_FLOW.header.write(header)],
    };
    let common = [
        ENDS.ends.write(ends),
        ENDS.from.write(Some(from).filter(|_| *ends == Ends::Given)),
        ENDS.to.write(Some(to).filter(|_| *ends == Ends::Given)),
        ENDS.app.with(application(app, *fits)),
        ENDS.start.write(start),
        ENDS.stop.write(stop.as_ref()),
        ENDS.count.write(count),
        SEVERAL.paths.with(each(paths, path)),
        SCTP_FLOW.primary.write(primary.as_ref()),
    ];
    table(common.into_iter().chain(own))
}

fn path(path: &Path) -> Value {
    let Path { via, back, join, leave } = path;
    table([
        PATH.via.write(via),
        PATH.back.write(Some(back).filter(|back| !back.is_empty())),
        JOINING_PATH.join.write(join.as_ref()),
        JOINING_PATH.leave.write(leave.as_ref()),
    ])
}

/// Constants of SCTP. Constants that files rarely give are written only if they differ from the profile.
fn sctp_constants(sctp: &Sctp) -> Vec<Entry> {
    let own = sctp.profile.transport();
    let as_profile = [
        (SCTP.tail_probes.key.name, sctp.tail_probes == own.tail_probes),
        (SCTP.reordering.key.name, sctp.reordering == own.reordering),
        (SCTP.ack_delays.key.name, sctp.ack_delays == own.ack_delays),
        (SCTP.silence_timeout.key.name, sctp.silence_timeout == own.silence_timeout),
        (SCTP.failed_after.key.name, sctp.failed_after == own.failed_after),
    ];
    let mut entries = sctp.entries();
    entries.retain(|(key, _)| !as_profile.contains(&(key, true)));
    entries
}

/// Profile of TCP, and the constants that differ from it.
fn tcp_constants(tcp: &Tcp) -> [Entry; 2] {
    let Tcp { profile, set } = tcp;
    let set = each(set, |value| match value {
        TcpValue::Number(number) => json!(number),
        TcpValue::Word(word) => json!(word),
        TcpValue::Switch(on) => json!(on),
    });
    [TCP.profile.with(json!(profile)), TCP.tcp.with(set)]
}

fn application(app: &App, fits: bool) -> Value {
    let (kind, size, own) = match app {
        App::Bulk { size } => (AppKind::Bulk, size, vec![]),
        App::Finite { size, bytes } => (AppKind::Finite, size, vec![FINITE.bytes.write(bytes)]),
        App::Cbr { size, rate } => (AppKind::Cbr, size, vec![CBR.rate.write(rate)]),
        App::Poisson { size, rate } => (AppKind::Poisson, size, vec![POISSON.rate.write(rate)]),
        App::OnOff { size, rate, on, off, law } => {
            let (law, shape) = law_of(*law);
            let own = vec![ONOFF.rate.write(rate), ONOFF.on.write(on), ONOFF.off.write(off), law, shape];
            (AppKind::OnOff, size, own)
        }
        App::Video(video) => (AppKind::Video, &video.size, frames(video)),
    };
    let size = BULK.size.write(Some(size).filter(|_| !fits));
    table([APP.tag(kind), size].into_iter().chain(own))
}

fn law_of(law: OnOffLaw) -> (Entry, Entry) {
    let (law, shape) = match law {
        OnOffLaw::Constant => (Law::Constant, None),
        OnOffLaw::Exponential => (Law::Exponential, None),
        OnOffLaw::Pareto { shape } => (Law::Pareto, Some(shape)),
    };
    (ONOFF.law.write(&law), ONOFF.shape.with(json!(shape)))
}

fn frames(video: &Video) -> Vec<Entry> {
    let Video { frames, size: _, deadline, expire, prebuffer, psnr_deadline, keep_alive } = video;
    let mut own =
        vec![VIDEO.deadline.write(deadline), VIDEO.expire.write(expire), VIDEO.prebuffer.write(prebuffer)];
    own.extend([VIDEO.psnr_deadline.write(Some(psnr_deadline)), VIDEO.keep_alive.write(keep_alive.as_ref())]);
    match frames {
        Frames::Constant { rate } => own.push(VIDEO.rate.write(Some(rate))),
        Frames::Live { rate, burst, spacing, key_frames, pause } => {
            let key_frames = key_frames.map_or(Value::Null, |KeyFrames { every, times }| {
                table([KEY_FRAMES.every.write(&every), KEY_FRAMES.times.write(&times)])
            });
            let spacing = Some(VIDEO.spacing.write(spacing)).filter(|_| burst.is_some());
            own.extend([VIDEO.rate.write(Some(rate)), VIDEO.burst.write(burst.as_ref())]);
            own.extend(spacing);
            own.extend([VIDEO.key_frames.with(key_frames), VIDEO.pause.with(each(pause, silence))]);
        }
        Frames::Trace { file, repeat } => {
            own.extend([VIDEO.trace.write(Some(file)), VIDEO.repeat.write(repeat)]);
        }
    }
    own
}

fn silence(pause: &Pause) -> Value {
    let Pause { from, to, keep } = pause;
    table([PAUSE.from.write(from), PAUSE.to.write(to), PAUSE.keep.write(keep)])
}

fn background(cross: &Cross) -> Value {
    let Cross { via, load, tcp_share, sizes, on, off, shape, sources, lead, tcp } = cross;
    let sizes = each(sizes, |PacketSize { bytes, share }| {
        table([PACKET_SIZE.bytes.write(bytes), PACKET_SIZE.share.write(share)])
    });
    let own = [
        CROSS.via.write(via),
        CROSS.load.write(load),
        CROSS.tcp_share.write(tcp_share),
        CROSS.sizes.with(sizes),
        CROSS.on.write(on),
        CROSS.off.write(off),
        CROSS.shape.write(shape),
        CROSS.sources.write(sources),
        CROSS.lead.write(lead),
    ];
    table(own.into_iter().chain(tcp_constants(tcp)))
}
