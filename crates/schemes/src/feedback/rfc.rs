//! Acknowledgement as in RFC 9260 §6.2 and §6.7: `rfc::RfcFeedback` of the core.

use strandcast_keys::keys;
use strandcast_proto::policy::Feedback;
use strandcast_proto::rfc::RfcFeedback;

use crate::part::FeedbackPart;

keys! {
    /// [`RfcFeedback`] has no keys.
    pub struct RfcFeedbackConfig {}
}

impl FeedbackPart for RfcFeedbackConfig {
    fn build(&self) -> Box<dyn Feedback> {
        Box::new(RfcFeedback)
    }
}
