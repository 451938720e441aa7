//! Rules of the module's documentation, one by one, and that nothing that fits is given up.

use Importance::{Disposable, Key, Normal, Reference};
use proptest::prelude::*;
use strandcast_proto::policy::fixture::{Outstanding, Picture, chunk};
use strandcast_proto::units::Rate;

use super::*;

/// 8 Mbit/s and a round trip of 20 ms on each of `n` paths, with a queue, so that they carry what was measured.
fn paths(n: u8) -> Picture {
    let mut picture = Picture::new(n);
    for path in &mut picture.paths {
        path.est.delivery_rate = Some(Rate::from_bps(8e6));
        path.est.tested = Some(Instant::from_millis(1000));
        let least = Duration::from_millis(20);
        (path.est.reference_rtt, path.srtt, path.min_rtt) = (Some(least), Some(least), Some(least));
        path.est.queue = Some(0.02);
    }
    picture
}

/// A frame of `bytes` bytes, worthless `left_ms` after the picture's time; its number is that of its group.
fn frame(number: u64, importance: Importance, left_ms: u64, bytes: u64) -> Waiting {
    let expires = Some(Instant::from_millis(1000 + left_ms));
    Waiting { message: 10 * number, importance, group: Some(number), expires, bytes, begun: false }
}

/// The groups that go now.
fn looked(triage: &mut Triage, picture: &Picture, waiting: &[Waiting]) -> Vec<u64> {
    let outstanding = Outstanding::new(&[]).behind(waiting);
    let timers = EarliestArrival::default();
    let mut gone = Vec::new();
    while let Some(act) = triage.act(&picture.view(), &outstanding.flight(), &timers) {
        let Act::Drop { group } = act else { panic!("{act:?}") };
        gone.push(group);
    }
    gone
}

fn gone(picture: &Picture, waiting: &[Waiting]) -> Vec<u64> {
    looked(&mut Triage::default(), picture, waiting)
}

/// Most bytes that may be due on one of these paths within `left_ms`, less a byte: 1 MB/s after 10 ms, less the
/// twentieth.
fn most(left_ms: u64) -> u64 {
    950 * (left_ms - 10.min(left_ms / 2)) - 1
}

#[test]
fn what_fits_stays_and_a_byte_more_does_not() {
    let one = paths(1);
    assert_eq!(gone(&one, &[frame(1, Disposable, 110, most(110))]), [0; 0]);
    assert_eq!(gone(&one, &[frame(1, Disposable, 110, most(110) + 2)]), [1]);
    assert_eq!(
        gone(&paths(2), &[frame(1, Disposable, 110, 2 * most(110))]),
        [0; 0],
        "two carry twice as much"
    );
    let later = [frame(1, Disposable, 110, most(110)), frame(2, Disposable, 210, most(210) - most(110))];
    assert_eq!(gone(&one, &later), [0; 0]);
    let [first, mut second] = later;
    second.bytes += 2;
    assert_eq!(gone(&one, &[first, second]), [2]);
}

/// Deadlines count in their order, not in that of handing in.
#[test]
fn the_earliest_deadline_comes_first() {
    let waiting = [frame(1, Disposable, 210, most(210) - 40_000), frame(2, Disposable, 60, 40_000)];
    assert_eq!(gone(&paths(1), &waiting), [0; 0]);
    let waiting = [frame(1, Disposable, 210, 50_000), frame(2, Disposable, 60, most(60) + 2)];
    assert_eq!(gone(&paths(1), &waiting), [2], "the other one may wait");
}

#[test]
fn the_least_important_goes_then_the_latest() {
    let of = |some: [Importance; 4]| {
        let frames = (1..).zip(some).map(|(n, i)| frame(n, i, 200 + n, 50_000)).collect::<Vec<_>>();
        gone(&paths(1), &frames)
    };
    assert_eq!(of([Key, Disposable, Normal, Reference]), [2], "180 kB of 200 kB");
    assert_eq!(of([Key, Disposable, Disposable, Reference]), [3]);
    assert_eq!(of([Key, Reference, Reference, Reference]), [4]);
    assert_eq!(of([Key, Normal, Reference, Normal]), [4]);
}

/// 20 of 21 frames fit; the sixth begins another group of pictures.
#[test]
fn of_references_those_go_whose_group_of_pictures_is_over() {
    let kind = |n| if n == 1 || n == 6 { Key } else { Reference };
    let frames: Vec<_> = (1..=21).map(|n| frame(n, kind(n), 210, most(210) / 20)).collect();
    assert_eq!(gone(&paths(1), &frames), [5]);
    let mut larger = frames.clone();
    larger[20].bytes *= 2;
    assert_eq!(gone(&paths(1), &larger), [4, 5]);
    let open: Vec<_> = frames.iter().map(|f| frame(f.group.unwrap_or(0), Reference, 210, f.bytes)).collect();
    assert_eq!(gone(&paths(1), &open), [21], "where no group is over, the latest");
}

/// A frame that refers to a frame that was given up is of no use, and is given up as well; sound, which has no group,
/// stays, and so does the next group.
#[test]
fn what_refers_to_it_goes_with_it() {
    let sound = |n| Waiting { group: None, bytes: 100, ..frame(n, Reference, 60, 0) };
    let of = [
        frame(1, Key, 60, 1000),
        frame(2, Reference, 60, most(60)),
        sound(3),
        frame(4, Disposable, 110, 500),
        frame(5, Reference, 110, 500),
        frame(6, Key, 110, 500),
        frame(7, Reference, 110, 500),
    ];
    assert_eq!(gone(&paths(1), &of), [2, 4, 5]);
    assert_eq!(gone(&paths(1), &of[1..]), [2], "no key frame was seen: frames that refer to it are unknown");
}

/// It comes later, and goes as soon as anything has to; before anything else; until the next key frame.
#[test]
fn what_refers_to_it_and_comes_later_is_the_first_to_go() {
    let (mut picture, mut triage) = (paths(1), Triage::default());
    let first = [frame(1, Key, 60, 1000), frame(2, Reference, 60, most(60))];
    assert_eq!(looked(&mut triage, &picture, &first), [2]);
    picture.now += Duration::from_millis(20);
    let small = [frame(3, Reference, 300, 1000), frame(4, Disposable, 300, 1000)];
    assert_eq!(looked(&mut triage, &picture, &small), [0; 0], "it fits");
    picture.now += Duration::from_millis(20);
    let more =
        [frame(5, Reference, 140, 500), frame(6, Key, 140, most(100) - 500), frame(7, Disposable, 140, 100)];
    let later = [small[1], more[0], more[1], more[2]];
    assert_eq!(looked(&mut triage, &picture, &later), [4, 5], "both refer to the frame of before");
    picture.now += Duration::from_millis(20);
    let behind = [frame(7, Reference, 160, 1000), frame(8, Disposable, 160, most(100))];
    assert_eq!(looked(&mut triage, &picture, &behind), [8], "the next group lacks nothing");
}

/// The same key frame, of which more leaves, ends no gap; the next one does.
#[test]
fn a_key_frame_that_left_unseen_ends_what_is_of_no_use() {
    let (picture, mut triage) = (paths(1), Triage::default());
    let key = |group| ChunkInfo { importance: Key, group: Some(group), ..chunk(1, &[0]) };
    triage.on_sent(&key(1));
    let lost = [frame(2, Reference, 60, most(60) + 2)];
    assert_eq!(looked(&mut triage, &picture, &lost), [2]);
    triage.on_sent(&ChunkInfo { group: None, ..key(1) });
    triage.on_sent(&key(1));
    assert_eq!(triage.gaps.len(), 1);
    triage.on_sent(&key(3));
    assert_eq!(triage.gaps.len(), 0);
}

#[test]
fn a_frame_under_way_goes_on_unless_it_is_of_no_use() {
    let (picture, mut triage) = (paths(1), Triage::default());
    triage.on_sent(&ChunkInfo { group: Some(2), ..chunk(1, &[0]) });
    let two = [frame(1, Normal, 60, 10_000), frame(2, Disposable, 60, most(60))];
    assert_eq!(looked(&mut triage, &picture, &two), [1], "all else that is due goes first");
    let alone = [frame(2, Disposable, 60, most(110))];
    assert_eq!(gone(&picture, &alone), [2]);
    let mut begun = Triage::default();
    begun.on_sent(&ChunkInfo { group: Some(2), ..chunk(1, &[0]) });
    assert_eq!(looked(&mut begun, &picture, &alone), [0; 0], "nothing else is there");
    let (one, mut triage) = (frame(2, Reference, 60, most(60) + 2), Triage::default());
    triage.on_sent(&ChunkInfo { importance: Key, group: Some(1), ..chunk(1, &[0]) });
    triage.on_sent(&ChunkInfo { group: Some(4), ..chunk(2, &[0]) });
    assert_eq!(looked(&mut triage, &picture, &[one, frame(4, Reference, 60, 100)]), [2, 4]);
}

#[test]
fn what_is_not_known_counts_as_fitting() {
    let much = [frame(1, Disposable, 110, 10 * most(110))];
    let mut open = paths(1);
    open.paths[0].est.queue = Some(0.0);
    (open.paths[0].limit.cwnd, open.paths[0].limit.ssthresh) = (10_000, Some(1 << 30));
    assert_eq!(gone(&open, &much), [0; 0], "its window opens");
    open.paths[0].limit.ssthresh = Some(10_000);
    assert_eq!(gone(&open, &much), [1], "it does no longer");
    let mut stalled = paths(2);
    for path in &mut stalled.paths {
        Verdict::Stalled.write(&mut path.est);
    }
    assert_eq!(gone(&stalled, &much), [0; 0], "no path is live");
    Verdict::Live.write(&mut stalled.paths[0].est);
    assert_eq!(gone(&stalled, &much), [1]);
    let forever = [Waiting { expires: None, ..much[0] }, frame(2, Disposable, 110, most(110))];
    assert_eq!(gone(&paths(1), &forever), [0; 0], "what has no deadline takes nothing");
    let mut far = paths(1);
    far.paths[0].est.reference_rtt = Some(Duration::from_millis(600));
    far.paths[0].est.queue = Some(0.2);
    assert_eq!(
        gone(&far, &[frame(1, Disposable, 200, 94_000)]),
        [0; 0],
        "players may count from the first packet"
    );
}

/// Three tenths of 100 ms; and then at once.
#[test]
fn it_has_to_be_too_much_for_a_while() {
    let (mut picture, mut triage) = (paths(1), Triage::new());
    let much = |picture: &Picture| {
        let left = picture.now + Duration::from_millis(100);
        [Waiting { expires: Some(left), ..frame(1, Disposable, 0, most(100) + 2) }]
    };
    for _ in 0..3 {
        assert_eq!(looked(&mut triage, &picture, &much(&picture)), [0; 0]);
        picture.now += EACH;
    }
    assert_eq!(looked(&mut triage, &picture, &[]), [0; 0]);
    picture.now += EACH;
    for _ in 0..3 {
        assert_eq!(looked(&mut triage, &picture, &much(&picture)), [0; 0], "it begins anew");
        picture.now += EACH;
    }
    assert_eq!(looked(&mut triage, &picture, &much(&picture)), [1]);
    picture.now += AFTER_GIVE_UP - EACH;
    picture.paths[0].est.tested = Some(picture.now);
    assert_eq!(looked(&mut triage, &picture, &much(&picture)), [1], "within two seconds");
    picture.now += AFTER_GIVE_UP;
    picture.paths[0].est.tested = Some(picture.now);
    assert_eq!(looked(&mut triage, &picture, &much(&picture)), [0; 0], "the holdoff applies again");
}

#[test]
fn it_looks_every_ten_milliseconds() {
    let (mut picture, mut triage) = (paths(1), Triage::default());
    assert_eq!(looked(&mut triage, &picture, &[]), [0; 0]);
    let much = [frame(1, Disposable, 110, most(110) + 2)];
    picture.now += EACH - Duration::from_nanos(1);
    assert_eq!(looked(&mut triage, &picture, &much), [0; 0]);
    picture.now += Duration::from_nanos(1);
    assert_eq!(looked(&mut triage, &picture, &much), [1]);
    assert_eq!(triage.given_up, 1);
}

/// Returns whether one path can meet all deadlines, earliest first.
fn feasible(waiting: &[&Waiting]) -> bool {
    let left = |w: &Waiting| w.expires.map_or(0, |e| (e - Instant::from_millis(1000)).as_millis() as u64);
    let due = |by: u64| waiting.iter().filter(|w| left(w) <= by).map(|w| w.bytes).sum::<u64>();
    waiting.iter().all(|w| due(left(w)) <= most(left(w)))
}

fn frames() -> impl Strategy<Value = Vec<Waiting>> {
    let one = (0..4_usize, 20..800_u64, 1..60_000_u64, any::<bool>());
    prop::collection::vec(one, 1..30).prop_map(|drawn| {
        let made = |(n, (i, left, bytes, grouped))| {
            let whole = frame(n, Importance::ALL[i], left, bytes);
            Waiting { group: whole.group.filter(|_| grouped), ..whole }
        };
        (1..).zip(drawn).map(made).collect()
    })
}

proptest! {
    /// Nothing goes that fits; what stays fits, or nothing of what is due at the first deadline that is missed could
    /// go; a key frame goes only if nothing less important is due by then.
    #[test]
    fn only_what_must_goes(waiting in frames()) {
        let gone = gone(&paths(1), &waiting);
        let all: Vec<_> = waiting.iter().collect();
        prop_assert!(gone.is_empty() || !feasible(&all));
        let stays = |w: &&Waiting| w.group.is_none_or(|g| !gone.contains(&g));
        let left: Vec<_> = all.iter().copied().filter(stays).collect();
        for one in &left {
            let due: Vec<_> = left.iter().copied().filter(|w| w.expires <= one.expires).collect();
            let bytes = due.iter().map(|w| w.bytes).sum::<u64>();
            let ends = one.expires.map_or(0, |e| (e - Instant::from_millis(1000)).as_millis() as u64);
            prop_assert!(bytes <= most(ends) + 1 || due.iter().all(|w| w.group.is_none()), "{:?}", one);
        }
        let keys = all.iter().filter(|w| !stays(w) && w.importance == Key);
        for key in keys.filter(|w| w.group.is_some()) {
            let other = |w: &&&Waiting| w.importance < Key && w.group.is_some() && w.expires <= key.expires;
            prop_assert!(!left.iter().any(|w| other(&w)), "a key frame went before another");
        }
    }
}
