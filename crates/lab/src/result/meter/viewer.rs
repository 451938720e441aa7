//! Model of the viewer of a live video. The viewer sees each unit a fixed time after its capture. A unit is a frame, or
//! a message of a video without frames. The model counts units that have not arrived in time, pictures that cannot be
//! decoded, freezes, and underflows.

use core::time::Duration;

use strandcast_media::quality::{NOMINAL_PICTURES, freezes, nominal_decodable, nominal_picture};
use strandcast_proto::time::Instant;

use super::Window;

/// Counts of the units whose deadline has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// Number of units, number of units that arrived after their deadline, and number of units that arrived late or
    /// never.
    pub due: u64,
    pub late: u64,
    pub missed: u64,
    /// Number of pictures, number of decodable pictures, and number of freezes.
    pub pictures: u64,
    pub decodable: u64,
    pub freezes: u64,
    /// Time in seconds from the capture of the first picture to that of the last picture.
    pub seconds: f64,
}

impl Seen {
    /// Adds pictures in the order of display. Each flag is true if the picture can be decoded.
    pub fn show(&mut self, decodable: &[bool], picture: Duration) {
        self.pictures = decodable.len() as u64;
        self.decodable = decodable.iter().filter(|&&shown| shown).count() as u64;
        self.freezes = freezes(decodable.iter().copied(), picture);
    }

    /// Adds the shares to the metrics. Adds the numbers of late and missed units under the given names.
    pub fn put(&self, [late, missed]: [&'static str; 2], put: &mut dyn FnMut(&'static str, f64)) {
        put("missed_ratio", self.missed as f64 / self.due as f64);
        put("decodable_ratio", self.decodable as f64 / self.pictures as f64);
        put("freezes_per_min", self.freezes as f64 * 60.0 / self.seconds);
        put(late, self.late as f64);
        put(missed, self.missed as f64);
    }
}

/// A player that plays each unit at its turn, a fixed time after its capture. If neither the unit nor a later one has
/// arrived at its turn, the player pauses (an underflow). After the pause, it continues with the unit whose turn it
/// then is. If units arrive earlier, there are therefore never more underflows.
#[derive(Clone, Copy, Debug)]
pub(super) struct LivePlayer {
    delay: Duration,
    pause: Duration,
    window: Window,
    /// Time of the last turn, and end of the last pause.
    last: Instant,
    resumes: Instant,
    underflows: u64,
}

impl LivePlayer {
    /// Creates a player that plays a unit `prebuffer` after its capture, but not before the deadline. The player pauses
    /// for `prebuffer`.
    pub fn new(deadline: Duration, prebuffer: Duration, window: Window) -> Self {
        let delay = deadline.max(prebuffer);
        let (last, resumes) = (Instant::ZERO, Instant::ZERO);
        LivePlayer { delay, pause: prebuffer, window, last, resumes, underflows: 0 }
    }

    /// Plays the next unit. `there` is the time at which this unit or a later one first arrived.
    pub fn turn(&mut self, capture: Instant, there: Option<Instant>) {
        let turn = self.last.max(capture + self.delay);
        self.last = turn;
        let empty = there.is_none_or(|at| at > turn);
        if empty && turn >= self.resumes && self.window.contains(turn) {
            self.underflows += 1;
            self.resumes = turn + self.pause;
        }
    }

    pub fn underflows(&self) -> u64 {
        self.underflows
    }
}

/// Number of underflows of a player over units in the order of display. Each unit has its capture time, and the time at
/// which it was complete.
pub(super) fn underflows(mut player: LivePlayer, units: &[(Instant, Option<Instant>)]) -> u64 {
    let mut there = vec![None; units.len()];
    let mut first: Option<Instant> = None;
    for (i, (_, whole)) in units.iter().enumerate().rev() {
        first = first.into_iter().chain(*whole).min();
        there[i] = first;
    }
    units.iter().zip(there).for_each(|((capture, _), there)| player.turn(*capture, there));
    player.underflows()
}

/// Units at arbitrary times, with one message each. Pictures have a nominal length, and are counted from `start` on.
#[derive(Clone, Debug)]
pub(super) struct Nominal {
    start: Instant,
    /// Nominal pictures with judged units, in ascending order. Each has the number of its missed units.
    pictures: Vec<(u64, u64)>,
    seen: Seen,
}

impl Nominal {
    /// Creates a counter without units. `judged` is the range of capture times that count.
    pub fn new(start: Instant, judged: Window) -> Self {
        Nominal { start, pictures: Vec::new(), seen: Seen { seconds: judged.seconds(), ..Seen::default() } }
    }

    /// Adds the next unit.
    pub fn unit(&mut self, capture: Instant, missed: Option<bool>) {
        let picture = nominal_picture(capture - self.start);
        if self.pictures.last().is_none_or(|(last, _)| *last < picture) {
            self.pictures.push((picture, 0));
        }
        self.seen.due += 1;
        if let (Some(late), Some((_, lacking))) = (missed, self.pictures.last_mut()) {
            *lacking += 1;
            self.seen.missed += 1;
            self.seen.late += u64::from(late);
        }
    }

    /// Corrects a unit that counted as missed and has arrived.
    pub fn came(&mut self, capture: Instant, in_time: bool) {
        if !in_time {
            self.seen.late += 1;
            return;
        }
        self.seen.missed -= 1;
        let picture = nominal_picture(capture - self.start);
        if let Ok(at) = self.pictures.binary_search_by_key(&picture, |(picture, _)| *picture) {
            self.pictures[at].1 -= 1;
        }
    }

    pub fn seen(&self) -> Seen {
        let mut seen = self.seen;
        let received = self.pictures.iter().map(|&(picture, lacking)| (picture, lacking == 0));
        seen.show(&nominal_decodable(received), Duration::from_secs(1) / NOMINAL_PICTURES);
        seen
    }
}

/// Viewer of messages at even intervals. It needs no memory per message.
#[derive(Debug)]
pub(super) struct Messages {
    start: Instant,
    interval_s: f64,
    count: u64,
    deadline: Duration,
    judged: Window,
    nominal: Nominal,
    player: LivePlayer,
    /// Number of the first message for which neither the message itself nor a later one has arrived.
    next: u64,
}

impl Messages {
    /// Creates a viewer of messages that are captured from `start` on and before `end`.
    pub fn new(
        [start, end]: [Instant; 2],
        interval_s: f64,
        deadline: Duration,
        judged: Window,
        player: LivePlayer,
    ) -> Self {
        let count = ((end - start).as_secs_f64() / interval_s).ceil() as u64;
        let nominal = Nominal::new(start, judged);
        Messages { start, interval_s, count, deadline, judged, nominal, player, next: 0 }
    }

    pub fn capture(&self, number: u64) -> Instant {
        self.start + Duration::from_secs_f64(self.interval_s * number as f64)
    }

    /// Records the first arrival of a message.
    pub fn came(&mut self, now: Instant, number: u64) {
        if number >= self.count {
            return;
        }
        for next in self.next..=number {
            let capture = self.capture(next);
            if self.judged.contains(capture) {
                self.nominal.unit(capture, Some(false));
            }
            self.player.turn(capture, Some(now));
        }
        self.next = self.next.max(number + 1);
        let capture = self.capture(number);
        if self.judged.contains(capture) {
            self.nominal.came(capture, now <= capture + self.deadline);
        }
    }

    /// Result if no further message arrives. The remaining messages then count as missed.
    pub fn seen(&self) -> Seen {
        let mut nominal = self.nominal.clone();
        let rest = (self.next..self.count).map(|number| self.capture(number));
        let rest = rest.take_while(|capture| *capture < self.judged.to);
        rest.filter(|capture| self.judged.contains(*capture)).for_each(|at| nominal.unit(at, Some(false)));
        nominal.seen()
    }

    pub fn underflows(&self) -> u64 {
        let mut player = self.player;
        let rest = (self.next..self.count).map(|number| self.capture(number));
        rest.take_while(|at| *at < self.judged.to).for_each(|at| player.turn(at, None));
        player.underflows()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// Returns the underflows of frames with a distance of 40 ms. Each frame is complete a number of ms after its
    /// capture.
    fn count(deadline: u64, prebuffer: u64, delays: &[Option<u64>]) -> u64 {
        let window = Window { from: Instant::ZERO, to: ms(1_000_000) };
        let [deadline, prebuffer] = [deadline, prebuffer].map(Duration::from_millis);
        let unit = |(n, delay): (u64, &Option<u64>)| (ms(40 * n), delay.map(|delay| ms(40 * n + delay)));
        let units: Vec<_> = (0..).zip(delays).map(unit).collect();
        underflows(LivePlayer::new(deadline, prebuffer, window), &units)
    }

    /// The viewer plays 2 s after the capture. Frames 50 to 149 (captures from 2 to 6 s) arrive at 10 s, when it is the
    /// turn of frame 200. From 4 s on no frame is available, because later frames arrive even later. Pauses begin at 4,
    /// 6 and 8 s.
    #[test]
    fn an_outage_makes_an_underflow_for_each_pause() {
        let delay = |n: u64| Some(if n < 50 { 50 } else { (10_000_u64).saturating_sub(40 * n).max(50) });
        let delays: Vec<_> = (0..400).map(delay).collect();
        assert_eq!(count(500, 2_000, &delays), 3);
        assert_eq!(count(500, 2_000, &[Some(50), None, Some(50)]), 0, "a later one is there to be played");
        assert_eq!(count(500, 2_000, &[Some(50), None, None]), 1, "the end is empty");
    }

    /// A viewer of 10^9 s needs no memory before the first message arrives, and none for messages that have not
    /// arrived.
    #[test]
    fn messages_are_listed_as_they_come() {
        let end = Instant::from_secs_f64(1e9);
        let window = Window { from: Instant::ZERO, to: end };
        let second = Duration::from_secs(1);
        let player = LivePlayer::new(second, second, window);
        let mut messages = Messages::new([Instant::ZERO, end], 0.01, second, window, player);
        assert_eq!((messages.count, messages.nominal.pictures.capacity()), (100_000_000_000, 0));
        messages.came(ms(50), 3);
        assert_eq!((messages.next, messages.nominal.seen.due), (4, 4));
    }

    proptest! {
        /// A viewer who misses nothing never runs out of media.
        #[test]
        fn without_a_late_frame_there_is_no_underflow(
            deadline in 1_u64..3_000,
            prebuffer in 0_u64..3_000,
            shares in proptest::collection::vec(0.0..=1.0, 1..200),
        ) {
            let delays: Vec<_> = shares.iter().map(|share| Some((share * deadline as f64) as u64)).collect();
            prop_assert_eq!(count(deadline, prebuffer, &delays), 0);
        }

        /// A viewer who gets each frame earlier has no more underflows.
        #[test]
        fn earlier_frames_make_no_more_underflows(
            deadline in 1_u64..1_000,
            prebuffer in 0_u64..2_000,
            delays in proptest::collection::vec((proptest::option::of(0_u64..6_000), 0.0..=1.0), 1..300),
        ) {
            let later: Vec<_> = delays.iter().map(|(delay, _)| *delay).collect();
            let earlier: Vec<_> = delays
                .iter()
                .map(|(delay, share)| Some((delay.unwrap_or(7_000) as f64 * share) as u64))
                .collect();
            prop_assert!(count(deadline, prebuffer, &earlier) <= count(deadline, prebuffer, &later));
        }
    }
}
