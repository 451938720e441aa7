//! `bond`: the default scheme of `strandcast perf`, and the base of `strand`.
//!
//! No single paper describes this scheme. The parts of this scheme come from several papers, and each part has its own
//! name:
//!
//! | what | from | here |
//! |---|---|---|
//! | earliest arrival against the message's deadline | ECF (Lim et al. 2017), BLEST (Ferlin et al. 2016) | `schedule::EarliestArrival` |
//! | lost chunks by the same rule | | `recovery::Rtx::Scheduler` |
//! | a window that halves only when the queue is long | Veno (2003), Westwood+ (2001), RFC 6356 | `congestion::QueueAware` |
//! | delivery rate, queueing delay, loss | | `estimate::Delivery` |
//! | SFR, CUC, DAC, potentially failed paths | as in `cmt` | |
//!
//! `ASSUMED`, because no paper contains them: all constants (in each part's file), deadlines in ECF's rule, and the
//! delay from which a queue counts as long. docs/schemes/bond.md has the equations and measurements.

use crate::congestion::Cc;
use crate::preset::combine::Combination;
use crate::recovery::Rtx;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// The preset.
pub const PRESET: Preset = Preset {
    name: "bond",
    paper: "none: ECF and BLEST's rule with deadlines, Veno's and Westwood+'s windows",
    summary: "the path that delivers in time and first; windows that tell random loss from full queues",
    parts: &[
        ("estimators", "delivery rate, queueing delay and loss by acknowledgements"),
        ("scheduler", "earliest expected arrival, in time for the message's deadline"),
        (
            "congestion control",
            "one RFC 9260 window per path that halves only when its queue is long, coupled behind one bottleneck",
        ),
        ("loss", "split fast retransmit (SFR), resent where the scheduler says"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || {
        Combination::default().with(|parts| {
            (parts.roles.scheduler, parts.roles.cc) = (SchedulerName::EarliestArrival, Cc::QueueAware);
            parts.losses.sfr.rtx = Rtx::Scheduler;
            parts.windows.fr_freeze = true;
            parts.windows.start.initial_cwnd = Some(10);
            parts.transport.unblock = true;
        })
    },
};
