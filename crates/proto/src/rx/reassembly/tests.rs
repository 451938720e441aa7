use std::collections::BTreeMap as Map;

use proptest::prelude::*;

use super::super::{Arrival, TsnTracker};
use super::*;

const NOW: Instant = Instant::from_millis(5);

/// An unfragmented ordered message of stream 0.
fn whole(tsn: u32, ssn: u16) -> Fragment {
    Fragment {
        tsn: Tsn(tsn),
        stream: StreamId(0),
        ssn: Ssn(ssn),
        ppid: Ppid(tsn),
        unordered: false,
        begin: true,
        end: true,
        payload: Bytes::from(format!("<{tsn}>")),
    }
}

fn first(tsn: u32, ssn: u16) -> Fragment {
    Fragment { end: false, ..whole(tsn, ssn) }
}

fn middle(tsn: u32, ssn: u16) -> Fragment {
    Fragment { begin: false, end: false, ..whole(tsn, ssn) }
}

fn last(tsn: u32, ssn: u16) -> Fragment {
    Fragment { begin: false, ..whole(tsn, ssn) }
}

fn unordered(fragment: Fragment) -> Fragment {
    Fragment { unordered: true, ..fragment }
}

fn on(stream: u16, fragment: Fragment) -> Fragment {
    Fragment { stream: StreamId(stream), ..fragment }
}

fn fresh() -> Reassembly {
    Reassembly::new(Tsn(1))
}

/// Pushes a fragment, and returns the messages that became readable.
fn push(r: &mut Reassembly, fragment: Fragment) -> Vec<String> {
    r.push(fragment, NOW).expect("no violation in this test");
    read(r)
}

fn read(r: &mut Reassembly) -> Vec<String> {
    std::iter::from_fn(|| r.pop())
        .map(|message| String::from_utf8(message.payload.to_vec()).expect("tests send text"))
        .collect()
}

fn skip(r: &mut Reassembly, new_cum: u32, skipped: &[(u16, u16)]) -> Vec<String> {
    let skipped: Vec<_> = skipped.iter().map(|&(stream, ssn)| (StreamId(stream), Ssn(ssn))).collect();
    r.forward(Tsn(new_cum), &skipped);
    read(r)
}

fn violation(fragments: impl IntoIterator<Item = Fragment>) -> Option<Violation> {
    let mut r = fresh();
    fragments.into_iter().find_map(|fragment| r.push(fragment, NOW).err())
}

#[test]
fn a_message_in_one_chunk_is_handed_on_without_a_copy() {
    let mut r = fresh();
    let fragment = on(3, whole(1, 0));
    let payload = fragment.payload.clone();
    r.push(fragment, NOW).expect("no violation");
    assert!(r.readable());
    let message = r.pop().expect("readable");
    assert_eq!(message.payload.as_ptr(), payload.as_ptr());
    assert_eq!((message.stream, message.ssn, message.ppid), (StreamId(3), Ssn(0), Ppid(1)));
    assert_eq!((message.first_tsn, message.arrived, message.unordered), (Tsn(1), NOW, false));
    assert!(!r.readable() && r.pop().is_none());
}

/// RFC 9260 §6.6: within a stream chunks are delivered in the order of their SSN; other streams do not wait.
#[test]
fn ordered_messages_wait_for_their_turn_in_their_own_stream_only() {
    let mut r = fresh();
    assert!(push(&mut r, whole(3, 2)).is_empty());
    assert!(push(&mut r, whole(2, 1)).is_empty());
    assert!(!r.readable());
    assert_eq!(push(&mut r, on(1, whole(4, 0))), ["<4>"]);
    assert_eq!(push(&mut r, whole(1, 0)), ["<1>", "<2>", "<3>"]);
}

/// RFC 9260 §6.6: a chunk with the U bit bypasses the ordering, its SSN is ignored.
#[test]
fn unordered_messages_are_delivered_at_once() {
    let mut r = fresh();
    assert!(push(&mut r, whole(2, 1)).is_empty());
    assert_eq!(push(&mut r, unordered(whole(3, 999))), ["<3>"]);
    assert_eq!(push(&mut r, unordered(whole(4, 999))), ["<4>"]);
    assert!(push(&mut r, unordered(first(5, 7))).is_empty());
    assert_eq!(push(&mut r, unordered(last(6, 8))), ["<5><6>"]);
    assert_eq!(push(&mut r, whole(1, 0)), ["<1>", "<2>"]);
}

/// RFC 9260 §6.5: the SSN that follows 65535 is 0.
#[test]
fn ssn_wraps() {
    let mut r = fresh();
    for i in 0..=65_535u16 {
        assert_eq!(push(&mut r, whole(1 + u32::from(i), i)).len(), 1);
    }
    assert!(push(&mut r, whole(65_538, 1)).is_empty());
    assert_eq!(push(&mut r, whole(65_537, 0)), ["<65537>", "<65538>"]);
}

/// More small messages may wait for a lost one than half of the serial numbers of 16 bits.
#[test]
fn a_whole_cycle_of_ssns_may_wait() {
    let mut r = fresh();
    for i in 1..=65_535u16 {
        assert!(push(&mut r, whole(1 + u32::from(i), i)).is_empty());
    }
    assert_eq!(push(&mut r, whole(1, 0)).len(), 65_536);
}

/// RFC 9260 §6.9: fragments carry consecutive TSNs; B and E mark the ends; they are reassembled in TSN order.
#[test]
fn fragments_are_joined_in_any_order_of_arrival() {
    let parts = [first(7, 0), middle(8, 0), middle(9, 0), last(10, 0)];
    for order in 0..24 {
        let mut left = parts.to_vec();
        let mut r = fresh();
        let mut n = order;
        let mut message = Vec::new();
        for k in (1..=4).rev() {
            assert!(message.is_empty(), "complete before its last fragment");
            message = push(&mut r, left.remove(n % k));
            n /= k;
        }
        assert_eq!(message, ["<7><8><9><10>"], "order {order}");
        assert_eq!(r.buffered_bytes(), 0);
    }
}

#[test]
fn a_fragmented_message_has_the_ppid_and_tsn_of_its_first_fragment_and_the_time_of_its_completion() {
    let mut r = fresh();
    for (ms, fragment) in [(1, last(3, 0)), (2, first(1, 0)), (9, middle(2, 0))] {
        r.push(fragment, Instant::from_millis(ms)).expect("no violation");
    }
    let message = r.pop().expect("complete");
    assert_eq!(
        (message.ppid, message.first_tsn, message.arrived),
        (Ppid(1), Tsn(1), Instant::from_millis(9))
    );
}

#[test]
fn tsns_wrap_inside_a_message() {
    let mut r = Reassembly::new(Tsn(u32::MAX - 1));
    assert!(push(&mut r, last(0, 0)).is_empty());
    assert!(push(&mut r, first(u32::MAX - 1, 0)).is_empty());
    assert_eq!(push(&mut r, middle(u32::MAX, 0)), ["<4294967294><4294967295><0>"]);
}

#[test]
fn neighbouring_messages_stay_apart() {
    let mut r = fresh();
    for fragment in [last(2, 0), first(3, 1), on(1, first(5, 0)), last(4, 1)] {
        assert!(push(&mut r, fragment).is_empty());
    }
    assert_eq!(push(&mut r, first(1, 0)), ["<1><2>", "<3><4>"]);
    assert_eq!(push(&mut r, on(1, last(6, 0))), ["<5><6>"]);
}

#[test]
fn contradicting_fragments_are_violations() {
    use Violation::*;
    assert_eq!(violation([first(1, 0), first(2, 1)]), Some(UnexpectedBegin(Tsn(2))));
    assert_eq!(violation([first(1, 0), whole(2, 1)]), Some(UnexpectedBegin(Tsn(2))));
    assert_eq!(violation([first(2, 1), middle(1, 0)]), Some(UnexpectedBegin(Tsn(2))));
    assert_eq!(violation([last(2, 0), middle(3, 0)]), Some(UnexpectedContinuation(Tsn(3))));
    assert_eq!(violation([middle(2, 0), whole(1, 0)]), Some(UnexpectedContinuation(Tsn(2))));
    assert_eq!(violation([last(2, 0), last(1, 0)]), Some(UnexpectedContinuation(Tsn(2))));
    assert_eq!(violation([first(1, 0), on(1, last(2, 0))]), Some(Mismatch(Tsn(2))));
    assert_eq!(violation([first(1, 0), last(2, 1)]), Some(Mismatch(Tsn(2))));
    assert_eq!(violation([first(1, 0), unordered(last(2, 0))]), Some(Mismatch(Tsn(2))));
    assert_eq!(violation([last(3, 0), first(1, 1), middle(2, 1)]), Some(Mismatch(Tsn(3))));
    assert_eq!(violation([whole(2, 1), whole(3, 1)]), Some(SsnReused(Tsn(3))));
}

/// Held data take their payload and 16 bytes per chunk from the receive window until they are read or given up.
#[test]
fn buffered_bytes_follow_what_is_held() {
    let mut r = fresh();
    let one = "<1>".len() + CHUNK_OVERHEAD;
    r.push(whole(1, 0), NOW).expect("no violation");
    assert_eq!(r.buffered_bytes(), one, "not read yet");
    r.push(whole(5, 2), NOW).expect("no violation");
    r.push(first(2, 1), NOW).expect("no violation");
    assert_eq!(r.buffered_bytes(), 3 * one);
    r.push(last(3, 1), NOW).expect("no violation");
    assert_eq!(r.buffered_bytes(), 4 * one - CHUNK_OVERHEAD, "two chunks became one message");
    assert_eq!(read(&mut r).len(), 3);
    r.push(middle(7, 3), NOW).expect("no violation");
    assert_eq!(r.buffered_bytes(), one);
    r.forward(Tsn(8), &[(StreamId(0), Ssn(3))]);
    assert_eq!(r.buffered_bytes(), 0);
}

/// RFC 3758 §3.6: messages stranded on the reordering queue of a skipped stream are delivered, in order.
#[test]
fn forward_tsn_delivers_what_was_stranded() {
    let mut r = fresh();
    for fragment in [whole(2, 1), whole(4, 3), whole(5, 4), whole(7, 6), on(1, whole(8, 1))] {
        assert!(push(&mut r, fragment).is_empty());
    }
    assert_eq!(skip(&mut r, 3, &[(0, 2)]), ["<2>", "<4>", "<5>"]);
    assert_eq!(push(&mut r, whole(6, 5)), ["<6>", "<7>"]);
    assert_eq!(skip(&mut r, 9, &[(0, 7), (1, 0)]), ["<8>"]);
    assert_eq!(push(&mut r, whole(10, 8)), ["<10>"]);
}

/// RFC 3758 §3.6: fragments of messages that were given up are removed, ordered or not; later ones are kept.
#[test]
fn forward_tsn_drops_incomplete_messages() {
    let mut r = fresh();
    for fragment in [first(1, 0), middle(3, 0), unordered(first(5, 0)), unordered(middle(6, 0)), first(8, 1)]
    {
        assert!(push(&mut r, fragment).is_empty());
    }
    let one = "<8>".len() + CHUNK_OVERHEAD;
    assert!(skip(&mut r, 4, &[(0, 0)]).is_empty());
    assert_eq!(r.buffered_bytes(), 3 * one);
    assert!(skip(&mut r, 7, &[]).is_empty());
    assert_eq!(r.buffered_bytes(), one);
    assert_eq!(push(&mut r, last(9, 1)), ["<8><9>"]);
    assert_eq!(push(&mut r, whole(10, 2)), ["<10>"]);
}

/// The peer may forward only as far as the first acknowledged fragment: the rest of the message is dead as well.
#[test]
fn forward_tsn_into_a_message_drops_all_of_it() {
    let mut r = fresh();
    for fragment in [first(1, 0), middle(3, 0), last(5, 0), whole(6, 1)] {
        assert!(push(&mut r, fragment).is_empty());
    }
    assert_eq!(skip(&mut r, 2, &[(0, 0)]), ["<6>"]);
    assert!(push(&mut r, middle(4, 0)).is_empty());
    assert_eq!(r.buffered_bytes(), 0);
    assert_eq!(push(&mut r, whole(7, 2)), ["<7>"]);
}

#[test]
fn forward_tsn_for_a_stream_that_is_further_changes_nothing() {
    let mut r = fresh();
    for i in 0..5 {
        push(&mut r, whole(u32::from(i) + 1, i));
    }
    assert!(skip(&mut r, 6, &[(0, 3)]).is_empty());
    assert_eq!(push(&mut r, whole(7, 5)), ["<7>"]);
}

#[test]
fn forward_tsn_skips_over_the_wrap_of_ssns() {
    let mut r = fresh();
    r.next_ssn = vec![65_534];
    assert!(push(&mut r, whole(2, 65_535)).is_empty());
    assert!(push(&mut r, whole(4, 1)).is_empty());
    assert_eq!(skip(&mut r, 3, &[(0, 0)]), ["<2>", "<4>"]);
}

#[test]
fn messages_in_order_need_no_room_of_their_own() {
    let mut r = fresh();
    push(&mut r, whole(1, 0));
    let capacity = r.ready.capacity();
    for i in 1..1000u16 {
        assert_eq!(push(&mut r, whole(1 + u32::from(i), i)).len(), 1);
    }
    assert_eq!(r.ready.capacity(), capacity);
    for i in 1000..3000u16 {
        r.push(whole(1 + u32::from(i), i), NOW).expect("no violation");
    }
    read(&mut r);
    assert!(r.ready.capacity() <= KEPT_MESSAGES, "room for a backlog is given back");
}

/// Every second fragment of one huge message, then the rest backwards: no step may cost as much as the whole message.
#[test]
fn a_large_message_in_the_worst_order_is_not_quadratic() {
    const N: u32 = 200_000;
    let fragment = |i: u32| Fragment { begin: i == 0, end: i == N - 1, ..middle(1 + i, 0) };
    let mut r = fresh();
    for i in (0..N).step_by(2).chain((1..N).step_by(2).rev()) {
        r.push(fragment(i), NOW).expect("no violation");
    }
    let message = r.pop().expect("complete");
    let expected: String = (1..=N).map(|tsn| format!("<{tsn}>")).collect();
    assert!(message.payload == expected.as_bytes());
}

/// One message of the model's sender.
#[derive(Clone, Debug)]
struct Sent {
    stream: u16,
    unordered: bool,
    /// Index of the first fragment, and the index after the last.
    range: std::ops::Range<usize>,
    /// Position among the ordered messages of its stream.
    turn: u16,
    state: State,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum State {
    Missing,
    Complete,
    GivenUp,
    Delivered,
}

/// Messages that a receiver delivers by RFC 9260 and RFC 3758, computed from all messages at every step.
#[derive(Debug)]
struct Model {
    sent: Vec<Sent>,
    seen: Vec<bool>,
    cum: usize,
    turns: Map<u16, u16>,
    delivered: Vec<usize>,
}

impl Model {
    fn new(plan: &[(u16, bool, usize)]) -> Self {
        let mut sent: Vec<Sent> = Vec::new();
        let (mut turns, mut next) = (Map::new(), 0);
        for &(stream, unordered, fragments) in plan {
            let turn = turns.entry(stream).or_insert(0);
            let range = next..next + fragments;
            next += fragments;
            sent.push(Sent { stream, unordered, range, turn: *turn, state: State::Missing });
            *turn += u16::from(!unordered);
        }
        Model { sent, seen: vec![false; next], cum: 0, turns: Map::new(), delivered: Vec::new() }
    }

    fn message_of(&self, index: usize) -> usize {
        self.sent.partition_point(|message| message.range.end <= index)
    }

    /// Delivers fragment `index`. Returns true if it is new.
    fn arrive(&mut self, index: usize) -> bool {
        if index < self.cum || self.seen[index] {
            return false;
        }
        self.seen[index] = true;
        self.advance();
        let m = self.message_of(index);
        let message = &mut self.sent[m];
        if message.state == State::Missing && self.seen[message.range.clone()].iter().all(|&seen| seen) {
            message.state = State::Complete;
            self.deliver(m);
        }
        true
    }

    /// Gives up all fragments before `end`. Returns the streams that the sender skips, and the turn up to which it
    /// does.
    fn forward(&mut self, end: usize) -> Vec<(u16, u16)> {
        let mut skipped = Map::new();
        for message in self.sent.iter_mut().filter(|message| message.range.start < end) {
            if message.state == State::Missing {
                message.state = State::GivenUp;
            }
            if !message.unordered && message.range.end > self.cum {
                skipped.insert(message.stream, message.turn);
            }
        }
        self.cum = end;
        self.advance();
        for &stream in skipped.keys() {
            self.deliver_stream(stream);
        }
        skipped.into_iter().collect()
    }

    fn advance(&mut self) {
        while self.seen.get(self.cum) == Some(&true) {
            self.cum += 1;
        }
    }

    fn deliver(&mut self, m: usize) {
        if self.sent[m].unordered {
            self.sent[m].state = State::Delivered;
            self.delivered.push(m);
        } else {
            self.deliver_stream(self.sent[m].stream);
        }
    }

    fn deliver_stream(&mut self, stream: u16) {
        let turn = self.turns.entry(stream).or_insert(0);
        let in_order = self.sent.iter_mut().enumerate().filter(|(_, m)| m.stream == stream && !m.unordered);
        for (i, message) in in_order.skip(usize::from(*turn)) {
            match message.state {
                State::Complete => self.delivered.push(i),
                State::GivenUp => {}
                State::Missing | State::Delivered => break,
            }
            message.state = State::Delivered;
            *turn += 1;
        }
    }
}

/// A receiver, and the model for comparison.
struct Pair {
    model: Model,
    tracker: TsnTracker,
    reassembly: Reassembly,
    initial_tsn: u32,
    initial_ssn: u16,
    checked: usize,
}

impl Pair {
    fn new(plan: &[(u16, bool, usize)], initial_tsn: u32, initial_ssn: u16) -> Self {
        let mut reassembly = Reassembly::new(Tsn(initial_tsn));
        reassembly.next_ssn = vec![u64::from(initial_ssn); 4];
        let tracker = TsnTracker::new(Tsn(initial_tsn));
        Pair { model: Model::new(plan), tracker, reassembly, initial_tsn, initial_ssn, checked: 0 }
    }

    fn fragment(&self, index: usize) -> Fragment {
        let message = &self.model.sent[self.model.message_of(index)];
        Fragment {
            tsn: Tsn(self.initial_tsn.wrapping_add(index as u32)),
            stream: StreamId(message.stream),
            ssn: Ssn(self.initial_ssn.wrapping_add(message.turn)),
            ppid: Ppid(message.range.start as u32),
            unordered: message.unordered,
            begin: index == message.range.start,
            end: index + 1 == message.range.end,
            payload: payload(index..index + 1).into(),
        }
    }

    fn arrive(&mut self, index: usize) -> Result<(), TestCaseError> {
        let fragment = self.fragment(index);
        let new = self.tracker.insert(fragment.tsn).arrival == Arrival::New;
        prop_assert_eq!(new, self.model.arrive(index));
        if new {
            prop_assert_eq!(self.reassembly.push(fragment, NOW), Ok(()));
        }
        self.compare()
    }

    /// FORWARD TSN over all fragments before `end`; no effect if it is out of date.
    fn forward(&mut self, end: usize) -> Result<(), TestCaseError> {
        let new_cum = Tsn(self.initial_tsn.wrapping_add(end as u32).wrapping_sub(1));
        let newer = self.tracker.forward(new_cum);
        prop_assert_eq!(newer, end > self.model.cum);
        if newer {
            let skipped: Vec<_> = self.model.forward(end);
            let skipped: Vec<_> = skipped
                .into_iter()
                .map(|(stream, turn)| (StreamId(stream), Ssn(self.initial_ssn.wrapping_add(turn))))
                .collect();
            self.reassembly.forward(new_cum, &skipped);
        }
        self.compare()
    }

    fn compare(&mut self) -> Result<(), TestCaseError> {
        for &m in &self.model.delivered[self.checked..] {
            let sent = &self.model.sent[m];
            let got = self.reassembly.pop();
            prop_assert!(got.is_some(), "message {} is missing", m);
            let got = got.expect("just checked");
            prop_assert_eq!(got.ppid, Ppid(sent.range.start as u32));
            prop_assert_eq!(got.first_tsn, Tsn(self.initial_tsn.wrapping_add(sent.range.start as u32)));
            prop_assert_eq!((got.stream, got.unordered), (StreamId(sent.stream), sent.unordered));
            prop_assert_eq!(got.payload, payload(sent.range.clone()));
        }
        prop_assert_eq!(self.reassembly.pop(), None);
        self.checked = self.model.delivered.len();
        let cum = self.initial_tsn.wrapping_add(self.model.cum as u32).wrapping_sub(1);
        prop_assert_eq!(self.tracker.cum_tsn(), Tsn(cum));
        Ok(())
    }
}

/// Payload of the fragments `range`: 1 to 4 bytes each.
fn payload(range: std::ops::Range<usize>) -> Vec<u8> {
    range.flat_map(|index| vec![index as u8; 1 + index % 4]).collect()
}

#[derive(Clone, Debug)]
enum Op {
    Arrive(prop::sample::Index),
    Forward(prop::sample::Index),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let index = any::<prop::sample::Index>;
    prop::collection::vec(
        prop_oneof![30 => index().prop_map(Op::Arrive), 1 => index().prop_map(Op::Forward)],
        1..400,
    )
}

proptest! {
    /// For any order of arrival, with duplicates, fragments and FORWARD TSNs, even into the middle of a message:
    /// messages and times of delivery are those of the model, and nothing remains.
    #[test]
    fn delivers_what_the_model_delivers(
        plan in prop::collection::vec((0..4u16, any::<bool>(), 1..6usize), 1..60),
        initial_tsn in prop_oneof![Just(0), any::<u32>(), (u32::MAX - 150)..=u32::MAX],
        initial_ssn in prop_oneof![Just(0), any::<u16>(), (u16::MAX - 30)..=u16::MAX],
        ops in ops(),
        rest in any::<bool>(),
    ) {
        let mut pair = Pair::new(&plan, initial_tsn, initial_ssn);
        let total = pair.model.seen.len();
        for op in ops {
            match op {
                Op::Arrive(index) => pair.arrive(index.index(total))?,
                Op::Forward(index) => pair.forward(pair.model.cum + index.index(12).min(total - pair.model.cum))?,
            }
        }
        for index in (0..total).filter(|_| rest) {
            pair.arrive(index)?;
        }
        pair.forward(total)?;
        prop_assert_eq!(pair.reassembly.buffered_bytes(), 0);
        prop_assert!(pair.reassembly.pieces.is_empty() && pair.reassembly.waiting.is_empty());
    }

    /// Without FORWARD TSN every message is delivered once, each stream in order, for any order of arrival.
    #[test]
    fn every_message_is_delivered_once(
        plan in prop::collection::vec((0..4u16, any::<bool>(), 1..6usize), 1..60),
        initial_tsn: u32,
        (order, again) in (Just((0..360usize).collect::<Vec<_>>()).prop_shuffle(), any::<bool>()),
    ) {
        let mut pair = Pair::new(&plan, initial_tsn, 0);
        let total = pair.model.seen.len();
        for &index in order.iter().filter(|&&index| index < total) {
            pair.arrive(index)?;
            if again {
                pair.arrive(index / 2)?;
            }
        }
        prop_assert_eq!(pair.model.delivered.len(), plan.len());
        prop_assert_eq!(pair.reassembly.buffered_bytes(), 0);
    }

    /// Chunks and FORWARD TSNs of any content, as a hostile peer sends them: no panic, and the bytes counted never
    /// exceed what was pushed.
    #[test]
    fn takes_anything(
        initial: u32,
        ops in prop::collection::vec((any::<u32>(), 0..40u32, any::<u8>(), any::<u16>(), any::<u16>()), 1..300),
    ) {
        let mut r = Reassembly::new(Tsn(initial));
        let mut most = 0;
        for (far, near, bits, stream, ssn) in ops {
            let tsn = Tsn(if bits & 0xf0 == 0 { far } else { initial.wrapping_add(near) });
            let (stream, ssn) = (StreamId(stream % 3), Ssn(if bits & 8 == 0 { ssn % 8 } else { ssn }));
            if far % 8 == 0 {
                r.forward(tsn, &[(stream, ssn), (stream, Ssn(ssn.0.wrapping_mul(31)))]);
            } else {
                let (unordered, begin, end) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
                let (ppid, payload) = (Ppid(far), Bytes::from_static(b"x"));
                let _ = r.push(Fragment { tsn, stream, ssn, ppid, unordered, begin, end, payload }, NOW);
                most += 1 + CHUNK_OVERHEAD;
            }
            if ssn.0 % 5 == 0 {
                r.pop();
            }
            prop_assert!(r.buffered_bytes() <= most);
        }
    }
}
