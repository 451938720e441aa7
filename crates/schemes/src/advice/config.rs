//! Keys of the advice.

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::Scheduler;
use strandcast_proto::time::Duration;

use super::Encoder;
use crate::part::Estimators;
use crate::schedule::{TRAIN_MOST, Trains};

/// Time for which a paced path may accumulate permission to send. The time suffices for a train at the usual pacing
/// rates.
const QUANTUM: Duration = Duration::from_millis(50);

keys! {
    /// Switch of the advice to encoders.
    #[derive(Copy)]
    pub struct AdviceKeys {
        /// say which rate arrives in time; each path is sent a train of up to 16 packets of the stream every second
        advice: bool = false,
    }
}

impl AdviceKeys {
    /// Adds the estimator that gives the advice.
    pub(crate) fn estimators(&self, estimators: &mut Estimators) {
        if self.advice {
            estimators.delivery();
            estimators.add(Encoder::default());
        }
    }

    /// Returns `scheduler`, extended so that it sends trains.
    pub(crate) fn scheduler(&self, scheduler: Box<dyn Scheduler>) -> Box<dyn Scheduler> {
        if self.advice { Box::new(Trains::new(scheduler)) } else { scheduler }
    }

    /// Lets a train leave at once although windows are paced.
    pub(crate) fn tune(&self, config: &mut TransportConfig) {
        if self.advice {
            config.pacing_quantum = config.pacing_quantum.max(QUANTUM);
            config.max_burst = config.max_burst.max(TRAIN_MOST as u32);
        }
    }
}
