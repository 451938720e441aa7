//! Times without input.

use std::time::Duration;

use strandcast_proto::time::Instant;

/// Time without input after which the lack of input is reported.
const AFTER: Duration = Duration::from_secs(2);

/// Detects times without input.
#[derive(Clone, Copy, Debug)]
pub(in crate::live) struct Idle {
    last: Instant,
    reported: bool,
}

impl Idle {
    /// Makes a detector. A time without input begins now.
    pub(in crate::live) fn new(now: Instant) -> Idle {
        Idle { last: now, reported: false }
    }

    /// Records input. Returns the duration of the time without input, if that time was reported.
    pub(in crate::live) fn seen(&mut self, now: Instant) -> Option<Duration> {
        let after = now - std::mem::replace(&mut self.last, now);
        std::mem::take(&mut self.reported).then_some(after)
    }

    /// Returns whether there is no input now, and whether this was reported.
    pub(in crate::live) fn goes_on(&self) -> bool {
        self.reported
    }

    /// Returns whether the lack of input is to be reported now. The result is true only once per time without input.
    pub(in crate::live) fn begins(&mut self, now: Instant) -> bool {
        let begins = !self.reported && now - self.last >= AFTER;
        self.reported |= begins;
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_told_once_and_so_is_its_end() {
        let at = Instant::from_millis;
        let mut idle = Idle::new(at(0));
        assert_eq!((idle.begins(at(1999)), idle.seen(at(1999)), idle.begins(at(3000))), (false, None, false));
        assert_eq!((idle.begins(at(3999)), idle.begins(at(9000))), (true, false));
        assert_eq!((idle.seen(at(9999)), idle.seen(at(20_000))), (Some(Duration::from_secs(8)), None));
    }
}
