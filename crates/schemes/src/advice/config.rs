//! What can be set of advice.

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::Scheduler;

use super::Encoder;
use crate::part::Estimators;
use crate::schedule::{TRAIN_MOST, Trains};

keys! {
    /// Whether encoders are advised.
    #[derive(Copy)]
    pub struct AdviceKeys {
        /// say which rate arrives in time; each path is sent a train of up to 16 packets of the stream each second
        advice: bool = false,
    }
}

impl AdviceKeys {
    /// Adds the part that advises.
    pub(crate) fn estimators(&self, estimators: &mut Estimators) {
        if self.advice {
            estimators.delivery();
            estimators.add(Encoder::default());
        }
    }

    /// `scheduler`, sending trains.
    pub(crate) fn scheduler(&self, scheduler: Box<dyn Scheduler>) -> Box<dyn Scheduler> {
        if self.advice { Box::new(Trains::new(scheduler)) } else { scheduler }
    }

    /// A train leaves at once.
    pub(crate) fn tune(&self, config: &mut TransportConfig) {
        if self.advice {
            config.max_burst = config.max_burst.max(TRAIN_MOST as u32);
        }
    }
}
