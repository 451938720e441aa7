//! Acknowledgements as in RFC 9260, without further reports.

use crate::policy::{Feedback, Policy};

/// Acknowledges at least every second packet, and acknowledges gaps and duplicates immediately (RFC 9260 §6.2, §6.7).
/// This behaviour is the default of the trait [`Feedback`](crate::policy::Feedback).
#[derive(Copy, Clone, Debug, Default)]
pub struct RfcFeedback;

impl Policy for RfcFeedback {}
impl Feedback for RfcFeedback {}
