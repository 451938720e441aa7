//! Packet numbers of sealed datagrams. A datagram carries the lowest 32 bits of a 64-bit packet number (RFC 9000
//! appendix A).

use crate::generation::GENERATION_BITS;

/// Number of bits of a packet number that a datagram carries.
const WIRE_BITS: u32 = 32;

/// The full packet number of a datagram. Each path has separate packet numbers in each direction.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PacketNumber(u64);

impl PacketNumber {
    /// First packet number of a path.
    pub(crate) const FIRST: PacketNumber = PacketNumber(0);
    /// Last packet number of a path (RFC 9000 §12.3).
    pub(crate) const LAST: PacketNumber = PacketNumber((1 << 62) - 1);

    /// Returns the full packet number.
    pub(crate) fn full(self) -> u64 {
        self.0
    }

    /// Returns the lowest 32 bits, which a datagram carries.
    pub(crate) fn on_wire(self) -> u32 {
        self.0 as u32
    }

    /// Returns the key generation of the packet number.
    pub(crate) fn generation(self) -> u64 {
        self.0 >> GENERATION_BITS
    }

    /// Returns the next packet number; `None` after the last one.
    pub(crate) fn next(self) -> Option<Self> {
        (self < Self::LAST).then(|| PacketNumber(self.0 + 1))
    }

    /// Returns the first packet number of a key generation; `None` if the generation is beyond the last one.
    pub(crate) fn first_of(generation: u64) -> Option<Self> {
        let first = generation.checked_mul(1 << GENERATION_BITS).map(PacketNumber);
        first.filter(|&first| first <= Self::LAST)
    }

    /// Returns the full packet number of a datagram that carries `wire`. `highest` is the highest packet number of an
    /// authentic datagram so far. Returns `None` if no valid number has these bits.
    pub(crate) fn reconstruct(wire: u32, highest: Option<PacketNumber>) -> Option<Self> {
        let number = decode(highest.map(Self::full), u64::from(wire), WIRE_BITS);
        Some(PacketNumber(number)).filter(|&number| number <= Self::LAST)
    }
}

/// Returns the number that is closest to the expected one and whose lowest `bits` bits are `truncated` (RFC 9000 §A.3).
fn decode(highest: Option<u64>, truncated: u64, bits: u32) -> u64 {
    let expected = highest.map_or(0, |highest| highest + 1);
    let window = 1 << bits;
    let candidate = expected & !(window - 1) | truncated;
    if candidate + window / 2 <= expected && candidate < (1 << 62) - window {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// RFC 9000 §A.3: "if the highest successfully authenticated packet had a packet number of 0xa82f30ea, then a packet
    /// containing a 16-bit value of 0x9b32 will be decoded as 0xa82f9b32."
    #[test]
    fn the_example_of_the_rfc_decodes_as_it_says() {
        assert_eq!(decode(Some(0xA82F_30EA), 0x9B32, 16), 0xA82F_9B32);
    }

    #[test]
    fn the_first_numbers_need_no_authentic_one() {
        assert_eq!(PacketNumber::reconstruct(0, None), Some(PacketNumber(0)));
        assert_eq!(PacketNumber::reconstruct(7, None), Some(PacketNumber(7)));
    }

    #[test]
    fn what_the_wire_carries_wraps_and_the_number_goes_on() {
        let highest = PacketNumber(0xFFFF_FFFE);
        let around =
            [(0xFFFF_FFF0, 0xFFFF_FFF0), (0xFFFF_FFFF, 0xFFFF_FFFF), (0, 1 << 32), (5, (1 << 32) + 5)];
        for (wire, full) in around {
            assert_eq!(PacketNumber::reconstruct(wire, Some(highest)), Some(PacketNumber(full)));
        }
    }

    #[test]
    fn there_is_nothing_behind_the_last_number() {
        assert_eq!(PacketNumber::LAST.next(), None);
        assert_eq!(PacketNumber(PacketNumber::LAST.0 - 1).next(), Some(PacketNumber::LAST));
        assert_eq!(PacketNumber::first_of(1 << 40), None);
        assert_eq!(PacketNumber::first_of((1 << 40) - 1), Some(PacketNumber((1 << 62) - (1 << 22))));
        assert_eq!(PacketNumber::first_of(u64::MAX), None);
    }

    proptest! {
        /// RFC 9000 §A.3: the decoded number is the one closest to the next expected number. Any number within half a
        /// window of the expected one is therefore decoded correctly.
        #[test]
        fn a_number_within_half_a_window_of_the_expected_one_is_found_again(
            highest in 0..1u64 << 62,
            ahead in -(1i64 << 31) + 1..1i64 << 31,
        ) {
            let number = (highest + 1).checked_add_signed(ahead).filter(|&number| number < 1 << 62);
            prop_assume!(number.is_some());
            let number = PacketNumber(number.expect("just filtered"));
            prop_assert_eq!(PacketNumber::reconstruct(number.on_wire(), Some(PacketNumber(highest))), Some(number));
        }

        /// A reconstructed number has the bits of the wire, and is in the valid range.
        #[test]
        fn a_reconstructed_number_has_the_bits_of_the_wire(
            highest in prop_oneof![Just((1u64 << 62) - 1), 0..1u64 << 62, 0..1u64 << 33],
            wire: u32,
        ) {
            if let Some(number) = PacketNumber::reconstruct(wire, Some(PacketNumber(highest))) {
                prop_assert_eq!(number.on_wire(), wire);
                prop_assert!(number <= PacketNumber::LAST);
            }
        }
    }
}
