//! Interface between a part and the code that assembles a scheme. The interface consists of the part's keys, its
//! requirements of other parts, and a function that makes the part.
//!
//! In its own file, a part implements one of these traits for its configuration. It also has a line in
//! [`crate::shelf`]. Windows have other traits ([`crate::congestion`]).

use core::fmt::Debug;

use strandcast_keys::Keyed;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{Feedback, LossPolicy, PathEstimator, Scheduler};
use strandcast_proto::seeds::Seeds;

use crate::estimate::{Delivery, Silence};

/// Paths that a scheduler uses.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Paths {
    /// Several paths at a time.
    All,
    /// The primary path, or another path while the primary path has failed.
    Primary,
    /// The path that the receiver chose.
    Chosen,
}

/// Properties of the other parts that a part may read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Others {
    /// Paths that the scheduler uses.
    pub paths: Paths,
    /// True if sender and receiver use rounds.
    pub rounds: bool,
}

/// The configuration of a scheduler.
pub trait SchedulerPart: Keyed + Debug {
    /// Makes the scheduler of one association.
    fn build(&self) -> Box<dyn Scheduler>;

    /// Sets the transport's parameters that the part needs. Called after the preset's own keys have set theirs.
    fn tune(&self, _: &mut TransportConfig) {}

    /// Adds the estimators that the part reads in addition to the core's measurements.
    fn estimators(&self, _: &mut Estimators) {}

    /// Returns whether the scheduler takes the costs of links into account.
    fn tariffs(&self) -> bool {
        false
    }

    /// Returns the paths that the scheduler uses.
    fn paths(&self) -> Paths {
        Paths::All
    }

    /// Returns the reason, in one line, why the scheduler cannot be combined with the other parts. Returns `None` if it
    /// can.
    fn refuses(&self, _: &Others) -> Option<&'static str> {
        None
    }
}

/// Returns whether a scheduler makes the association code its data in blocks.
pub(crate) fn codes(part: &dyn SchedulerPart) -> bool {
    let mut config = TransportConfig::default();
    part.tune(&mut config);
    config.coding.is_some()
}

/// The configuration of a loss policy.
pub trait LossPart: Keyed + Debug {
    /// Makes the loss policy of one association. Random draws come from `seeds`.
    fn build(&self, others: &Others, seeds: &Seeds) -> Box<dyn LossPolicy>;

    /// Adds the estimators that the part reads in addition to the core's measurements.
    fn estimators(&self, _: &mut Estimators) {}

    /// Returns the reason, in one line, why the loss policy cannot be combined with the other parts. Returns `None` if
    /// it can.
    fn refuses(&self, _: &Others) -> Option<&'static str> {
        None
    }
}

/// The configuration of a feedback policy.
pub trait FeedbackPart: Keyed + Debug {
    /// Makes the feedback policy of one association.
    fn build(&self) -> Box<dyn Feedback>;

    /// Adds the estimators that the part reads in addition to the core's measurements.
    fn estimators(&self, _: &mut Estimators) {}

    /// Returns whether the policy makes sender and receiver use rounds.
    fn rounds(&self) -> bool {
        false
    }

    /// Returns the reason, in one line, why the feedback policy cannot be combined with the other parts. Returns `None`
    /// if it can.
    fn refuses(&self, _: &Others) -> Option<&'static str> {
        None
    }
}

/// Estimators that the parts of a scheme read.
#[derive(Default, Debug)]
pub struct Estimators {
    delivery: bool,
    silence: bool,
    own: Vec<Box<dyn PathEstimator>>,
}

impl Estimators {
    /// Adds the estimator of delivery rate, queueing delay and loss. The estimator is added once for all parts that
    /// read it.
    pub fn delivery(&mut self) {
        self.delivery = true;
    }

    /// Adds the estimator of verdicts on silent paths. It is added once for all parts that read it.
    pub fn silence(&mut self) {
        self.silence = true;
    }

    /// Adds an estimator that one part reads.
    pub fn add(&mut self, estimator: impl PathEstimator + 'static) {
        self.own.push(Box::new(estimator));
    }

    /// Returns whether the parts read no estimates.
    pub fn is_empty(&self) -> bool {
        !(self.delivery || self.silence) && self.own.is_empty()
    }

    /// Returns all estimators. The estimator of delivery comes first, so that a part's own measurement replaces its
    /// values.
    pub fn finish(self) -> Vec<Box<dyn PathEstimator>> {
        let mut all: Vec<Box<dyn PathEstimator>> = Vec::new();
        if self.delivery {
            all.push(Box::new(Delivery::default()));
        }
        if self.silence {
            all.push(Box::new(Silence::default()));
        }
        all.extend(self.own);
        all
    }
}
