//! What a viewer got.

use core::time::Duration;

/// Playout continuity: the share of the time played that was without a gap, 0 to 1; 1 of no time at all.
pub fn playout_continuity(played: Duration, gaps: Duration) -> f64 {
    if played.is_zero() {
        return 1.0;
    }
    (1.0 - gaps.as_secs_f64() / played.as_secs_f64()).max(0.0)
}
