//! Sequence numbers of destinations. A usable route has an even number, which the destination assigned. A node that
//! invalidates a route makes its number odd (ns-2.35). The route then counts as older than any later route.

/// Returns whether `a` is newer than `b`. The difference of `a` and `b` counts as a signed number (RFC 3561 §6.1).
pub fn newer(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}

/// Returns the newer of two sequence numbers.
pub fn newest(a: u32, b: u32) -> u32 {
    if newer(b, a) { b } else { a }
}

/// Returns the next odd number, for a route that has ended.
pub fn ended(sequence: u32) -> u32 {
    sequence.wrapping_add(1) | 1
}

/// Returns the next even number, for a route that its destination announces.
pub fn announced(sequence: u32) -> u32 {
    sequence.wrapping_add(2) & !1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_around_the_circle() {
        assert!(newer(1, u32::MAX) && !newer(u32::MAX, 1));
        assert!(newer(5, 4) && !newer(4, 4));
        assert_eq!(newest(u32::MAX - 1, 2), 2);
    }

    #[test]
    fn an_ended_route_is_newer_than_it_was_and_older_than_the_next() {
        assert_eq!((ended(4), ended(5)), (5, 7));
        assert!(newer(6, ended(4)) && newer(ended(4), 4));
        assert_eq!((announced(4), announced(5)), (6, 6));
    }
}
