//! Conversion of the scenario's links into links of the simulator.

use std::sync::Arc;

use strandcast_netem::link::{
    Codel, Discipline, FqCodel, LinkConfig, Opportunities, Policer, Queue, QueueLimit, Rate, Reorder,
};
use strandcast_netem::loss::{LossList, LossModel};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

use super::BuildError;
use super::values::{begin, cause, in_file, number};
use crate::scenario::{self, Direction, LinkRate, Loss, Number, TraceFile};

/// Configuration of one direction of a link. It is for programs that use the [`Link`](strandcast_netem::link::Link)s of
/// a scenario without the simulator. Times in numbers and traces count from `origin`. `key` is the key of the link in
/// the scenario (`links.NAME`). `seeds` are the seeds of the run. Causes use them for their draws. Outages (`down`) are
/// the caller's task.
///
/// # Errors
/// A trace or a list cannot be read, or a number is not valid for a link.
pub fn link_config(
    direction: &Direction,
    origin: Instant,
    seeds: &Seeds,
    key: &str,
) -> Result<LinkConfig, BuildError> {
    let mut losses = Vec::new();
    for (name, model) in &direction.loss {
        losses.push(loss(model, seeds, &format!("{key}.loss.{name}"))?);
    }
    let limit = match direction.queue.limit {
        scenario::QueueLimit::Unlimited => QueueLimit::Unlimited,
        scenario::QueueLimit::Packets(n) => QueueLimit::Packets(n as usize),
        scenario::QueueLimit::Bytes(n) => QueueLimit::Bytes(n),
    };
    let discipline = discipline(&direction.queue);
    let policer = direction
        .policer
        .map(|policer| Policer { rate: (libm::round(policer.rate) as u64).max(1), burst: policer.burst });
    let config = LinkConfig {
        rate: rate(&direction.rate, seeds, &format!("{key}.rate"))?,
        delay: number(&direction.delay, seeds, &format!("{key}.delay"))?,
        keep_order: direction.keep_order,
        policer,
        queue: Queue { discipline, limit, in_service: direction.queue.in_service },
        losses,
        retries: direction.arq.map_or(0, |arq| arq.retries),
        reorder: direction.reorder.map(|r| Reorder { probability: r.probability, extra: r.extra }),
        duplicate: direction.duplicate,
        corrupt: direction.corrupt,
        origin,
    };
    config.validate().map_err(|error| BuildError::new(key, &error.to_string()))?;
    Ok(config)
}

fn discipline(queue: &scenario::Queue) -> Discipline {
    let scenario::Queue { codel, turns, .. } = *queue;
    let codel = codel.map(|scenario::Codel { target, interval }| Codel { target, interval });
    match (codel, turns) {
        (None, _) => Discipline::DropTail,
        (Some(codel), None) => Discipline::Codel(codel),
        (Some(codel), Some(scenario::Turns { quantum, flows })) => {
            Discipline::FqCodel(FqCodel { codel, quantum, flows })
        }
    }
}

fn opportunities(file: &TraceFile, key: &str) -> Result<Arc<Opportunities>, BuildError> {
    let trace = Opportunities::parse(&file.text).map_err(|error| in_file(file, key, &error.to_string()))?;
    Ok(Arc::new(trace))
}

fn rate(rate: &LinkRate, seeds: &Seeds, key: &str) -> Result<Rate, BuildError> {
    Ok(match rate {
        LinkRate::Infinite => Rate::Infinite,
        LinkRate::Number(Number::Constant(bps)) => Rate::Constant(libm::round(*bps) as u64),
        LinkRate::Number(value) => Rate::Varying(number(value, seeds, key)?),
        LinkRate::Opportunities { file } => Rate::Opportunities(opportunities(file, key)?),
        LinkRate::Recorded { files, offset, cause: name } => {
            let traces = files.iter().map(|file| opportunities(file, key)).collect::<Result<_, _>>()?;
            let cause = name.as_ref().map(|name| cause(seeds, name));
            Rate::Recorded { traces, offset: begin(*offset), cause }
        }
    })
}

fn loss(loss: &Loss, seeds: &Seeds, key: &str) -> Result<LossModel, BuildError> {
    Ok(match loss {
        Loss::Uniform { rate } => LossModel::Uniform { p: number(rate, seeds, key)? },
        &Loss::MarkovByPacket { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } => {
            LossModel::Markov { p_good_to_bad, p_bad_to_good, loss_good, loss_bad }
        }
        &Loss::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad } => {
            LossModel::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad }
        }
        Loss::Snr { modulation, snr } => {
            LossModel::Snr { modulation: *modulation, snr_db: number(snr, seeds, key)? }
        }
        Loss::List { file, repeat } => {
            let list = LossList::parse(&file.text).map_err(|error| in_file(file, key, &error.to_string()))?;
            LossModel::List { list: Arc::new(list), repeat: *repeat }
        }
    })
}
