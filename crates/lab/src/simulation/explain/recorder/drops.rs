//! Messages that the sender drops.

use std::collections::BTreeMap;

use strandcast_proto::association::Dropped;
use strandcast_proto::time::Instant;
use strandcast_sim::net::Agent;

use super::Explainer;
use crate::simulation::explain::explanation::{DropTrace, PathStanding};

impl Explainer {
    /// Records a message that the sender drops.
    pub(super) fn drop_message(&mut self, now: Instant, dropped: &Dropped) {
        if !dropped.begun {
            self.unsent.retain(|from| *from != dropped.message);
        }
        let Some(open) = self.messages.get_mut(&dropped.message) else { return };
        let parts = self.parts.values().filter(|(_, number)| *number == dropped.message);
        open.explanation.dropped = Some(DropTrace {
            at: now,
            cause: dropped.cause,
            expires: dropped.expires,
            sent: parts.count() as u64,
            missing: open.missing.count(),
            unsent: dropped.unsent,
            paths: Vec::new(),
        });
        self.dropped.push(dropped.message);
    }

    /// Records the state of the paths for the messages that the sender has just dropped. The caller calls it when the
    /// sender has sent everything that it may send.
    pub(super) fn look_at_paths(&mut self, now: Instant, agent: &dyn Agent) {
        if self.dropped.is_empty() {
            return;
        }
        let mut gauges = BTreeMap::<u8, Vec<(&'static str, f64)>>::new();
        agent.gauges(now, &mut |path, name, value| {
            path.into_iter().for_each(|path| gauges.entry(path).or_default().push((name, value)));
        });
        let inactive = agent.standing(now).map(|standing| standing.inactive).unwrap_or_default();
        let stands = |(path, gauges): (u8, Vec<(&'static str, f64)>)| PathStanding {
            path: self.names.path(self.subject.flow, path).to_owned(),
            active: inactive.iter().all(|other| other != path),
            gauges,
        };
        let paths: Vec<PathStanding> = gauges.into_iter().map(stands).collect();
        for number in core::mem::take(&mut self.dropped) {
            let dropped = self.messages.get_mut(&number).and_then(|open| open.explanation.dropped.as_mut());
            dropped.into_iter().for_each(|dropped| dropped.paths.clone_from(&paths));
        }
    }
}
