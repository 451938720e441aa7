//! Window of TCP that a receiver computes from arrivals alone. The method is TEAR (Rhee I., Ozdemir V., Yi Y., "TEAR:
//! TCP Emulation at Receivers", technical report, North Carolina State University, 2000), with the seven states of Cao
//! et al., 2016.
//!
//! | source | here |
//! |---|---|
//! | seven states; Cao et al. name six of them, the seventh is [`State::Gap`] | [`State`] |
//! | a packet in sequence: +1 in slow start, +1/lastWindow in congestion avoidance | [`Tear::arrived`] |
//! | a gap: held; three packets beyond it: fast recovery; filled: back | [`Tear::arrived`] |
//! | fast recovery: half; timeout: 1; both wait for the next round | [`Tear::arrived`], [`Tear::timed_out`], [`Tear::round`] |
//!
//! The window is virtual, and is counted in packets. It limits no sender.
//!
//! `ASSUMED`, because Cao et al. refer to the technical report, which was not available: the initial window is 2
//! packets, and the initial threshold 32. The window is at least 2 packets after a halving, and 1 packet after a
//! timeout. Further losses in the round in which fast recovery began do not halve the window again.

/// Initial threshold of slow start, in packets.
const INITIAL_THRESHOLD: f64 = 32.0;
/// Number of packets that must arrive after a gap, so that the gap counts as a loss. It corresponds to TCP's three
/// duplicate acknowledgements.
const BEYOND: u8 = 3;
/// Difference between a packet's number and the expected number. A larger difference shows that the sender restarted.
const FAR: i32 = 10_000;

/// State of a path in TEAR.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// The window doubles each round.
    SlowStart,
    /// The window grows by one packet each round.
    CongestionAvoidance,
    /// Packets are missing. They may be late or lost.
    Gap,
    /// Packets are lost, and the window was halved.
    FastRecovery,
    /// Nothing arrived until the timeout, and the window is one packet.
    Timeout,
    /// State after a timeout, until the next round begins.
    SlowStartReady,
    /// State after fast recovery, until the next round begins.
    CongestionAvoidanceReady,
}

/// Position of a packet in its path's sequence.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SequencePosition {
    /// The packet is the expected one, or the first.
    Next,
    /// The packet is new, and this number of packets before it are missing.
    Beyond(u32),
    /// The packet was missing, or arrived twice.
    Late,
}

/// Tracks a path's packet numbers as they arrive.
#[derive(Copy, Clone, Debug, Default)]
pub struct Sequence {
    next: Option<u32>,
}

impl Sequence {
    /// Returns the position of packet `number`. Numbers wrap around (RFC 1982).
    pub fn place(&mut self, number: u32) -> SequencePosition {
        let ahead = self.next.map_or(0, |next| number.wrapping_sub(next) as i32);
        if (-FAR..0).contains(&ahead) {
            return SequencePosition::Late;
        }
        self.next = Some(number.wrapping_add(1));
        match ahead {
            1..FAR => SequencePosition::Beyond(ahead as u32),
            _ => SequencePosition::Next,
        }
    }
}

/// The virtual window of one path.
#[derive(Clone, Debug)]
pub struct Tear {
    state: State,
    /// State from which a gap was entered.
    origin: State,
    window: f64,
    threshold: f64,
    /// Window at the beginning of the round.
    last_window: f64,
    missing: u32,
    beyond: u8,
}

impl Default for Tear {
    fn default() -> Self {
        Tear {
            state: State::SlowStart,
            origin: State::SlowStart,
            window: 2.0,
            threshold: INITIAL_THRESHOLD,
            last_window: 2.0,
            missing: 0,
            beyond: 0,
        }
    }
}

impl Tear {
    /// Present state of the path.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns whether the window grows as in slow start.
    pub fn slow_start(&self) -> bool {
        let state = if self.state == State::Gap { self.origin } else { self.state };
        matches!(state, State::SlowStart | State::SlowStartReady | State::Timeout)
    }

    /// Virtual window in packets.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Records that a packet of the round arrived.
    pub fn arrived(&mut self, place: SequencePosition) {
        match (self.state, place) {
            (State::SlowStart, SequencePosition::Next) => {
                self.window += 1.0;
                self.maybe_avoid();
            }
            (State::CongestionAvoidance, SequencePosition::Next) => {
                self.window += 1.0 / self.last_window.max(1.0)
            }
            (State::SlowStart | State::CongestionAvoidance, SequencePosition::Beyond(missing)) => {
                (self.origin, self.state) = (self.state, State::Gap);
                (self.missing, self.beyond) = (missing, 1);
            }
            (State::Gap, SequencePosition::Late) => {
                self.missing = self.missing.saturating_sub(1);
                if self.missing == 0 {
                    self.state = self.origin;
                }
            }
            (State::Gap, SequencePosition::Next | SequencePosition::Beyond(_)) => {
                if let SequencePosition::Beyond(more) = place {
                    self.missing = self.missing.saturating_add(more);
                }
                self.beyond += 1;
                if self.beyond >= BEYOND {
                    self.halve();
                    self.state = State::FastRecovery;
                }
            }
            (State::FastRecovery, _) => self.state = State::CongestionAvoidanceReady,
            (State::Timeout, _) => self.state = State::SlowStartReady,
            _ => {}
        }
    }

    /// Records that nothing arrived until the timeout.
    pub fn timed_out(&mut self) {
        self.halve();
        self.window = 1.0;
        self.state = State::Timeout;
    }

    /// Records that a new round began with the arrival of its first packet. A call of [`Tear::arrived`] follows for
    /// this packet.
    pub fn round(&mut self) {
        self.last_window = self.window;
        match self.state {
            State::Timeout | State::SlowStartReady => self.state = State::SlowStart,
            State::FastRecovery | State::CongestionAvoidanceReady => self.state = State::CongestionAvoidance,
            State::SlowStart | State::CongestionAvoidance | State::Gap => {}
        }
    }

    /// Sets the window to `window`. The window is the number of packets per round trip that the path carries or last
    /// carried. Growth continues from there.
    pub fn resume(&mut self, window: f64) {
        self.window = window.max(1.0);
        self.last_window = self.window;
        self.threshold = (self.window / 2.0).max(2.0);
        self.state = State::CongestionAvoidance;
    }

    fn maybe_avoid(&mut self) {
        if self.window >= self.threshold {
            self.state = State::CongestionAvoidance;
        }
    }

    fn halve(&mut self) {
        self.threshold = (self.window / 2.0).max(2.0);
        self.window = self.threshold;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(tear: &mut Tear, places: &[SequencePosition]) -> (State, f64) {
        places.iter().for_each(|p| tear.arrived(*p));
        (tear.state(), tear.window())
    }

    /// Makes a state of congestion avoidance with a window of 10.
    fn avoiding() -> Tear {
        let mut tear = Tear::default();
        tear.resume(10.0);
        tear
    }

    #[test]
    fn numbers_are_placed_and_wrap_around() {
        let mut s = Sequence::default();
        let places: Vec<SequencePosition> =
            [u32::MAX - 1, u32::MAX, 0, 3, 1, 3, 4].into_iter().map(|n| s.place(n)).collect();
        use SequencePosition::{Beyond, Late, Next};
        assert_eq!(places, [Next, Next, Next, Beyond(2), Late, Late, Next]);
        assert_eq!(s.place(1 << 30), Next, "begun anew, not a thousand million losses");
        assert_eq!(s.place(5), Next, "and back");
        assert_eq!(s.place(6), Next);
    }

    #[test]
    fn slow_start_adds_a_packet_a_packet_up_to_the_threshold() {
        let mut tear = Tear::default();
        assert_eq!(play(&mut tear, &[SequencePosition::Next; 29]), (State::SlowStart, 31.0));
        assert_eq!(play(&mut tear, &[SequencePosition::Next]), (State::CongestionAvoidance, 32.0));
        tear.round();
        let (_, window) = play(&mut tear, &[SequencePosition::Next; 32]);
        assert!((window - 33.0).abs() < 1e-9, "32 packets of 1/32: {window}");
    }

    #[test]
    fn a_gap_that_closes_changes_nothing() {
        let mut tear = avoiding();
        assert_eq!(
            play(&mut tear, &[SequencePosition::Beyond(2), SequencePosition::Next]),
            (State::Gap, 10.0)
        );
        assert_eq!(play(&mut tear, &[SequencePosition::Late]), (State::Gap, 10.0), "one of two");
        assert_eq!(play(&mut tear, &[SequencePosition::Late]), (State::CongestionAvoidance, 10.0));
    }

    #[test]
    fn three_packets_beyond_a_gap_halve_once_a_round() {
        let mut tear = avoiding();
        assert_eq!(
            play(&mut tear, &[SequencePosition::Beyond(1), SequencePosition::Next]),
            (State::Gap, 10.0)
        );
        assert_eq!(play(&mut tear, &[SequencePosition::Next]), (State::FastRecovery, 5.0));
        assert_eq!(play(&mut tear, &[SequencePosition::Next]), (State::CongestionAvoidanceReady, 5.0));
        let more = [
            SequencePosition::Beyond(1),
            SequencePosition::Next,
            SequencePosition::Next,
            SequencePosition::Next,
        ];
        assert_eq!(play(&mut tear, &more), (State::CongestionAvoidanceReady, 5.0), "the same round");
        tear.round();
        assert_eq!(tear.state(), State::CongestionAvoidance);
        let (state, window) = play(&mut tear, &more);
        assert_eq!((state, window), (State::CongestionAvoidanceReady, 2.5));
    }

    #[test]
    fn a_timeout_leaves_one_packet_and_slow_start_from_the_next_round_on() {
        let mut tear = avoiding();
        tear.timed_out();
        assert_eq!((tear.state(), tear.window()), (State::Timeout, 1.0));
        assert_eq!(
            play(&mut tear, &[SequencePosition::Next; 2]),
            (State::SlowStartReady, 1.0),
            "still the old round"
        );
        tear.round();
        assert_eq!(play(&mut tear, &[SequencePosition::Next; 3]), (State::SlowStart, 4.0));
        assert_eq!(
            play(&mut tear, &[SequencePosition::Next]),
            (State::CongestionAvoidance, 5.0),
            "half of 10"
        );
        tear.timed_out();
        tear.timed_out();
        tear.round();
        assert_eq!(
            play(&mut tear, &[SequencePosition::Next]),
            (State::CongestionAvoidance, 2.0),
            "a threshold of 2 at least"
        );
    }

    #[test]
    fn a_timeout_in_a_gap_is_a_timeout() {
        let mut tear = avoiding();
        play(&mut tear, &[SequencePosition::Beyond(1)]);
        tear.timed_out();
        assert_eq!((tear.state(), tear.window()), (State::Timeout, 1.0));
    }
}
