//! The continuity counter (§2.4.3.3).

use std::collections::BTreeMap;

use super::packet::{NULL_PID, Packet};

/// The result of checking a packet's continuity counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuity {
    /// No packet is missing, as far as four bits show; or the packet is not checked.
    Fine,
    /// A repetition of the previous packet, which is allowed once.
    Duplicate,
    /// Packets of this PID are missing.
    Gap {
        /// Number of missing packets, modulo 16.
        missing: u8,
    },
}

/// Counters of a [`ContinuityChecker`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContinuityCounts {
    /// Gaps, each of one or more packets.
    pub gaps: u64,
    /// Packets missing in these gaps, modulo 16 per gap.
    pub missing_packets: u64,
    /// Repeated packets.
    pub duplicates: u64,
}

/// Checks the continuity counter of every PID.
///
/// The counter increases by one with each packet of its PID that has a payload, and stays the same without one. A
/// packet with payload may be sent twice but not more often. Both packets have the same bytes except for the PCR.
/// `discontinuity_indicator` allows any counter. Three kinds of packets are not checked: null packets, packets marked
/// as damaged, and packets with the reserved `adaptation_field_control` 0.
#[derive(Debug, Default)]
pub struct ContinuityChecker {
    last: BTreeMap<u16, Last>,
    counts: ContinuityCounts,
}

#[derive(Debug)]
struct Last {
    counter: u8,
    /// Checksum of the payload while the packet may still be repeated.
    repeatable: Option<u32>,
}

impl ContinuityChecker {
    /// Creates a checker.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counters until now.
    pub fn counts(&self) -> ContinuityCounts {
        self.counts
    }

    /// Checks the next packet of the stream.
    pub fn check(&mut self, packet: &Packet) -> Continuity {
        let unchecked = packet.pid() == NULL_PID
            || packet.transport_error()
            || !(packet.has_payload() || packet.has_adaptation());
        if unchecked {
            return Continuity::Fine;
        }
        let verdict = self.verdict(packet);
        match verdict {
            Continuity::Fine => {}
            Continuity::Duplicate => self.counts.duplicates += 1,
            Continuity::Gap { missing } => {
                self.counts.gaps += 1;
                self.counts.missing_packets += u64::from(missing);
            }
        }
        verdict
    }

    fn verdict(&mut self, packet: &Packet) -> Continuity {
        let counter = packet.continuity_counter();
        let sum = packet.has_payload().then(|| crc32c::crc32c(packet.payload()));
        let now = Last { counter, repeatable: sum };
        let Some(last) = self.last.insert(packet.pid(), now) else {
            return Continuity::Fine;
        };
        if packet.adaptation().is_some_and(|a| a.discontinuity) {
            return Continuity::Fine;
        }
        if sum.is_some() && counter == last.counter && sum == last.repeatable {
            self.last.insert(packet.pid(), Last { counter, repeatable: None });
            return Continuity::Duplicate;
        }
        let expected = if sum.is_some() { (last.counter + 1) & 0x0f } else { last.counter };
        match counter.wrapping_sub(expected) & 0x0f {
            0 => Continuity::Fine,
            missing => Continuity::Gap { missing },
        }
    }
}
