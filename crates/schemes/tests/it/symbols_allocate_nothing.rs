//! In steady state the schedulers of symbols allocate nothing, and keep all windows full where blocks suffice.

use strandcast_testing::schemes::symbols::{SCHEDULERS, Transfer};

/// Symbols acknowledged, before it counts and while it does.
const STEPS: usize = 20_000;

#[test]
fn no_scheduler_allocates_for_a_symbol() {
    for name in SCHEDULERS {
        let mut transfer = Transfer::new(name, 4, 50, 40, 0);
        (0..STEPS).for_each(|_| transfer.step());
        let counted = allocation_counter::measure(|| (0..STEPS).for_each(|_| transfer.step()));
        assert_eq!(counted.count_total, 0, "{name}: {counted:?} in {STEPS} symbols");
        assert!(transfer.in_flight().iter().all(|n| *n > 0), "{name}: {:?}", transfer.in_flight());
    }
}
