//! Presets made of parts, so that any scheduler can be combined with any congestion control.

use strandcast_keys::{BadValue, Key, Keyed, keys};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{Parts, Scheme};
use strandcast_proto::seeds::Seeds;

use super::transport::TransportKeys;
use crate::advice::AdviceKeys;
use crate::congestion::{Cc, Congestions, SctpConfig};
use crate::part::{Estimators, Others, codes};
use crate::scheme::{Listed, PartName, Settings};
use crate::shelf::{FeedbackName, Feedbacks, LossName, Losses, SchedulerName, Schedulers};

keys! {
    /// Choice of the parts.
    #[derive(Copy)]
    pub(crate) struct Roles {
        /// scheduler, which chooses the path of new data
        scheduler: SchedulerName = SchedulerName::RoundRobin,
        /// congestion control: RFC 9260's windows, or others of the table of windows (docs/schemes/combinations.md)
        cc: Cc = Cc::Rfc,
        /// loss detection: split by path, RFC 9260 §7.2.4 over all paths, or that with two misses while losses grow
        loss: LossName = LossName::Sfr,
        /// acknowledgement: delayed across gaps, RFC 9260 §6.7, or that with rounds and the receiver's rates
        feedback: FeedbackName = FeedbackName::Dac,
    }
}

/// A scheme made of parts. It consists of the chosen parts, and of settings for each part. Settings of other parts are
/// kept, because a spec may choose these parts.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Combination {
    pub roles: Roles,
    pub schedulers: Schedulers,
    pub congestions: Congestions,
    pub windows: SctpConfig,
    pub losses: Losses,
    pub feedbacks: Feedbacks,
    pub advice: AdviceKeys,
    pub transport: TransportKeys,
}

impl Combination {
    /// Common base of presets that use one path at a time. Everything except the scheduler is as in RFC 9260.
    pub fn rfc() -> Self {
        let mut parts = Combination::default();
        (parts.roles.loss, parts.roles.feedback) = (LossName::Rfc, FeedbackName::Rfc);
        (parts.losses.sfr.dac, parts.feedbacks.dac.dac) = (false, false);
        (parts.windows.cuc, parts.windows.fr_freeze) = (false, true);
        (parts.transport.pf, parts.transport.probe_interval) = (false, None);
        parts
    }

    /// Applies `change` to the parts. Returns them as the settings of a preset.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Box<dyn Settings> {
        change(&mut self);
        // `loss=silence` includes `loss=sfr`. A preset's settings of `loss=sfr` therefore also apply to `loss=silence`.
        self.losses.silence.sfr = self.losses.sfr;
        Box::new(self)
    }

    fn others(&self) -> Others {
        Others {
            paths: self.schedulers.part(self.roles.scheduler).paths(),
            rounds: self.feedbacks.part(self.roles.feedback).rounds(),
        }
    }

    /// All groups of keys in the order of listings. Each group has the part to which it belongs.
    fn groups(&self) -> Vec<(Option<PartName>, &dyn Keyed)> {
        let mut all: Vec<(Option<PartName>, &dyn Keyed)> = vec![(None, &self.roles)];
        all.extend(
            self.losses.all().into_iter().map(|(word, part)| (Some(("loss", word)), part as &dyn Keyed)),
        );
        let schedulers = self.schedulers.all().into_iter();
        all.extend(schedulers.map(|(word, part)| (Some(("scheduler", word)), part as &dyn Keyed)));
        let feedbacks = self.feedbacks.all().into_iter();
        all.extend(feedbacks.map(|(word, part)| (Some(("feedback", word)), part as &dyn Keyed)));
        // Several windows have keys of the same name, such as `beta` or `delta`, with different meanings. Only the keys
        // of one window are listed.
        let (word, window) = (self.roles.cc.word(), self.congestions.part(self.roles.cc));
        all.push((Some(("cc", word)), window as &dyn Keyed));
        all.push((None, &self.windows));
        all.push((None, &self.advice));
        all.push((None, &self.transport));
        all
    }

    /// Settings of the chosen parts.
    fn chosen(&self) -> impl Iterator<Item = (Option<PartName>, &dyn Keyed)> {
        let plays = |(role, word): PartName| self.roles.get(role).is_some_and(|chosen| chosen == word);
        self.groups().into_iter().filter(move |(part, _)| part.is_none_or(plays))
    }
}

impl Keyed for Combination {
    fn keys(&self) -> Vec<Key> {
        let mut all: Vec<Key> = Vec::new();
        for key in self.chosen().flat_map(|(_, keyed)| keyed.keys()) {
            if all.iter().all(|other| other.name != key.name) {
                all.push(key);
            }
        }
        all
    }

    /// Sets a key in all chosen parts that have it. Returns whether any chosen part has the key.
    fn set(&mut self, key: &str, text: &str) -> Result<bool, BadValue> {
        let found = [
            self.roles.set(key, text)?,
            self.losses.part_mut(self.roles.loss).set(key, text)?,
            self.schedulers.part_mut(self.roles.scheduler).set(key, text)?,
            self.feedbacks.part_mut(self.roles.feedback).set(key, text)?,
            self.congestions.part_mut(self.roles.cc).set(key, text)?,
            self.windows.set(key, text)?,
            self.advice.set(key, text)?,
            self.transport.set(key, text)?,
        ];
        Ok(found.contains(&true))
    }

    fn get(&self, key: &str) -> Option<String> {
        self.chosen().find_map(|(_, keyed)| keyed.get(key))
    }
}

impl Settings for Combination {
    fn build(&self, name: &'static str, seeds: &Seeds) -> Box<dyn Scheme> {
        let (roles, others) = (&self.roles, self.others());
        let scheduler = self.schedulers.part(roles.scheduler);
        let mut estimators = Estimators::default();
        scheduler.estimators(&mut estimators);
        let windows = self.congestions.part(roles.cc);
        windows.estimators(&mut estimators);
        self.losses.part(roles.loss).estimators(&mut estimators);
        self.feedbacks.part(roles.feedback).estimators(&mut estimators);
        self.advice.estimators(&mut estimators);
        Box::new(Parts {
            name: name.into(),
            estimators: estimators.finish(),
            loss: self.losses.part(roles.loss).build(&others, seeds),
            cc: windows.sctp(self.windows.into()),
            scheduler: self.advice.scheduler(scheduler.build()),
            feedback: self.feedbacks.part(roles.feedback).build(),
        })
    }

    fn tune(&self, config: &mut TransportConfig) {
        self.transport.tune(self.windows.start.strict, config);
        self.schedulers.part(self.roles.scheduler).tune(config);
        self.advice.tune(config);
    }

    fn boxed(&self) -> Box<dyn Settings> {
        Box::new(self.clone())
    }

    fn roles(&self) -> Vec<Key> {
        self.roles.keys()
    }

    fn conflict(&self) -> Option<&'static str> {
        let (roles, others) = (&self.roles, self.others());
        let refusals = [
            self.schedulers.part(roles.scheduler).refuses(&others),
            self.congestions.part(roles.cc).refuses(&others),
            self.losses.part(roles.loss).refuses(&others),
            self.feedbacks.part(roles.feedback).refuses(&others),
        ];
        refusals.into_iter().flatten().next()
    }

    fn contradiction(&self) -> Option<&'static str> {
        let mut config = TransportConfig::default();
        self.transport.tune(false, &mut config);
        let both = config.coding.is_some() && codes(self.schedulers.part(self.roles.scheduler));
        both.then_some("fec needs a scheduler of messages: scheduler=fmtcp and scheduler=nc-mptcp send coded symbols alone")
    }

    fn idle(&self, key: &str) -> Option<(&'static str, &'static str)> {
        self.transport.idle(key)
    }

    fn reads_tariffs(&self) -> bool {
        self.schedulers.part(self.roles.scheduler).tariffs()
    }

    fn listed(&self) -> Vec<Listed> {
        list(self.groups())
    }

    fn in_use(&self) -> Vec<Listed> {
        list(self.chosen())
    }
}

/// Lists the keys of `groups`. A key of several groups is listed with the first of these groups.
fn list<'a>(groups: impl IntoIterator<Item = (Option<PartName>, &'a dyn Keyed)>) -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    for (part, keyed) in groups {
        for key in keyed.keys() {
            let listed = Listed::new(&key, part, keyed.get(key.name));
            match all.iter_mut().find(|other| other.name == key.name) {
                Some(other) => other.merge(listed),
                None => all.push(listed),
            }
        }
    }
    all
}
