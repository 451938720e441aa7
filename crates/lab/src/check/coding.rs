//! Coding of a flow, and the results to expect from it.

use std::time::Duration;

use strandcast_keys::catalog::Catalog;
use strandcast_keys::text::{bits_per_s, bytes, percent};
use strandcast_proto::coding::{BlockCoding, Code, Coding, RepairCode, RepairCoding, RepairWhen};

use crate::scenario::{App, Flow, Scenario, Sctp, Transport};
use crate::simulation::transport;

/// Bytes of SCTP headers before the user data of a packet's only chunk (RFC 9260 §3, §3.3.1).
const DATA: usize = 12 + 16;
/// Number of extra symbols with which every random code succeeds. With this number, a block fails with probability
/// 2^-60.
const MOST_EXTRA: u32 = 60;

/// Coding of a flow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CodingFacts {
    /// Kind of coding.
    pub(super) coding: Coding,
    /// Number of source symbols of a block. 0 if the flow does not code in blocks.
    sources: u16,
    /// Time from capture to playing, if messages are abandoned after this time.
    deadline: Option<Duration>,
    /// Bytes of the longest message that repair symbols cover.
    covered: u32,
    /// True if the size of messages is adapted to the packet's size.
    fits: bool,
}

/// Load of a flow, and the distance that its data travel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    /// Rate of messages in bit/s. `None` if the flow sends as much as the network takes.
    pub(super) offered_bps: Option<f64>,
    /// Size of a message in bytes.
    pub(super) message: Option<u32>,
    /// The shortest time from sender to receiver.
    pub(super) way: Duration,
}

impl CodingFacts {
    /// Coding of `flow` with its scheme. `None` if the flow does not code.
    pub(super) fn of(scenario: &Scenario, name: &str, catalog: &dyn Catalog) -> Option<CodingFacts> {
        let flow = scenario.flows.get(name)?;
        let Transport::Sctp { scheme, sctp } = &flow.transport else { return None };
        let paths: Vec<&str> = flow.paths.keys().map(String::as_str).collect();
        let plan = catalog.scheme_over(scheme, &sctp.scheme_defaults, &paths).ok()?;
        let mut config = transport(sctp);
        (plan.tune)(&mut config);
        config.coding.map(|coding| CodingFacts::new(coding, flow, sctp))
    }

    fn new(coding: Coding, flow: &Flow, sctp: &Sctp) -> CodingFacts {
        let sources = match coding {
            Coding::Repair(_) => 0,
            Coding::Blocks(BlockCoding { sources: 0, .. }) if sctp.receive_buffer < 128 << 10 => 8,
            Coding::Blocks(BlockCoding { sources: 0, .. }) => 16,
            Coding::Blocks(blocks) => blocks.sources,
        };
        let deadline = match &flow.app {
            App::Video(video) if video.expire => Some(video.deadline),
            _ => None,
        };
        let chunk = usize::from(sctp.mtu).saturating_sub(sctp.headers() as usize + DATA);
        let covered = chunk.saturating_sub(RepairCoding::OVERHEAD) as u32;
        CodingFacts { coding, sources, deadline, covered, fits: flow.fits }
    }

    /// Describes the coding of a flow with this load in one line.
    pub(super) fn line(&self, load: &Load) -> String {
        match self.coding {
            Coding::Repair(RepairCoding { code, redundancy, when, window }) => {
                let most = load.offered_bps.map(|bps| format!(", {} at most", bits_per_s(bps * redundancy)));
                let when = match when {
                    RepairWhen::Always => "as soon as that allows",
                    RepairWhen::Late => "where sending again would be too late",
                };
                format!(
                    "  repair: {}, up to {} in addition to messages{}, each over up to {window} messages, {when}",
                    code_name(code),
                    percent(redundancy),
                    most.unwrap_or_default(),
                )
            }
            Coding::Blocks(BlockCoding { code, .. }) => {
                let needed = f64::from(self.sources) + extra(code, self.sources);
                let more = percent(needed / f64::from(self.sources) - 1.0);
                format!(
                    "  coded blocks of {} symbols: {needed:.2} random ones complete a block on average, {more} more, and losses",
                    self.sources
                )
            }
        }
    }

    /// Reports probable mistakes in the coding of a flow with this load.
    pub(super) fn warnings(&self, load: &Load, say: &mut dyn FnMut(String)) {
        match (self.coding, self.deadline) {
            (Coding::Repair(_), None) => say(
                "its messages are reliable: repair symbols (fec) cover only messages of a video with expire = true".into(),
            ),
            (Coding::Repair(repair), Some(deadline)) => self.repair(load, repair, deadline, say),
            (Coding::Blocks(_), Some(_)) => {
                say("messages are given up (expire) only before they are put into a coded block".into());
            }
            (Coding::Blocks(_), None) => {}
        }
    }

    fn repair(&self, load: &Load, repair: RepairCoding, deadline: Duration, say: &mut dyn FnMut(String)) {
        let Some(message) = load.message else { return };
        if message > self.covered && !self.fits {
            let (message, covered) = (bytes(message.into()), bytes(self.covered.into()));
            say(format!(
                "messages of {message} are longer than the {covered} that repair symbols (fec) cover: set app.size"
            ));
            return;
        }
        let Some(offered) = load.offered_bps else { return };
        // The redundancy allows one repair symbol per this number of messages.
        let every_s = f64::from(message) * 8.0 / (offered * repair.redundancy);
        let left_s = deadline.as_secs_f64() - load.way.as_secs_f64();
        if every_s > left_s {
            let (every, share) = (every_s * 1e3, percent(repair.redundancy));
            let left = left_s.max(0.0) * 1e3;
            say(format!(
                "{share} of its rate are a repair symbol every {every:.0} ms, and its deadline leaves {left:.0} ms: few losses \
                 are repaired in time"
            ));
        }
    }
}

fn code_name(code: RepairCode) -> &'static str {
    match code {
        RepairCode::Rlc => "random linear code",
        RepairCode::RaptorQ => "RaptorQ",
        RepairCode::ReedSolomon => "Reed–Solomon code",
    }
}

/// Mean number of symbols beyond `sources` that complete a block, if all symbols are random. The probability that
/// `sources` + e symbols are not enough is 1 - Π (1 - q^-i), i = e + 1 ... e + sources. The result is the sum of this
/// probability over e.
fn extra(code: Code, sources: u16) -> f64 {
    let q: f64 = match code {
        Code::Fountain => 2.0,
        Code::Rlc => 256.0,
        _ => return 0.0,
    };
    let mut first = 1.0 / q;
    let mut sum = 0.0;
    for _ in 0..=MOST_EXTRA {
        let (mut enough, mut power) = (1.0, first);
        for _ in 0..sources {
            enough *= 1.0 - power;
            power /= q;
        }
        sum += 1.0 - enough;
        first /= q;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With large blocks, the result over GF(2) is 1.6067, the sum of 1 / (2^i - 1). Over GF(256), it is a little more
    /// than 1/255.
    #[test]
    fn a_block_takes_some_symbols_more() {
        let limit = |q: f64| {
            let mut power = q;
            (0..60).fold(0.0, |sum, _| {
                let term = 1.0 / (power - 1.0);
                power *= q;
                sum + term
            })
        };
        assert!((extra(Code::Fountain, 256) - limit(2.0)).abs() < 1e-9, "{}", limit(2.0));
        assert!((extra(Code::Rlc, 256) - limit(256.0)).abs() < 1e-9);
        assert!((limit(2.0) - 1.6067).abs() < 1e-4);
        // A block of one symbol. The symbol is 0 with probability 1/q, which is one half.
        assert!((extra(Code::Fountain, 1) - 1.0).abs() < 1e-12);
    }
}
