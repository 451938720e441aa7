//! RFC 8899's rules, on a path whose MTU is known to the test.

use super::*;

const RTO: Duration = Duration::from_millis(300);
const TRIP: Duration = Duration::from_millis(50);

/// A path that carries IP packets up to `mtu` bytes, and a sender that always has data.
struct Route {
    now: Instant,
    mtu: u16,
    /// True if small packets arrive.
    up: bool,
    discovery: Discovery,
    /// Time and size of each probe.
    probes: Vec<(Instant, u16)>,
    /// Number of small packets requested.
    asked: u32,
    nonce: u64,
}

impl Route {
    fn new(mtu: u16, start: u16, most: u16) -> Self {
        let discovery = Discovery::new(start, most);
        Route {
            now: Instant::from_millis(5000),
            mtu,
            up: true,
            discovery,
            probes: Vec::new(),
            asked: 0,
            nonce: 0,
        }
    }

    /// Sends a due probe. Returns its nonce.
    fn probe(&mut self) -> Option<(u16, u64)> {
        self.discovery.data_left();
        if !self.discovery.due() {
            return None;
        }
        self.nonce += 1;
        let (size, nonce) = self.discovery.send(self.now, RTO, || self.nonce)?;
        self.probes.push((self.now, size));
        Some((size, nonce))
    }

    /// Sends one probe and delivers its outcome, or runs the next timer. Returns false if none is due before `end`.
    fn step(&mut self, end: Instant) -> bool {
        if let Some((size, nonce)) = self.probe()
            && self.up
            && size <= self.mtu
        {
            self.now += TRIP;
            assert!(self.discovery.answered(self.now, nonce));
            return true;
        }
        if self.discovery.due() || self.discovery.timeout().is_none() {
            return true;
        }
        let Some(at) = self.discovery.timeout().filter(|at| *at <= end) else { return false };
        self.now = at;
        let up = self.up;
        self.asked += u32::from(self.discovery.on_timer(at, RTO, |_| up));
        true
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        let mut steps = 0;
        while self.step(end) {
            steps += 1;
            assert!(steps < 10_000, "no progress: {:?}", self.discovery);
        }
        self.now = end;
    }

    fn found(&self) -> (u16, DiscoveryState) {
        (self.discovery.plpmtu(), self.discovery.state)
    }
}

/// §5.1.1, §5.1.2.
#[test]
fn constants_are_those_of_the_rfc() {
    assert_eq!((MAX_PROBES, BASE_PLPMTU, PMTU_RAISE_TIMER), (3, 1200, Duration::from_secs(600)));
    assert!(PROBE_TIMER >= Duration::from_secs(1), "MUST NOT be smaller than 1 second");
}

/// §5.3.1: the search from below finds any size. Each probe is answered or times out before the next one leaves.
#[test]
fn the_largest_size_that_arrives_is_found() {
    for mtu in BASE_PLPMTU..=1500 {
        let mut route = Route::new(mtu, 1200, 1500);
        route.run(Duration::from_secs(60));
        let (found, state) = route.found();
        assert!(found <= mtu && mtu - found < RESOLUTION as u16 + 1, "{found} of {mtu}");
        assert_eq!(state, DiscoveryState::SearchComplete, "{mtu}");
        // The start, the maximum, and a bisection of 300 bytes, each size at most MAX_PROBES times.
        let most = 1 + 3 + 3 * libm::log2(300.0 / f64::from(RESOLUTION)).ceil() as usize;
        assert!(route.probes.len() <= most, "{mtu}: {} probes", route.probes.len());
        let gaps = route.probes.windows(2).map(|w| w[1].0 - w[0].0);
        assert!(gaps.clone().all(|gap| gap >= TRIP), "one at a time");
        let again = route.probes.windows(2).filter(|w| w[0].1 == w[1].1).map(|w| w[1].0 - w[0].0);
        assert!(again.min().is_none_or(|gap| gap >= Duration::from_secs(1)), "PROBE_TIMER");
    }
}

/// The usual case costs two probes: the size in use, and the maximum.
#[test]
fn a_path_that_carries_the_maximum_costs_two_probes() {
    let mut route = Route::new(1500, 1400, 1500);
    route.run(Duration::from_secs(500));
    assert_eq!(route.found(), (1500, DiscoveryState::SearchComplete));
    assert_eq!(route.probes.iter().map(|p| p.1).collect::<Vec<_>>(), [1400, 1500]);
}

/// §4.3, §5.2: MAX_PROBES probes of the size in use are lost while small packets arrive: BASE_PLPMTU, then the size
/// that passes.
#[test]
fn a_black_hole_is_left_by_base_plpmtu() {
    let mut route = Route::new(1400, 1400, 1400);
    route.run(Duration::from_secs(10));
    assert_eq!(route.found(), (1400, DiscoveryState::SearchComplete));
    route.mtu = 1300;
    let since = route.now;
    (0..MAX_PROBES).for_each(|_| route.discovery.data_lost(route.now));
    let mut sizes = Vec::new();
    while route.discovery.plpmtu() > 1300 {
        assert!(route.step(since + Duration::from_secs(10)), "{:?}", route.discovery);
        sizes.push(route.discovery.plpmtu());
    }
    assert_eq!(route.discovery.plpmtu(), BASE_PLPMTU);
    // 1, 1.5 and 2 times PROBE_TIMER.
    assert_eq!(
        route.now - since,
        PROBE_TIMER * 9 / 2,
        "three probes, each repetition awaited half as long again"
    );
    route.run(Duration::from_secs(60));
    let (found, state) = route.found();
    assert!((1292..=1300).contains(&found), "{found}");
    assert_eq!(state, DiscoveryState::SearchComplete);
}

/// A suspicion without a cause costs one probe, and at most one per second.
#[test]
fn losses_that_are_no_black_hole_cost_a_probe() {
    let mut route = Route::new(1400, 1400, 1400);
    route.run(Duration::from_secs(10));
    let before = route.probes.len();
    (0..2).for_each(|_| route.discovery.data_lost(route.now));
    route.discovery.data_acked();
    route.discovery.data_lost(route.now);
    route.run(Duration::from_secs(1));
    assert_eq!(route.probes.len(), before, "losses with an acknowledgement between them");
    for _ in 0..100 {
        route.discovery.suspect(route.now);
        route.run(Duration::from_millis(20));
    }
    assert_eq!(route.found(), (1400, DiscoveryState::SearchComplete));
    assert!(
        (1..=3).contains(&(route.probes.len() - before)),
        "{} in two seconds",
        route.probes.len() - before
    );
}

/// A path on which nothing arrives gives no information on sizes.
#[test]
fn a_path_that_is_down_is_no_black_hole() {
    let mut route = Route::new(1500, 1400, 1500);
    route.run(Duration::from_secs(10));
    route.up = false;
    route.discovery.suspect(route.now);
    route.run(Duration::from_secs(100));
    assert_eq!(route.discovery.plpmtu(), 1500);
    assert!(route.asked >= 50, "small packets tell whether the path is up: {}", route.asked);
    route.up = true;
    route.run(Duration::from_secs(10));
    assert_eq!(route.found(), (1500, DiscoveryState::SearchComplete));
}

/// §5.2, Error: BASE_PLPMTU does not arrive. MIN_PLPMTU is used until a larger size is found.
#[test]
fn below_the_base_size_the_search_begins_at_the_minimum() {
    let mut route = Route::new(800, 1400, 1500);
    let mut sizes = vec![route.discovery.plpmtu()];
    let end = route.now + Duration::from_secs(60);
    while route.step(end) {
        sizes.push(route.discovery.plpmtu());
    }
    sizes.dedup();
    assert_eq!(sizes[..3], [1400, BASE_PLPMTU, MIN_PLPMTU]);
    assert!(sizes[3..].iter().all(|s| *s <= 800) && sizes[3..].is_sorted(), "{sizes:?}");
    let (found, state) = route.found();
    assert!((792..=800).contains(&found) && state == DiscoveryState::SearchComplete, "{found} {state:?}");
}

/// No size above MIN_PLPMTU passes: it is tried again at long intervals.
#[test]
fn in_the_error_state_few_probes_leave() {
    let mut route = Route::new(MIN_PLPMTU, 1400, 1500);
    route.run(Duration::from_secs(600));
    assert_eq!(route.found(), (MIN_PLPMTU, DiscoveryState::Error));
    assert!(route.probes.len() < 300, "{}", route.probes.len());
    route.mtu = 1500;
    route.run(Duration::from_secs(700));
    assert!(route.discovery.plpmtu() > BASE_PLPMTU, "{:?}", route.discovery);
}

/// §5.1.1: PMTU_RAISE_TIMER.
#[test]
fn after_ten_minutes_larger_sizes_are_tried_again() {
    let mut route = Route::new(1420, 1400, 1500);
    route.run(Duration::from_secs(100));
    let (found, sent) = (route.found(), route.probes.len());
    assert!((1412..=1420).contains(&found.0), "{found:?}");
    let complete = route.now - Duration::from_secs(100);
    route.mtu = 1500;
    // A suspicion in between does not delay it.
    route.run(Duration::from_secs(300));
    route.discovery.suspect(route.now);
    route.run(Duration::from_secs(150));
    assert_eq!((route.found(), route.probes.len()), (found, sent + 1), "the one that answers the suspicion");
    route.run(Duration::from_secs(100));
    assert_eq!(route.found(), (1500, DiscoveryState::SearchComplete));
    let raised = route.probes.last().map(|p| p.0 - complete).expect("a probe");
    assert!(raised >= PMTU_RAISE_TIMER && raised < PMTU_RAISE_TIMER + Duration::from_secs(40), "{raised:?}");
}

/// §5.1.1: no probes where no data leave.
#[test]
fn an_idle_path_is_not_probed() {
    let mut d = Discovery::new(1400, 1500);
    assert!(!d.due() && d.timeout().is_none());
    d.data_left();
    assert!(d.due());
    let at = Instant::from_millis(1000);
    assert_eq!(d.send(at, RTO, || 7), Some((1400, 7)));
    assert!(d.answered(at + TRIP, 7));
    assert!(!d.due() && d.timeout().is_none(), "the next one waits for data");
    d.data_left();
    assert_eq!(d.send(at + TRIP, RTO, || 8), Some((1500, 8)));
    assert!(!d.on_timer(at + PROBE_TIMER + TRIP, RTO, |_| true));
    assert!(!d.due() && d.timeout().is_none(), "so does a repetition");
}

/// An answer after PROBE_TIMER still proves that the size arrives. A repeated answer, or an unrequested one, proves
/// nothing.
#[test]
fn a_late_answer_counts_and_a_foreign_one_does_not() {
    let mut route = Route::new(1400, 1400, 1500);
    let (_, first) = route.probe().expect("a probe");
    route.now += 2 * PROBE_TIMER;
    assert!(!route.discovery.on_timer(route.now, RTO, |_| true));
    let (size, second) = route.probe().expect("the same again");
    assert_eq!((size, second), (1400, first), "repetitions can't be distinguished, and need not be");
    assert!(!route.discovery.answered(route.now, first + 99));
    assert!(route.discovery.answered(route.now, first));
    assert!(!route.discovery.answered(route.now, first), "once");
    assert_eq!(route.discovery.plpmtu(), 1400);
}

/// §4.6: a size that cannot even leave is too large at once, and the search continues below it.
#[test]
fn what_the_driver_refuses_is_too_large_at_once() {
    let mut route = Route::new(1450, 1400, 1500);
    route.probe().expect("the size in use");
    assert!(route.discovery.answered(route.now, 1));
    assert_eq!(route.probe().map(|p| p.0), Some(1500));
    route.discovery.limit(route.now, 1499);
    assert!(!route.discovery.answered(route.now, 2), "its fragments arrived; that proves nothing");
    route.run(Duration::from_secs(60));
    let (found, state) = route.found();
    assert!((1442..=1450).contains(&found) && state == DiscoveryState::SearchComplete, "{found}");
    // The limit of interface and route shrinks and grows.
    route.discovery.told(route.now, 1300);
    assert_eq!(route.discovery.plpmtu(), 1300);
    route.mtu = 1500;
    route.run(Duration::from_secs(700));
    assert_eq!(route.discovery.plpmtu(), 1300, "never beyond it");
    (0..3).for_each(|_| route.discovery.told(route.now, 9000));
    route.run(Duration::from_secs(10));
    assert_eq!(route.found(), (1500, DiscoveryState::SearchComplete), "nor beyond what is configured");
    route.discovery.limit(route.now, 100);
    assert_eq!(route.discovery.plpmtu(), MIN_PLPMTU);
}

/// Another address is another path: the size in use is confirmed anew.
#[test]
fn a_path_that_moves_is_searched_again() {
    let mut route = Route::new(1500, 1400, 1500);
    route.run(Duration::from_secs(10));
    (route.mtu, route.nonce) = (1350, 100);
    route.discovery.restart();
    route.run(Duration::from_secs(60));
    let (found, state) = route.found();
    assert!((1342..=1350).contains(&found) && state == DiscoveryState::SearchComplete, "{found}");
}
