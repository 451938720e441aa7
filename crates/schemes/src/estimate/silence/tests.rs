use smallvec::smallvec;

use strandcast_proto::policy::fixture::{Picture, chunk};
use strandcast_proto::policy::{ChunkInfo, HeartbeatInfo, Transmission};
use strandcast_proto::wire::Tsn;

use super::*;

/// By how much the peer's clock is ahead of ours, milliseconds.
const AHEAD: u64 = 5_000_000;
/// One-way delay of both paths, milliseconds.
const WAY: u64 = 30;

/// Two paths; what is sent arrives [`WAY`] later unless a test says otherwise, and a report of path 1 takes as long.
struct Harness {
    picture: Picture,
    silence: Silence,
    packets: [u64; 2],
    last: [PathArrivals; 2],
}

impl Harness {
    fn new() -> Self {
        let none = |path| PathArrivals {
            path: PathId(path),
            tsn: Tsn(0),
            at: PeerTime(0),
            sent: None,
            packets: 0,
            bytes: 0,
        };
        let (picture, silence) = (Picture::new(2), Silence::default());
        Harness { picture, silence, packets: [0; 2], last: [none(0), none(1)] }
    }

    fn signal(&mut self, at_ms: u64, signal: &Signal<'_>) {
        self.picture.now = Instant::from_millis(at_ms);
        self.silence.on_signal(&self.picture.view(), signal);
    }

    fn sends(&mut self, path: u8, at_ms: u64) {
        let sent = Transmission { at: Instant::from_millis(at_ms), ..chunk(1, &[path]).transmissions[0] };
        let chunk = ChunkInfo { transmissions: smallvec![sent], ..chunk(1, &[path]) };
        self.signal(at_ms, &Signal::Sent(&chunk));
    }

    /// A packet that left `path` at `sent_ms` arrived at `at_ms` of the peer's clock.
    fn arrives(&mut self, path: u8, sent_ms: u64, at_ms: u64) {
        let i = usize::from(path);
        self.packets[i] += 1;
        let (at, sent) = (PeerTime(1000 * (AHEAD + at_ms)), Some(Instant::from_millis(sent_ms)));
        self.last[i] = PathArrivals { at, sent, packets: self.packets[i], ..self.last[i] };
    }

    /// A report that was written at `written_ms` and takes [`WAY`].
    fn reports(&mut self, written_ms: u64) {
        self.reports_by(1, written_ms);
    }

    /// The same by `via`.
    fn reports_by(&mut self, via: u8, written_ms: u64) {
        let paths = self.last.iter().filter(|p| p.packets > 0).copied().collect();
        let written = PeerTime(1000 * (AHEAD + written_ms));
        let report = PeerArrivals { written, via: PathId(via), paths };
        self.signal(written_ms + WAY, &Signal::PeerArrivals(&report));
    }

    fn answers(&mut self, path: u8, sent_ms: u64, at_ms: u64) {
        let (sent, rtt) = (Instant::from_millis(sent_ms), Some(Duration::from_millis(at_ms - sent_ms)));
        let info = HeartbeatInfo { path: PathId(path), rtt, probe: true, sent, late: false };
        self.signal(at_ms, &Signal::Heartbeat(&info));
    }

    /// 20 ms apart, both paths carry and report until `until_ms`.
    fn flows(&mut self, from_ms: u64, until_ms: u64) {
        for t in (from_ms..until_ms).step_by(20) {
            for path in [0, 1] {
                self.sends(path, t);
                self.arrives(path, t, t + WAY);
            }
            self.reports(t + WAY);
        }
    }

    fn verdict(&self, path: u8) -> Verdict {
        let mut view = self.picture.paths[usize::from(path)].clone();
        self.silence.estimate(PathId(path), &mut view.est);
        Verdict::of(&view)
    }

    /// Path 0 is sent something at `from_ms` that never comes; path 1 continues. Returns the first times of its
    /// verdicts, by the times at which reports were written.
    fn dark(&mut self, from_ms: u64, until_ms: u64) -> Vec<(u64, Verdict)> {
        self.sends(0, from_ms);
        let mut verdicts: Vec<(u64, Verdict)> = Vec::new();
        for t in from_ms..until_ms {
            self.arrives(1, t, t + WAY);
            self.reports(t + WAY);
            if self.silence.poll_timeout().is_some_and(|at| at <= self.picture.now) {
                self.signal(t + 2 * WAY, &Signal::Tick);
            }
            let verdict = self.verdict(0);
            if verdicts.last().map_or(Verdict::Live, |v| v.1) != verdict {
                verdicts.push((t + WAY - from_ms, verdict));
            }
        }
        verdicts
    }
}

#[test]
fn silence_shows_by_the_reports_of_other_paths() {
    let mut harness = Harness::new();
    harness.flows(1000, 2000);
    let verdicts = harness.dark(2000, 3500);
    let ms = |d: Duration| d.as_millis() as u64 + WAY + 1;
    let expected = [
        (ms(MIN_HOLDOFF), Verdict::Stalled),
        (ms(MIN_HOLDOFF + RESEND), Verdict::Silent),
        (ms(DEATH), Verdict::Dead),
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(harness.verdict(1), Verdict::Live);
}

/// Three packets of a kilobyte were in flight on path 0 when it fell silent at 2 s. A link that stood still delivers
/// them: two arrive, as bytes without a time at which they left; then an answer to a heartbeat shows that none is left
/// in the link.
#[test]
fn the_flight_of_a_silent_path_counts_as_queued_until_something_later_comes() {
    let held = |harness: &Harness, path: u8| {
        let mut view = harness.picture.paths[usize::from(path)].clone();
        harness.silence.estimate(PathId(path), &mut view.est);
        super::held(&view)
    };
    let given_up = || {
        let mut harness = Harness::new();
        harness.flows(1000, 2000);
        harness.dark(2000, 2140);
        assert_eq!((harness.verdict(0), held(&harness, 0)), (Verdict::Silent, 0.0));
        let at = harness.picture.now.saturating_since(Instant::ZERO).as_millis() as u64;
        for tsn in 1..=3 {
            let chunk = ChunkInfo { len: 1000, ..chunk(tsn, &[0]) };
            harness
                .signal(at, &Signal::Lost { chunk: &chunk, path: PathId(0), cause: LossCause::PathFailure });
        }
        assert_eq!((held(&harness, 0), held(&harness, 1)), (3000.0, 0.0));
        harness
    };
    let mut still = given_up();
    still.arrives(0, 2000, 2300);
    (still.last[0].bytes, still.last[0].sent) = (2000, None);
    still.reports(2310);
    assert_eq!((still.verdict(0), held(&still, 0)), (Verdict::Live, 1000.0));
    still.answers(0, 2060, 2400);
    assert_eq!(held(&still, 0), 1000.0, "it left before the path was suspected");
    still.answers(0, 2160, 2410);
    assert_eq!(held(&still, 0), 0.0);
    let mut dark = given_up();
    dark.answers(0, 2190, 2260);
    assert_eq!((dark.verdict(0), held(&dark, 0)), (Verdict::Live, 0.0), "what it had was lost");
    let mut closed = given_up();
    let estimates = |harness: &mut Harness| {
        let Harness { picture, silence, .. } = harness;
        silence.estimate(PathId(0), &mut picture.paths[0].est);
        super::held(&picture.paths[0])
    };
    assert_eq!(estimates(&mut closed), 3000.0);
    closed.picture.paths[0].state = PathState::Closed;
    closed.signal(2300, &Signal::PathChanged(PathId(0)));
    assert_eq!(estimates(&mut closed), 0.0, "another path may take its number");
}

#[test]
fn nothing_is_overdue_before_it_can_have_come() {
    let mut harness = Harness::new();
    harness.flows(1000, 2000);
    for t in (2000..2300).step_by(10) {
        harness.arrives(1, t, t + WAY);
        harness.reports(t + WAY);
    }
    assert_eq!(harness.verdict(0), Verdict::Live, "path 0 was given nothing");
    harness.sends(0, 2300);
    harness.reports(2300 + WAY + 59);
    assert_eq!(harness.verdict(0), Verdict::Live);
    harness.reports(2300 + WAY + 61);
    assert_eq!(harness.verdict(0), Verdict::Stalled);
}

#[test]
fn a_longer_way_is_no_silence() {
    let mut harness = Harness::new();
    for t in (1000..3000).step_by(20) {
        harness.sends(0, t);
        if t >= 1300 {
            harness.arrives(0, t - 300, t);
        }
        harness.arrives(1, t, t + WAY);
        harness.reports(t + WAY);
        assert_eq!(harness.verdict(0), Verdict::Live, "at {t} ms");
    }
}

#[test]
fn an_arrival_ends_a_suspicion_and_makes_the_next_one_later() {
    let mut harness = Harness::new();
    harness.flows(1000, 2000);
    assert_eq!(harness.dark(2000, 2065), [(WAY + 61, Verdict::Stalled)]);
    harness.arrives(0, 2000, 2000 + WAY + 105);
    harness.reports(2000 + WAY + 105);
    assert_eq!((harness.verdict(0), harness.silence.count.needless), (Verdict::Live, 1));
    harness.flows(2200, 3000);
    let later = harness.dark(3000, 3200)[0].0;
    assert_eq!(later, (MIN_HOLDOFF + STEP).as_millis() as u64 + WAY + 1);
}

#[test]
fn an_answer_to_a_heartbeat_ends_a_suspicion() {
    let mut harness = Harness::new();
    harness.flows(1000, 2000);
    harness.dark(2000, 2200);
    assert_eq!(harness.verdict(0), Verdict::Silent);
    harness.answers(0, 2150, 2230);
    assert_eq!(harness.verdict(0), Verdict::Live);
    harness.reports(2400);
    assert_eq!(harness.verdict(0), Verdict::Live, "what left before the heartbeat is not awaited");
    assert_eq!(harness.silence.count.needless, 0, "it was lost");
}

/// Both paths bring what they are given, reports come back in turn; those by path 0 from `deaf_ms` to `until_ms` don't.
fn deaf(harness: &mut Harness, deaf_ms: u64, until_ms: u64) -> Option<u64> {
    let mut since = None;
    for (n, t) in (1000..until_ms).step_by(15).enumerate() {
        let via = (n % 2) as u8;
        harness.sends(0, t);
        harness.arrives(0, t, t + WAY);
        if via == 1 || t < deaf_ms {
            harness.reports_by(via, t + WAY);
        }
        if harness.verdict(0) == Verdict::Deaf {
            since = since.or(Some(t - deaf_ms));
        }
    }
    since
}

#[test]
fn a_return_path_that_brings_nothing_more_is_deaf() {
    let mut harness = Harness::new();
    assert_eq!(deaf(&mut harness, 3000, 3000), None);
    let mut harness = Harness::new();
    let since = deaf(&mut harness, 3000, 3300).expect("it shows");
    assert!((45..=80).contains(&since), "after {since} ms");
    harness.reports_by(0, 3400);
    assert_eq!(harness.verdict(0), Verdict::Live, "a report came");
    let mut harness = Harness::new();
    deaf(&mut harness, 3000, 3300);
    harness.answers(0, 3350, 3410);
    assert_eq!(harness.verdict(0), Verdict::Live, "an answer came");
    harness.sends(0, 3420);
    harness.reports(3700);
    assert_eq!(harness.verdict(0), Verdict::Stalled, "silence outweighs deafness");
}

#[test]
fn a_deaf_path_stays_deaf_until_something_comes_back_by_it() {
    let mut harness = Harness::new();
    deaf(&mut harness, 3000, 3300);
    harness.sends(0, 3300);
    harness.reports(3300 + WAY + 61);
    assert_eq!(harness.verdict(0), Verdict::Stalled);
    harness.arrives(0, 3300, 3400);
    harness.reports(3400);
    assert_eq!(harness.verdict(0), Verdict::Deaf, "its data arrive, by the other way");
    harness.reports_by(0, 3450);
    assert_eq!(harness.verdict(0), Verdict::Live);
}

/// Its acknowledgements would not arrive, either.
#[test]
fn a_deaf_path_that_stalls_is_silent_at_once() {
    let mut harness = Harness::new();
    deaf(&mut harness, 3000, 3300);
    harness.sends(0, 3300);
    harness.reports(3300 + WAY + 61);
    assert!(harness.silence.poll_timeout().is_some_and(|at| at <= harness.picture.now));
    harness.signal(3300 + 2 * WAY + 61, &Signal::Tick);
    assert_eq!(harness.verdict(0), Verdict::Silent);
}

/// It is written before the newest one, which came by the quicker way, and has no paths.
#[test]
fn reports_that_were_overtaken_keep_their_way_from_being_deaf() {
    let mut harness = Harness::new();
    for (n, t) in (1000..4000).step_by(15).enumerate() {
        harness.sends(0, t);
        harness.arrives(0, t, t + WAY);
        if n % 2 == 1 {
            harness.reports_by(1, t + WAY);
        } else {
            let written = PeerTime(1000 * (AHEAD + t - 30));
            let report = PeerArrivals { written, via: PathId(0), paths: Default::default() };
            harness.signal(t + 2 * WAY, &Signal::PeerArrivals(&report));
        }
        assert_ne!(harness.verdict(0), Verdict::Deaf, "at {t} ms");
    }
}

/// Path 0 is dead, and answers at these times, milliseconds: what it is then.
fn returns(harness: &mut Harness, answers: &[(u64, Verdict)]) {
    for (at, verdict) in answers {
        harness.answers(0, at - 60, *at);
        assert_eq!(harness.verdict(0), *verdict, "at {at} ms");
    }
}

#[test]
fn a_dead_path_that_answers_is_there_for_need_until_its_probation_is_over() {
    let mut harness = Harness::new();
    harness.flows(1000, 2000);
    harness.dark(2000, 3500);
    assert_eq!(harness.verdict(0), Verdict::Dead);
    let (dead, back) = (Verdict::Dead, Verdict::Returning);
    returns(&mut harness, &[(4000, dead), (4100, dead), (4200, back), (4500, back), (4600, Verdict::Live)]);
}

#[test]
fn a_returning_path_that_stalls_goes_on_with_its_probation() {
    let mut harness = Harness::new();
    harness.flows(1000, 2000);
    harness.dark(2000, 3500);
    returns(&mut harness, &[(4000, Verdict::Dead), (4100, Verdict::Dead), (4200, Verdict::Returning)]);
    harness.dark(4300, 4420);
    assert!(matches!(harness.verdict(0), Verdict::Stalled | Verdict::Silent));
    returns(&mut harness, &[(4510, Verdict::Returning), (4620, Verdict::Live)]);
}

/// Time for which a path has to answer before it is used again, after `deaths` deaths in a row.
fn probation(deaths: u32) -> u64 {
    let mut harness = Harness::new();
    let mut t = 2000;
    harness.flows(1000, t);
    for death in 1..=deaths {
        harness.dark(t, t + 1500);
        assert_eq!(harness.verdict(0), Verdict::Dead);
        let back = t + 2000;
        for answer in (back..).step_by(100) {
            harness.answers(0, answer - 60, answer);
            if harness.verdict(0) == Verdict::Live {
                t = answer + 100;
                if death == deaths {
                    return answer - back;
                }
                break;
            }
        }
        harness.flows(t, t + 1000);
        t += 1000;
    }
    unreachable!("it returned")
}

#[test]
fn probation_grows_with_deaths() {
    assert_eq!([1, 2, 3, 5].map(probation), [600, 1200, 2400, 9600]);
}

#[test]
fn usual_delays_are_medians() {
    let mut usual = Usual::default();
    assert_eq!(usual.median(), None);
    [10, 12, 500].iter().for_each(|x| usual.push(*x));
    assert_eq!(usual.median(), Some(12));
    (0..SAMPLES).for_each(|_| usual.push(40));
    assert_eq!(usual.median(), Some(40));
}

#[test]
fn the_usual_delay_is_the_median_of_the_last_samples() {
    let (mut usual, mut all, mut x) = (Usual::default(), Vec::new(), 1_i64);
    for _ in 0..2000 {
        x = x * 1_103_515_245 % 2_147_483_647;
        all.push(x % 20 - 10);
        usual.push(x % 20 - 10);
        let mut last = all[all.len().saturating_sub(SAMPLES)..].to_vec();
        last.sort_unstable();
        assert_eq!(usual.median(), Some(last[last.len() / 2]), "after {} samples", all.len());
    }
}
