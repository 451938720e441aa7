use strandcast_proto::policy::fixture::{Outstanding, Picture, chunk};
use strandcast_proto::time::Instant;

use super::*;

const P0: PathId = PathId(0);

fn policy() -> Box<dyn LossPolicy> {
    let others = Others { paths: crate::part::Paths::All, rounds: false };
    SilenceConfig::default().build(&others, &Seeds::new(1, 0))
}

/// Two paths with these verdicts, and three chunks in flight on the first.
fn picture(verdicts: [Verdict; 2]) -> Picture {
    let mut picture = Picture::new(2);
    picture.paths[0].in_flight = 3000;
    for (path, verdict) in picture.paths.iter_mut().zip(verdicts) {
        verdict.write(&mut path.est);
    }
    picture
}

/// Acts until there is nothing more to do; chunks 1 to 3 expire 10 ms apart, the first after `left_ms`.
fn acts(policy: &mut dyn LossPolicy, picture: &Picture, left_ms: u64) -> Vec<Act> {
    let expires = |tsn: u32| Instant::from_millis(1000 + left_ms + 10 * u64::from(tsn - 1));
    let chunks: Vec<_> =
        (1..=3).map(|tsn| ChunkInfo { expires: Some(expires(tsn)), ..chunk(tsn, &[0]) }).collect();
    let outstanding = Outstanding::new(&chunks);
    let mut all = Vec::new();
    while let Some(act) = policy.act(&picture.view(), &outstanding.flight()) {
        all.push(act);
    }
    all
}

#[test]
fn the_flight_of_a_silent_path_is_lost_once() {
    let mut policy = policy();
    let silent = picture([Verdict::Silent, Verdict::Live]);
    let lose = Act::Lose { path: P0, sent_before: silent.now, cause: LossCause::PathFailure };
    assert_eq!(acts(&mut *policy, &silent, 500), [lose]);
    assert_eq!(acts(&mut *policy, &picture([Verdict::Dead, Verdict::Live]), 500), []);
    assert_eq!(acts(&mut *policy, &picture([Verdict::Live, Verdict::Live]), 500), []);
    assert_eq!(acts(&mut *policy, &silent, 500), [lose], "again after it returned");
}

#[test]
fn nothing_is_lost_while_no_other_path_is_live() {
    let mut policy = policy();
    assert_eq!(acts(&mut *policy, &picture([Verdict::Silent, Verdict::Stalled]), 500), []);
    assert_eq!(acts(&mut *policy, &picture([Verdict::Silent, Verdict::Live]), 500).len(), 1, "now one is");
}

/// The other way takes 50 ms and a deviation of 12.5, the next verdict 40 ms, the margin 25.
#[test]
fn what_cannot_wait_is_copied() {
    let stalled = picture([Verdict::Stalled, Verdict::Live]);
    let copied = |left_ms| {
        let tsn = |act: &Act| match act {
            Act::Copy { tsn, to: PathId(1) } => tsn.0,
            other => panic!("{other:?}"),
        };
        acts(&mut *policy(), &stalled, left_ms).iter().map(tsn).collect::<Vec<_>>()
    };
    assert_eq!(copied(128), [0; 0]);
    assert_eq!(copied(127), [1]);
    assert_eq!(copied(107), [1, 2, 3]);
    assert_eq!(acts(&mut *policy(), &picture([Verdict::Stalled, Verdict::Stalled]), 50), [], "no way");
    let mut once = policy();
    assert_eq!(acts(&mut *once, &stalled, 50).len(), 3);
    assert_eq!(acts(&mut *once, &stalled, 50), [], "each once");
}
