//! Repair symbols, reports of arrivals and acts allocate no memory once a stream runs.

use strandcast_proto::coding::{Coding, RepairCode};
use strandcast_testing::live::{Live, coding, payload};
use strandcast_testing::plain;

/// Allocations of five seconds of a stream, after the same time of warm-up, and the repair symbols sent and messages
/// recovered in them.
fn allocations(coding: Option<Coding>) -> (u64, u64, u64) {
    let payload = payload();
    let mut live = Live::new(coding);
    (0..5).for_each(|_| live.second(&payload));
    let before = live.repairs();
    let counted = allocation_counter::measure(|| (0..5).for_each(|_| live.second(&payload)));
    assert!(coding.is_none() || live.redundancy().is_some_and(|r| r > 0.045), "{:?}", live.redundancy());
    let after = live.repairs();
    (counted.count_total, after.0 - before.0, after.1 - before.1)
}

/// A scheme that receives arrivals and reads the data in flight does not allocate either: reports are written and read
/// without an allocation.
#[test]
fn hearing_arrivals_and_acting_allocates_nothing() {
    let payload = payload();
    let [plain, watching] = [plain::windowed(1 << 20), plain::watching(1 << 20)].map(|scheme| {
        let mut live = Live::with(None, scheme);
        (0..5).for_each(|_| live.second(&payload));
        allocation_counter::measure(|| (0..5).for_each(|_| live.second(&payload))).count_total
    });
    println!("{plain} allocations, {watching} with arrivals and acts");
    assert!(watching < plain + 50, "{watching} allocations, {plain} without");
}

/// A recovered message has its own memory. A symbol that leaves or arrives has none.
#[test]
fn a_symbol_of_the_sliding_window_allocates_nothing() {
    let (plain, ..) = allocations(None);
    let (repaired, symbols, recovered) = allocations(coding(RepairCode::Rlc));
    println!("{plain} allocations, {repaired} with {symbols} symbols and {recovered} messages recovered");
    assert!(symbols > recovered + 100, "{symbols} symbols, {recovered} messages recovered");
    assert!(repaired < plain + recovered + symbols / 4, "{repaired} allocations, {plain} without");
}
