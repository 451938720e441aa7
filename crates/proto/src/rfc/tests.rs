//! Numbers computed by hand from RFC 9260 §7.2, with MTU = 1000 bytes and RTO = 1 s.

use super::*;
use crate::policy::fixture::{MTU, Picture, ack, chunk};
use crate::policy::{
    AckInfo, Backlog, CongestionControl as _, LossCause, LossPolicy as _, LossTrigger, PathId, PathSet,
    PathState, Policy as _, Retransmit, Scheduler as _, Signal, View,
};
use crate::time::{Duration, Instant};
use crate::wire::serial::Tsn;

const P0: PathId = PathId(0);
const P1: PathId = PathId(1);
const P2: PathId = PathId(2);

fn window(initial_mtus: u32, ssthresh: Option<u64>) -> Window {
    let config = WindowConfig {
        initial_mtus: Some(initial_mtus),
        initial_ssthresh: ssthresh,
        ..WindowConfig::default()
    };
    Window::new(config, MTU)
}

/// Reports a loss found by miss indications. Half of the window remains.
fn lose(window: &mut Window, highest: u32) {
    window.on_fast_retransmit(window.ssthresh_after_loss(0.5), Tsn(highest));
}

/// Acknowledges `chunks` chunks of a flight that filled the window.
fn full(window: &mut Window, chunks: u32) {
    let flight = window.cwnd();
    window.on_acked(&AckInfo { all_acked: false, ..ack(0, chunks, (1, chunks), flight) }, || MTU as f64);
}

#[test]
fn initial_window_is_the_middle_of_three() {
    // min(4·PMDCS, max(2·PMDCS, 4404)), §7.2.1
    for (mtu, cwnd) in [(500, 2000), (1000, 4000), (1200, 4404), (1468, 4404), (2202, 4404), (3000, 6000)] {
        assert_eq!(Window::new(WindowConfig::default(), mtu).cwnd(), cwnd, "PMDCS {mtu}");
    }
}

/// After a timeout the window is below its threshold: a change that cuts it elsewhere would have no effect there.
#[test]
fn operations_on_a_window_say_what_they_change() {
    let after = |change: fn(&mut Window, u64), value| {
        let mut w = window(20, None);
        w.on_timeout(10_000);
        change(&mut w, value);
        (w.cwnd(), w.limit().ssthresh)
    };
    assert_eq!(after(|_, _| (), 0), (1000, Some(10_000)));
    assert_eq!(after(Window::set_ssthresh_and_cwnd, 4000), (4000, Some(4000)), "raised, as in §7.2.3");
    assert_eq!(after(Window::cap_at_ssthresh, 4000), (1000, Some(4000)), "never raised");
    assert_eq!(after(Window::set_ssthresh, 4000), (1000, Some(4000)));
    assert_eq!(after(Window::set_cwnd, 4000), (4000, Some(10_000)));
    // A fast retransmission right after a timeout: max(1000/2, 4·MTU), and the window is the threshold.
    let fast = |w: &mut Window, _| w.on_fast_retransmit(w.ssthresh_after_loss(0.5), Tsn(9));
    assert_eq!(after(fast, 0), (4000, Some(4000)));
}

#[test]
fn the_cut_of_another_rule_forgets_counted_bytes_and_keeps_the_floor() {
    let mut w = window(10, Some(5_000));
    full(&mut w, 4);
    w.cap_at_ssthresh(12_000);
    assert_eq!((w.cwnd(), w.limit().ssthresh), (10_000, Some(12_000)));
    w.cap_at_ssthresh(6_000);
    assert_eq!((w.cwnd(), w.limit().ssthresh), (6_000, Some(6_000)));
    w.set_ssthresh(4_000);
    w.set_cwnd(8_000);
    // Congestion avoidance: the cut dropped the 4 000 bytes counted before it.
    full(&mut w, 4);
    assert_eq!(w.cwnd(), 8_000);
    full(&mut w, 4);
    assert_eq!(w.cwnd(), 9_000);
    assert_eq!([0.0, 0.7, 1.5, f64::NAN].map(|left| w.ssthresh_after_loss(left)), [4000, 6300, 9000, 4000]);
    w.enter_recovery(Tsn(9));
    assert!(w.in_recovery() && !w.counts_loss());
}

#[test]
fn the_initial_window_follows_the_mtu_until_it_is_used() {
    let mut w = Window::new(WindowConfig::default(), 500);
    w.set_mtu(1000);
    assert_eq!(w.cwnd(), 4000);
    w.on_sent(Instant::ZERO, Duration::from_secs(1));
    w.set_mtu(500);
    assert_eq!(w.cwnd(), 4000);
}

#[test]
fn slow_start_adds_one_mtu_for_every_second_packet() {
    let mut w = window(4, None);
    full(&mut w, 2);
    assert_eq!(w.cwnd(), 5000, "min(2000 acknowledged, 1·MTU)");
    full(&mut w, 1);
    assert_eq!(w.cwnd(), 6000);
    full(&mut w, 8);
    assert_eq!(w.cwnd(), 10_000, "a SACK for eight packets stands for four SACKs");
}

#[test]
fn strict_slow_start_adds_one_mtu_a_sack() {
    let config = WindowConfig { initial_mtus: Some(4), strict: true, ..WindowConfig::default() };
    let mut w = Window::new(config, MTU);
    full(&mut w, 4);
    assert_eq!(w.cwnd(), 5000);
}

#[test]
fn less_than_one_mtu_acknowledged_adds_only_that() {
    let mut w = window(4, None);
    w.on_acked(&AckInfo { newly_acked: 300, ..ack(0, 1, (1, 1), 4000) }, || MTU as f64);
    assert_eq!(w.cwnd(), 4300);
}

#[test]
fn a_window_that_was_not_filled_does_not_grow() {
    let mut w = window(4, None);
    w.on_acked(&ack(0, 2, (1, 2), 3000), || MTU as f64);
    assert_eq!(w.cwnd(), 4000, "a whole MTU was free");
    w.on_acked(&ack(0, 4, (3, 4), 3001), || MTU as f64);
    assert_eq!(w.cwnd(), 5000, "no room for a whole packet was left");
}

#[test]
fn slow_start_needs_the_cumulative_tsn_to_move() {
    let gap_only = |config| {
        let mut w = Window::new(WindowConfig { initial_mtus: Some(4), ..config }, MTU);
        w.on_acked(&ack(0, 0, (3, 4), 4000), || MTU as f64);
        w.cwnd()
    };
    assert_eq!(gap_only(WindowConfig::default()), 4000);
    assert_eq!(
        gap_only(WindowConfig { advance: Advance::CumulativeAlways, ..WindowConfig::default() }),
        4000
    );
    let mut own = ack(0, 0, (3, 4), 4000);
    own.pseudo_cum_advanced = true;
    let mut w = Window::new(
        WindowConfig { initial_mtus: Some(4), advance: Advance::Pseudo, ..Default::default() },
        MTU,
    );
    w.on_acked(&own, || MTU as f64);
    assert_eq!(w.cwnd(), 5000, "CUC: the path's own earliest TSN moved");
}

#[test]
fn congestion_avoidance_adds_one_mtu_a_window() {
    let mut w = window(4, Some(1000));
    full(&mut w, 3);
    assert_eq!(w.cwnd(), 4000, "3000 of 4000 bytes");
    full(&mut w, 2);
    assert_eq!(w.cwnd(), 5000, "5000 ≥ 4000: one MTU; 1000 bytes are left, not 0");
    full(&mut w, 3);
    assert_eq!(w.cwnd(), 5000, "4000 of 5000 bytes");
    full(&mut w, 1);
    assert_eq!(w.cwnd(), 6000);
}

#[test]
fn congestion_avoidance_counts_gap_blocks_in_rfc_9260_but_not_in_4960() {
    for (advance, cwnd) in [(Advance::Cumulative, 5000), (Advance::CumulativeAlways, 4000)] {
        let config = WindowConfig {
            initial_mtus: Some(4),
            initial_ssthresh: Some(1000),
            advance,
            ..WindowConfig::default()
        };
        let mut w = Window::new(config, MTU);
        w.on_acked(&AckInfo { all_acked: false, ..ack(0, 0, (3, 6), 4000) }, || MTU as f64);
        assert_eq!(w.cwnd(), cwnd, "{advance:?}");
    }
}

#[test]
fn bytes_of_a_window_that_was_not_filled_count_for_one_window_at_most() {
    let mut w = window(4, Some(1000));
    for _ in 0..5 {
        w.on_acked(&AckInfo { all_acked: false, ..ack(0, 2, (1, 2), 2000) }, || MTU as f64);
    }
    assert_eq!(w.cwnd(), 4000);
    full(&mut w, 1);
    assert_eq!(w.cwnd(), 5000, "4000 were kept of 10 000");
    full(&mut w, 3);
    assert_eq!(w.cwnd(), 5000, "1000 + 3000 < 5000: nothing more was kept");
}

#[test]
fn partial_bytes_are_forgotten_when_all_is_acknowledged() {
    let mut w = window(4, Some(1000));
    full(&mut w, 3);
    w.on_acked(&AckInfo { all_acked: true, newly_acked: 0, ..ack(0, 1, (1, 1), 4000) }, || MTU as f64);
    full(&mut w, 3);
    assert_eq!(w.cwnd(), 4000);
}

#[test]
fn a_fast_retransmit_halves_once_until_recovery_ends() {
    let mut w = window(20, None);
    lose(&mut w, 20);
    assert_eq!((w.cwnd(), w.limit().ssthresh), (10_000, Some(10_000)));
    full(&mut w, 4);
    assert_eq!(w.cwnd(), 10_000, "no growth in fast recovery");
    lose(&mut w, 25);
    assert_eq!(w.cwnd(), 10_000, "one cut a window");
    w.on_acked(&ack(0, 19, (5, 19), 10_000), || MTU as f64);
    assert!(w.in_recovery());
    w.on_acked(&ack(0, 20, (20, 20), 10_000), || MTU as f64);
    assert!(!w.in_recovery());
    lose(&mut w, 30);
    assert_eq!(w.cwnd(), 5000);
    w.on_acked(&ack(0, 30, (21, 30), 10_000), || MTU as f64);
    lose(&mut w, 40);
    assert_eq!(w.cwnd(), 4000, "the floor of 4·MTU");
}

#[test]
fn unfrozen_windows_grow_in_recovery_and_are_cut_at_each_event() {
    let config = WindowConfig {
        initial_mtus: Some(20),
        freeze_in_recovery: false,
        half_floor_mtus: 2,
        ..WindowConfig::default()
    };
    let mut w = Window::new(config, MTU);
    lose(&mut w, 20);
    full(&mut w, 4);
    assert_eq!(w.cwnd(), 12_000, "slow start, as cwnd = ssthresh");
    for tsn in [30, 40, 50] {
        lose(&mut w, tsn);
    }
    assert_eq!(w.cwnd(), 2000);
}

#[test]
fn recovery_of_one_path_is_not_held_up_by_another() {
    let config = WindowConfig { advance: Advance::Pseudo, ..WindowConfig::default() };
    let mut w = Window::new(config, MTU);
    lose(&mut w, 20);
    // A chunk of another path keeps the cumulative TSN at 3; here everything up to 20 arrived.
    let mut own = ack(0, 3, (15, 20), 4000);
    own.earliest_outstanding = Some(Tsn(20));
    w.on_acked(&own, || MTU as f64);
    assert!(w.in_recovery());
    own.earliest_outstanding = Some(Tsn(21));
    w.on_acked_elsewhere(&own);
    assert!(w.in_recovery(), "that says nothing of this path");
    w.on_acked(&own, || MTU as f64);
    assert!(!w.in_recovery());
}

#[test]
fn a_timeout_leaves_one_mtu_and_half_the_window_as_threshold() {
    let mut w = window(20, None);
    lose(&mut w, 9);
    w.on_timeout(w.ssthresh_after_loss(0.5));
    assert_eq!((w.cwnd(), w.limit().ssthresh), (1000, Some(5000)));
    assert!(!w.in_recovery());
    w.on_timeout(w.ssthresh_after_loss(0.5));
    assert_eq!((w.cwnd(), w.limit().ssthresh), (1000, Some(4000)));
}

#[test]
fn an_idle_window_halves_every_rto_down_to_four_mtu() {
    let rto = Duration::from_secs(1);
    let at = Instant::from_millis;
    let mut w = window(20, Some(100_000));
    w.decay(at(60_000), rto);
    assert_eq!(w.cwnd(), 20_000, "nothing was ever sent");
    w.on_sent(at(10_000), rto);
    w.decay(at(10_999), rto);
    assert_eq!(w.cwnd(), 20_000);
    w.decay(at(11_500), rto);
    assert_eq!((w.cwnd(), w.limit().ssthresh), (10_000, Some(20_000)));
    w.decay(at(11_999), rto);
    assert_eq!(w.cwnd(), 10_000);
    w.on_sent(at(12_000), rto);
    assert_eq!((w.cwnd(), w.limit().ssthresh), (5000, Some(20_000)));
    w.decay(at(900_000), rto);
    assert_eq!((w.cwnd(), w.limit().ssthresh), (4000, Some(5000)));
    let mut small = window(2, None);
    small.on_sent(at(0), rto);
    small.decay(at(5000), rto);
    assert_eq!(small.cwnd(), 2000, "never upwards");
}

/// An idle time before any window was used up, as before an encoder starts, does not end slow start.
#[test]
fn an_initial_window_that_decays_leaves_the_threshold_arbitrarily_high() {
    let rto = Duration::from_secs(1);
    let mut w = Window::new(WindowConfig::default(), 1000);
    w.on_sent(Instant::from_millis(0), rto);
    w.decay(Instant::from_millis(5000), rto);
    assert_eq!((w.cwnd(), w.limit().ssthresh), (4000, None));
    let mut limited =
        Window::new(WindowConfig { initial_ssthresh: Some(9000), ..WindowConfig::default() }, 1000);
    limited.on_sent(Instant::from_millis(0), rto);
    limited.decay(Instant::from_millis(5000), rto);
    assert_eq!(limited.limit().ssthresh, Some(4000), "a threshold that was set follows the RFC");
}

/// The shell with signals, on two paths.
#[test]
fn the_shell_keeps_a_window_a_path() {
    let mut picture = Picture::new(2);
    let mut cc = Aimd::new(WindowConfig::default(), Reno);
    assert_eq!(cc.limit(P0).cwnd, 0, "nothing known yet");
    picture.paths[1].mtu = 500;
    cc.on_signal(&picture.view(), &Signal::PathChanged(P0));
    assert_eq!((cc.limit(P0).cwnd, cc.limit(P1).cwnd), (4000, 2000));
    cc.on_signal(&picture.view(), &Signal::Acked(&ack(0, 2, (1, 2), 4000)));
    assert_eq!((cc.limit(P0).cwnd, cc.limit(P1).cwnd), (5000, 2000));
    let event = |path, trigger, cause| Signal::LossEvent { path, trigger, highest: Tsn(9), cause };
    cc.on_signal(&picture.view(), &event(P1, LossTrigger::Timeout, LossCause::Wireless));
    assert_eq!((cc.limit(P0).cwnd, cc.limit(P1).cwnd), (5000, 500), "any cause is congestion");

    let mut state = |cc: &mut Aimd<Reno>, state| {
        picture.paths[0].state = state;
        cc.on_signal(&picture.view(), &Signal::PathChanged(P0));
        cc.limit(P0).cwnd
    };
    assert_eq!(state(&mut cc, PathState::Suspended), 5000);
    assert_eq!(state(&mut cc, PathState::Active), 5000);
    assert_eq!(state(&mut cc, PathState::PotentiallyFailed), 5000);
    assert_eq!(state(&mut cc, PathState::Inactive), 5000);
    assert_eq!(state(&mut cc, PathState::Active), 2000, "two MTU after a failure");
    assert_eq!(state(&mut cc, PathState::Closed), 0);
    assert_eq!(state(&mut cc, PathState::Unconfirmed), 4000, "the slot's next path starts anew");
}

#[test]
fn misses_count_below_the_highest_newly_acknowledged() {
    let picture = Picture::new(1);
    let mut loss = RfcLoss::default();
    let sack = ack(0, 4, (6, 8), 4000);
    assert_eq!(loss.misses(&picture.view(), &sack, &chunk(5, &[0])), 1);
    assert_eq!(loss.misses(&picture.view(), &sack, &chunk(9, &[0])), 0);
    assert_eq!(loss.threshold(P0), 3);
    let mut again = chunk(5, &[0, 0]);
    again.losses = 1;
    again.transmissions[0].in_flight = false;
    again.transmissions[1].at = Instant::from_millis(990);
    assert_eq!(loss.misses(&picture.view(), &sack, &again), 0, "fast retransmitted once only");
}

#[test]
fn in_recovery_every_cumulative_advance_counts_for_all_that_is_missing() {
    let picture = Picture::new(1);
    let mut loss = RfcLoss::default();
    // The retransmission of 5 arrives; 9 is also missing, below gap blocks that are not new.
    let sack = AckInfo { highest_reported: Tsn(12), ..ack(0, 8, (5, 5), 4000) };
    assert_eq!(loss.misses(&picture.view(), &sack, &chunk(9, &[0])), 0);
    let (trigger, cause) = (LossTrigger::FastRetransmit, LossCause::Congestion);
    loss.on_signal(&picture.view(), &Signal::LossEvent { path: P0, trigger, highest: Tsn(12), cause });
    assert_eq!(loss.misses(&picture.view(), &sack, &chunk(9, &[0])), 1);
    assert_eq!(
        loss.misses(&picture.view(), &AckInfo { cum_advanced: false, ..sack.clone() }, &chunk(9, &[0])),
        0
    );
    loss.on_signal(&picture.view(), &Signal::Acked(&ack(0, 12, (9, 9), 4000)));
    assert_eq!(loss.misses(&picture.view(), &sack, &chunk(9, &[0])), 0, "recovery is over");
}

#[test]
fn fast_retransmits_stay_and_timeouts_move_on() {
    let mut picture = Picture::new(3);
    let mut loss = RfcLoss::default();
    let on = |loss: &mut RfcLoss, picture: &Picture, path: u8, trigger| {
        let cause = loss.classify(&picture.view(), &chunk(1, &[path]), trigger);
        loss.retransmit(&picture.view(), &chunk(1, &[path]), cause)
    };
    use LossTrigger::{FastRetransmit, Timeout};
    assert_eq!(on(&mut loss, &picture, 1, FastRetransmit), Retransmit::On(P1));
    assert_eq!(on(&mut loss, &picture, 0, Timeout), Retransmit::On(P1));
    assert_eq!(on(&mut loss, &picture, 2, Timeout), Retransmit::On(P0));
    picture.paths[1].state = PathState::Inactive;
    assert_eq!(on(&mut loss, &picture, 0, Timeout), Retransmit::On(P2), "only active alternates");
    assert_eq!(on(&mut loss, &picture, 1, FastRetransmit), Retransmit::On(P2));
    picture.paths[2].state = PathState::Closed;
    assert_eq!(on(&mut loss, &picture, 0, Timeout), Retransmit::On(P0), "there is no other");
    picture.paths[0].state = PathState::Closed;
    picture.paths[1].state = PathState::Closed;
    assert_eq!(on(&mut loss, &picture, 0, Timeout), Retransmit::Hold);
}

#[test]
fn new_data_take_the_primary_and_come_back_to_it() {
    let mut picture = Picture::new(3);
    picture.primary = P1;
    for p in &mut picture.paths {
        p.limit.cwnd = 4000;
    }
    let backlog = Backlog {
        bytes: 100_000,
        messages: 10,
        next_len: 1000,
        next_expires: None,
        retransmission: false,
        tried: PathSet::default(),
        ..Backlog::default()
    };
    let next =
        |picture: &Picture| PrimaryPath.next(&picture.view(), &backlog).map(|a| (a.paths[0], a.chunks));
    assert_eq!(next(&picture), Some((P1, 4)));
    picture.paths[1].in_flight = 3500;
    assert_eq!(next(&picture), Some((P1, 1)), "any free byte is room for a packet");
    picture.paths[1].in_flight = 4000;
    assert_eq!(next(&picture), None, "the others stay idle");
    picture.paths[1].state = PathState::Inactive;
    assert_eq!(next(&picture), Some((P2, 4)), "failover");
    picture.paths[2].state = PathState::Inactive;
    assert_eq!(next(&picture), Some((P0, 4)));
    picture.paths[1] = Picture::new(2).paths.remove(1);
    picture.paths[1].limit.cwnd = 4000;
    assert_eq!(next(&picture), Some((P1, 4)), "back");
}

/// Grows by its given value, and keeps a share that depends on the trigger of the loss.
#[derive(Debug)]
struct Told(Vec<(LossTrigger, f64)>, u32);
impl Avoidance for Told {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        self.1 += u32::from(matches!(signal, Signal::Acked(_)));
    }

    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        assert_eq!((now.acked, now.segment), (now.cwnd, MTU as f64), "a whole window");
        // It has received the acknowledgement before, and sees the other path's window.
        f64::from(self.1) * 100.0 - now.view[P1].limit.cwnd as f64
    }

    fn decrease(&mut self, event: &CongestionEvent<'_>) -> f64 {
        self.0.push((event.trigger, event.cwnd));
        if event.trigger == LossTrigger::Timeout { 0.25 } else { 0.75 }
    }
}

#[test]
fn a_strategy_sees_all_paths_and_says_what_a_loss_leaves() {
    let mut picture = Picture::new(2);
    let config =
        WindowConfig { initial_mtus: Some(20), initial_ssthresh: Some(1000), ..WindowConfig::default() };
    let mut cc = Aimd::new(config, Told(Vec::new(), 0));
    picture.paths[1].limit.cwnd = 30;
    cc.on_signal(&picture.view(), &Signal::PathChanged(P0));
    let mut grow = |picture: &Picture| {
        cc.on_signal(
            &picture.view(),
            &Signal::Acked(&AckInfo { all_acked: false, ..ack(0, 20, (1, 20), 20_000) }),
        );
        cc.limit(P0).cwnd
    };
    assert_eq!(grow(&picture), 20_070);
    picture.paths[1].limit.cwnd = 1_000_000;
    grow(&picture);
    assert_eq!(grow(&picture), 1000, "shrunk, to one MTU");
    let mut cc = Aimd::new(config, Told(Vec::new(), 0));
    cc.on_signal(&picture.view(), &Signal::PathChanged(P0));
    let mut lose = |trigger| {
        let (highest, cause) = (Tsn(9), LossCause::Congestion);
        cc.on_signal(&picture.view(), &Signal::LossEvent { path: P0, trigger, highest, cause });
        (cc.limit(P0).cwnd, cc.limit(P0).ssthresh)
    };
    assert_eq!(lose(LossTrigger::FastRetransmit), (15_000, Some(15_000)));
    assert_eq!(lose(LossTrigger::FastRetransmit), (15_000, Some(15_000)), "in recovery: it is not asked");
    assert_eq!(lose(LossTrigger::Timeout), (1000, Some(4000)), "a quarter, the floor, one MTU");
}

/// Each path has its own state. A slot that was closed starts anew.
#[test]
fn per_path_states_do_not_mix() {
    #[derive(Clone, Debug)]
    struct Counts(f64);
    impl Avoidance for Counts {
        fn increase(&mut self, _: &Progress<'_>) -> f64 {
            self.0 += 1.0;
            self.0
        }
    }
    let mut picture = Picture::new(2);
    let mut counts = PerPath::new(Counts(0.0));
    let mut step = |picture: &Picture, path| {
        let view = picture.view();
        let (acked, segment, cwnd, passed) = (1.0, 1.0, 1.0, Duration::ZERO);
        counts.on_signal(&view, &Signal::PathChanged(path));
        counts.increase(&Progress { view: &view, path, acked, segment, cwnd, passed })
    };
    assert_eq!([P0, P0, P1, P0].map(|p| step(&picture, p)), [1.0, 2.0, 1.0, 3.0]);
    picture.paths[0].state = PathState::Closed;
    assert_eq!([P0, P1].map(|p| step(&picture, p)), [1.0, 2.0]);
}
