//! Loss detection over all paths, as in RFC 9260 §7.2.4: `rfc::RfcLoss` of the core.

use strandcast_keys::keys;
use strandcast_proto::policy::LossPolicy;
use strandcast_proto::rfc::RfcLoss;
use strandcast_proto::seeds::Seeds;

use super::chosen_path::followed;
use crate::part::{LossPart, Others};

keys! {
    /// [`RfcLoss`] has no keys.
    pub struct RfcLossConfig {}
}

impl LossPart for RfcLossConfig {
    fn build(&self, others: &Others, _: &Seeds) -> Box<dyn LossPolicy> {
        followed(others, RfcLoss::default())
    }
}
