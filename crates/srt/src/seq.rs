//! Numbers of packets and messages. On the wire they have 31 and 26 bits; internally they have 64 bits.

/// Number of bits of a packet's number.
const BITS: u32 = 31;
const MASK: u32 = (1 << BITS) - 1;
/// Largest number of a message. Message numbers start at 1. After the largest number, they continue at 1.
const LAST_MESSAGE: u32 = (1 << 26) - 1;

/// Returns a packet's number as a number that does not wrap around. Numbers of earlier packets fit below the result.
pub(crate) fn first(wire: u32) -> u64 {
    (1 << 33) | u64::from(wire & MASK)
}

/// Returns the packet number on the wire.
pub(crate) fn wire(number: u64) -> u32 {
    number as u32 & MASK
}

/// Returns the number nearest to `near` that is written as `on_wire` on the wire.
pub(crate) fn extend(on_wire: u32, near: u64) -> u64 {
    let ahead = on_wire.wrapping_sub(near as u32) & MASK;
    let ahead = i64::from(ahead) - if ahead >= 1 << (BITS - 1) { 1 << BITS } else { 0 };
    near.saturating_add_signed(ahead)
}

/// Returns the message number that follows `message`.
pub(crate) fn next_message(message: u32) -> u32 {
    if message >= LAST_MESSAGE { 1 } else { message + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_continue_after_the_wire_wraps() {
        let last = first(MASK);
        assert_eq!((wire(last), wire(last + 1)), (MASK, 0));
        assert_eq!(extend(0, last), last + 1);
        assert_eq!(extend(MASK, last + 1), last);
        assert_eq!(extend(5, first(5) + (1 << 31)), first(5) + (1 << 31));
        assert_eq!(extend(wire(last + 1000), last), last + 1000);
    }

    #[test]
    fn message_numbers_start_at_one() {
        assert_eq!((next_message(0), next_message(1), next_message(LAST_MESSAGE)), (1, 2, 1));
    }
}
