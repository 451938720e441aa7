//! Acknowledgement as RFC 9260 has it, and nothing said beyond it.

use crate::policy::{Feedback, Policy};

/// At least every second packet, at once for gaps and duplicates (RFC 9260 §6.2, §6.7): the trait's own default.
#[derive(Copy, Clone, Debug, Default)]
pub struct RfcFeedback;

impl Policy for RfcFeedback {}
impl Feedback for RfcFeedback {}
