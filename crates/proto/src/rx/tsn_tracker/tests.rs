use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn tracker() -> TsnTracker {
    TsnTracker::new(Tsn(1))
}

fn insert_all(tracker: &mut TsnTracker, tsns: impl IntoIterator<Item = u32>) {
    for tsn in tsns {
        assert_eq!(tracker.insert(Tsn(tsn)).arrival, Arrival::New, "{tsn}");
    }
}

fn blocks(tracker: &TsnTracker) -> Vec<(u16, u16)> {
    tracker.gap_blocks().collect()
}

#[test]
fn the_ack_point_starts_one_before_the_initial_tsn() {
    assert_eq!(tracker().cum_tsn(), Tsn(0));
    assert_eq!(TsnTracker::new(Tsn(0)).cum_tsn(), Tsn(u32::MAX));
    assert_eq!(tracker().highest(), Tsn(0));
    assert!(!tracker().has_gap());
}

/// The example of RFC 9260 §3.3.4: TSNs 10..=12, 14, 15 and 17 received, all up to 12 in sequence.
#[test]
fn gap_blocks_are_those_of_the_rfc_example() {
    let mut t = TsnTracker::new(Tsn(10));
    insert_all(&mut t, [10, 11, 12, 14, 15, 17]);
    assert_eq!((t.cum_tsn(), blocks(&t)), (Tsn(12), vec![(2, 3), (5, 5)]));
    assert_eq!(t.highest(), Tsn(17));
}

#[test]
fn filling_a_gap_is_told_and_moves_the_ack_point_over_what_waited() {
    let mut t = tracker();
    assert_eq!(t.insert(Tsn(1)), Inserted { arrival: Arrival::New, filled: false });
    assert_eq!(t.insert(Tsn(4)), Inserted { arrival: Arrival::New, filled: false });
    assert!(t.has_gap());
    assert_eq!(t.insert(Tsn(3)), Inserted { arrival: Arrival::New, filled: true });
    assert_eq!((t.cum_tsn(), blocks(&t)), (Tsn(1), vec![(2, 3)]));
    assert_eq!(t.insert(Tsn(2)), Inserted { arrival: Arrival::New, filled: true });
    assert_eq!((t.cum_tsn(), t.has_gap()), (Tsn(4), false));
}

#[test]
fn blocks_that_touch_become_one() {
    let mut t = tracker();
    insert_all(&mut t, [3, 7, 5, 6]);
    assert_eq!(blocks(&t), [(3, 3), (5, 7)]);
    insert_all(&mut t, [4]);
    assert_eq!(blocks(&t), [(3, 7)]);
}

/// RFC 9260 §3.3.4: a duplicate is listed each time it is received, until a SACK reported it.
#[test]
fn duplicates_are_listed_as_often_as_they_come_until_reported() {
    let mut t = tracker();
    insert_all(&mut t, [1, 3]);
    for tsn in [3, 1, 3] {
        assert_eq!(t.insert(Tsn(tsn)), Inserted { arrival: Arrival::Duplicate, filled: false });
    }
    assert_eq!(t.duplicates(), [Tsn(3), Tsn(1), Tsn(3)]);
    t.clear_duplicates();
    assert!(t.duplicates().is_empty());
    for _ in 0..1000 {
        t.insert(Tsn(1));
    }
    assert_eq!(t.duplicates().len(), MAX_DUPLICATES);
}

#[test]
fn checking_changes_nothing() {
    let mut t = tracker();
    insert_all(&mut t, [1, 4]);
    assert_eq!(t.check(Tsn(2)), Inserted { arrival: Arrival::New, filled: true });
    assert_eq!(t.check(Tsn(5)), Inserted { arrival: Arrival::New, filled: false });
    assert_eq!(t.check(Tsn(4)).arrival, Arrival::Duplicate);
    assert!(t.duplicates().is_empty());
    assert_eq!((t.cum_tsn(), blocks(&t)), (Tsn(1), vec![(3, 3)]));
}

#[test]
fn offsets_beyond_16_bits_are_left_out_of_gap_blocks_but_remembered() {
    let mut t = tracker();
    insert_all(&mut t, [65_534, 65_535, 65_536, 65_538]);
    assert_eq!(blocks(&t), [(65_534, 65_535)]);
    assert_eq!(t.insert(Tsn(65_538)).arrival, Arrival::Duplicate);
    t.forward(Tsn(65_000));
    assert_eq!(blocks(&t), [(534, 536), (538, 538)]);
}

#[test]
fn hostile_tsns_take_bounded_memory_and_never_stop_progress() {
    let mut t = tracker();
    let distance = MAX_DISTANCE as u32;
    assert_eq!(t.insert(Tsn(distance + 1)).arrival, Arrival::TooFar);
    assert_eq!(t.insert(Tsn(distance)).arrival, Arrival::New);
    let taken = (1..).map(|i| 2 * i).take_while(|&tsn| t.insert(Tsn(tsn)).arrival == Arrival::New).count();
    assert_eq!(taken, MAX_BLOCKS - 1);
    assert_eq!(t.insert(Tsn(200_000)).arrival, Arrival::TooFar);
    assert_eq!(t.insert(Tsn(200_000)).arrival, Arrival::TooFar, "it was not recorded");
    assert_eq!(t.insert(Tsn(1)).arrival, Arrival::New);
    assert_eq!(t.cum_tsn(), Tsn(2));
    assert_eq!(t.insert(Tsn(3)).arrival, Arrival::New);
    assert_eq!(t.insert(Tsn(200_000)).arrival, Arrival::New, "there is room again");
}

#[test]
fn room_for_many_blocks_is_given_back() {
    let mut t = tracker();
    insert_all(&mut t, (1..=1000).map(|i| 2 * i));
    t.forward(Tsn(2000));
    assert!(t.blocks.capacity() <= KEPT_BLOCKS);
}

/// RFC 3758 §3.6: the cumulative TSN moves to the new one, and further over TSNs that were received in sequence beyond
/// it.
#[test]
fn forward_tsn_moves_on_over_what_was_received() {
    let mut t = tracker();
    insert_all(&mut t, [3, 6, 7, 10]);
    assert!(t.forward(Tsn(5)));
    assert_eq!((t.cum_tsn(), blocks(&t)), (Tsn(7), vec![(3, 3)]));
    assert!(t.forward(Tsn(8)));
    assert_eq!((t.cum_tsn(), blocks(&t)), (Tsn(8), vec![(2, 2)]));
    assert!(t.forward(Tsn(20)));
    assert_eq!((t.cum_tsn(), t.has_gap()), (Tsn(20), false));
}

/// RFC 3758 §3.6: a new cumulative TSN that is not beyond the point is out of date and must not update it.
#[test]
fn forward_tsn_out_of_date_changes_nothing() {
    let mut t = tracker();
    insert_all(&mut t, [1, 2, 4]);
    assert!(!t.forward(Tsn(2)));
    assert!(!t.forward(Tsn(1)));
    assert!(!t.forward(Tsn(u32::MAX)));
    assert_eq!((t.cum_tsn(), blocks(&t)), (Tsn(2), vec![(2, 2)]));
}

#[test]
fn forward_tsn_into_a_block_takes_all_of_it() {
    let mut t = tracker();
    insert_all(&mut t, [3, 4, 5]);
    assert!(t.forward(Tsn(4)));
    assert_eq!((t.cum_tsn(), t.has_gap()), (Tsn(5), false));
}

proptest! {
    /// Comparison with a set of all TSNs received, across the wrap of TSNs.
    #[test]
    fn agrees_with_a_set(
        initial in prop_oneof![any::<u32>(), (u32::MAX - 100)..=u32::MAX],
        ops in prop::collection::vec((0u32..200, prop::bool::weighted(0.05)), 1..300),
    ) {
        let mut t = TsnTracker::new(Tsn(initial));
        let (mut cum, mut seen) = (0, BTreeSet::new());
        for (offset, forward) in ops {
            let tsn = Tsn(initial.wrapping_add(offset));
            let number = offset + 1;
            if forward {
                prop_assert_eq!(t.forward(tsn), number > cum);
                cum = cum.max(number);
            } else {
                let new = number > cum && !seen.contains(&number);
                let highest = seen.last().copied().unwrap_or(0).max(cum);
                let arrival = if new { Arrival::New } else { Arrival::Duplicate };
                prop_assert_eq!(t.insert(tsn), Inserted { arrival, filled: new && number < highest });
                seen.insert(number);
            }
            while seen.contains(&(cum + 1)) {
                cum += 1;
            }
            let on_wire = |number: u32| Tsn(initial.wrapping_add(number).wrapping_sub(1));
            prop_assert_eq!(t.cum_tsn(), on_wire(cum));
            prop_assert_eq!(t.highest(), on_wire(seen.last().copied().unwrap_or(0).max(cum)));
            let listed: Vec<u32> =
                t.gap_blocks().flat_map(|(first, last)| u32::from(first)..=u32::from(last)).collect();
            let held: Vec<u32> = seen.range(cum + 1..).map(|number| number - cum).collect();
            prop_assert_eq!(&listed, &held);
            prop_assert!(blocks(&t).windows(2).all(|pair| pair[0].1 + 1 < pair[1].0), "blocks touch");
            prop_assert_eq!(t.has_gap(), !held.is_empty());
        }
    }

    /// For any TSNs and any FORWARD TSNs there is no panic, and gap blocks stay within the limits of a SACK.
    #[test]
    fn takes_anything(
        initial: u32,
        ops in prop::collection::vec((any::<u32>(), any::<bool>()), 1..200),
    ) {
        let mut t = TsnTracker::new(Tsn(initial));
        for (tsn, forward) in ops {
            if forward {
                t.forward(Tsn(tsn));
            } else {
                t.insert(Tsn(tsn));
                t.insert(Tsn(t.cum_tsn().0.wrapping_add(tsn % 70_000)));
            }
            prop_assert!(t.gap_blocks().all(|(first, last)| 2 <= first && first <= last));
        }
    }
}
