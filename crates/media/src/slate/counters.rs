//! Continuity counters of the output.

use std::collections::BTreeMap;

use super::edit::{Bytes, set_counter, set_discontinuity};
use crate::ts::{NULL_PID, Packet};

/// State of a PID of the output.
#[derive(Debug, Default, Clone, Copy)]
struct Pid {
    /// Counter of the last packet; `None` before the first.
    last: Option<u8>,
    /// Difference between the counters of the output and of the source. It is set once the first unit of the source
    /// after the cut has begun.
    offset: Option<u8>,
    /// True once a PCR of the current source was sent.
    clocked: bool,
}

/// Continuity counters of the output, which continue across cuts.
///
/// A source that plays keeps its own counters, but a constant is added for each PID. Gaps of the source are therefore
/// gaps of the output, and repeated packets remain repetitions.
#[derive(Debug, Default)]
pub(super) struct Counters(BTreeMap<u16, Pid>);

impl Counters {
    /// Starts another source.
    pub(super) fn cut(&mut self) {
        for pid in self.0.values_mut() {
            (pid.offset, pid.clocked) = (None, false);
        }
    }

    /// Writes the continuity counter of a packet from the source that plays. Returns false if the packet is left out.
    /// If `whole` is true, the output of a PID begins with a complete unit. Packets of a unit that began before the cut
    /// are then left out. The first PCR of each PID after a cut begins a new time base (§2.4.3.5).
    pub(super) fn pass(&mut self, packet: &Packet, whole: bool, bytes: &mut Bytes) -> bool {
        if packet.pid() == NULL_PID || !(packet.has_payload() || packet.has_adaptation()) {
            return true;
        }
        let pid = self.0.entry(packet.pid()).or_default();
        let counter = packet.continuity_counter();
        let new = match (pid.offset, packet.has_payload()) {
            (Some(offset), _) => counter.wrapping_add(offset),
            (None, true) if packet.unit_start() || !whole => {
                let next = pid.last.map_or(counter, |last| last.wrapping_add(1));
                pid.offset = Some(next.wrapping_sub(counter));
                next
            }
            (None, true) => return false,
            (None, false) => pid.last.unwrap_or(counter),
        } & 0x0f;
        set_counter(bytes, new);
        pid.last = Some(new);
        if packet.adaptation().is_some_and(|field| field.pcr.is_some())
            && !std::mem::replace(&mut pid.clocked, true)
        {
            set_discontinuity(bytes);
        }
        true
    }

    /// Writes the counter of a packet that was created for the output.
    pub(super) fn add(&mut self, packet: &Packet, bytes: &mut Bytes) {
        if packet.pid() == NULL_PID {
            return;
        }
        let pid = self.0.entry(packet.pid()).or_default();
        let new = match (pid.last, packet.has_payload()) {
            (Some(last), true) => last.wrapping_add(1) & 0x0f,
            (Some(last), false) => last,
            (None, _) => 0,
        };
        set_counter(bytes, new);
        pid.last = Some(new);
        // Packets of the source that plays will follow this packet.
        if let Some(offset) = &mut pid.offset
            && packet.has_payload()
        {
            *offset = offset.wrapping_add(1);
        }
        if packet.adaptation().is_some_and(|field| field.pcr.is_some())
            && !std::mem::replace(&mut pid.clocked, true)
        {
            set_discontinuity(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Build;
    use crate::ts::{Continuity, ContinuityChecker};

    fn pass(counters: &mut Counters, build: &Build) -> Option<Packet> {
        let packet = build.packet();
        let mut bytes = *packet.as_bytes();
        counters.pass(&packet, true, &mut bytes).then(|| Packet::new(bytes).expect("a sync byte"))
    }

    fn unit(counter: u8) -> Build {
        Build { unit_start: true, ..Build::new(0x100, counter) }.payload(&[counter; 9])
    }

    #[test]
    fn a_source_after_a_cut_continues_with_its_next_unit() {
        let (mut counters, mut checker) = (Counters::default(), ContinuityChecker::new());
        for counter in [9, 10] {
            let packet = pass(&mut counters, &unit(counter)).expect("it passes");
            assert_eq!(packet.continuity_counter(), counter, "the first source is not changed");
            assert_eq!(checker.check(&packet), Continuity::Fine);
        }
        counters.cut();
        let middle = Build { unit_start: false, ..unit(2) };
        assert_eq!(pass(&mut counters, &middle), None, "its unit began before the cut");
        let clock = Build { payload: None, unit_start: false, ..unit(2) };
        for build in [clock, unit(3), unit(4), unit(4)] {
            checker.check(&pass(&mut counters, &build).expect("it passes"));
        }
        assert_eq!((checker.counts().gaps, checker.counts().duplicates), (0, 1));
        // A gap in the source's counters remains a gap.
        let after = pass(&mut counters, &unit(7)).expect("it passes");
        assert_eq!(checker.check(&after), Continuity::Gap { missing: 2 });
    }
}
