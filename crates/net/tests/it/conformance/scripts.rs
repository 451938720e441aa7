//! The scripts. Their own assertions hold on both test beds; everything else is compared.

use std::time::Duration;

use strandcast_proto::association::{CloseReason, Event, PathChange, SendOptions};
use strandcast_proto::policy::{Importance, PathId, PathState};

use super::log::{Line, Log};
use super::testbed::{CLIENT, FIRST, LONG, OTHER, SERVER, Testbed};

const PLAIN: SendOptions = SendOptions {
    stream: 0,
    ppid: 0,
    unordered: false,
    lifetime: None,
    importance: Importance::Normal,
    group: None,
};

fn both_close(w: &mut impl Testbed, client: CloseReason, server: CloseReason) {
    w.see(CLIENT, Event::Closed(client));
    w.see(SERVER, Event::Closed(server));
}

fn close(w: &mut impl Testbed, host: usize) {
    w.with(host, |now, e| e.shutdown(now, FIRST));
    both_close(w, CloseReason::Shutdown, CloseReason::Shutdown);
}

pub fn talks_and_is_closed_by_the_client(w: &mut impl Testbed) {
    w.connect(CLIENT, 2);
    w.see(CLIENT, Event::Connected { peer_is_strandcast: true });
    w.see(SERVER, Event::Connected { peer_is_strandcast: true });
    w.up(2);
    w.send(CLIENT, "hello", 5, SendOptions { ppid: 47, ..PLAIN });
    w.receive(SERVER, 1);
    w.send(SERVER, "hello yourself", 14, PLAIN);
    w.receive(CLIENT, 1);
    w.send(CLIENT, "something large", 300_000, PLAIN);
    w.receive(SERVER, 2);
    close(w, CLIENT);
}

pub fn is_closed_by_the_server_behind_its_data(w: &mut impl Testbed) {
    w.connect(CLIENT, 1);
    w.up(1);
    for n in 0..50 {
        w.send(SERVER, &format!("message {n}"), 3000, PLAIN);
    }
    close(w, SERVER);
    let log = &w.logs()[CLIENT];
    let at = |is: fn(&Line) -> bool| log.iter().rposition(|(_, l)| is(l)).expect("seen");
    let last = at(|l| matches!(l, Line::Message(_)));
    assert!(last < at(|l| matches!(l, Line::Event(Event::Closed(_)))), "{log:#?}");
    w.receive(CLIENT, 50);
}

pub fn is_aborted_by_the_client(w: &mut impl Testbed) {
    w.connect(CLIENT, 1);
    w.up(1);
    w.with(CLIENT, |_, e| e.abort(FIRST, "enough"));
    both_close(w, CloseReason::Aborted, CloseReason::PeerAborted("enough".into()));
}

pub fn is_aborted_by_the_server(w: &mut impl Testbed) {
    w.connect(CLIENT, 2);
    w.up(2);
    w.with(SERVER, |_, e| e.abort(FIRST, "full"));
    both_close(w, CloseReason::PeerAborted("full".into()), CloseReason::Aborted);
}

pub fn streams_keep_their_order(w: &mut impl Testbed) {
    w.connect(CLIENT, 1);
    w.up(1);
    for n in 0..40u16 {
        w.send(CLIENT, &format!("{n}"), 2000, SendOptions { stream: n % 3, ..PLAIN });
    }
    w.send(CLIENT, "at once", 7, SendOptions { stream: 5, unordered: true, ..PLAIN });
    w.receive(SERVER, 41);
    close(w, CLIENT);
}

pub fn a_full_server_refuses(w: &mut impl Testbed) {
    w.connect(CLIENT, 1);
    w.up(1);
    w.connect(OTHER, 1);
    let refused = |line: &Line| matches!(line, Line::Event(Event::Closed(CloseReason::PeerAborted(_))));
    assert!(w.run_until(LONG, |logs| logs[OTHER].iter().any(|(_, l)| refused(l))), "{:?}", w.logs()[OTHER]);
    w.send(CLIENT, "still here", 10, PLAIN);
    w.receive(SERVER, 1);
    close(w, CLIENT);
}

pub fn a_silent_server_fails_the_handshake(w: &mut impl Testbed) {
    w.black_hole(CLIENT, 0, true);
    w.connect(CLIENT, 1);
    w.see(CLIENT, Event::Closed(CloseReason::NoAnswer));
}

pub fn a_path_leaves_and_another_joins(w: &mut impl Testbed) {
    w.connect(CLIENT, 1);
    w.up(1);
    w.add_path(CLIENT, 1);
    w.up(2);
    w.remove_path(CLIENT, PathId(0));
    w.see(SERVER, Event::Path(PathId(0), PathChange::Closed));
    w.send(CLIENT, "over the second", 20_000, PLAIN);
    w.receive(SERVER, 1);
    w.add_path(CLIENT, 0);
    let active = Event::Path(PathId(0), PathChange::State(PathState::Active));
    w.see_times(CLIENT, &active, 2);
    w.see_times(SERVER, &active, 2);
    close(w, CLIENT);
}

pub fn a_path_is_suspended_and_resumed(w: &mut impl Testbed) {
    w.connect(CLIENT, 2);
    w.up(2);
    let state = |state| Event::Path(PathId(0), PathChange::State(state));
    w.with(SERVER, |now, e| e.with(FIRST, |a| a.suspend_path(now, PathId(0), true))).expect("a path");
    w.see(CLIENT, state(PathState::Suspended));
    w.send(CLIENT, "over the second", 20_000, PLAIN);
    w.receive(SERVER, 1);
    w.with(SERVER, |now, e| e.with(FIRST, |a| a.suspend_path(now, PathId(0), false))).expect("a path");
    w.see_times(CLIENT, &state(PathState::Active), 2);
    close(w, CLIENT);
}

pub fn a_nat_forgets(w: &mut impl Testbed) {
    w.connect(CLIENT, 2);
    w.up(2);
    w.rebind(CLIENT, 0);
    w.send(CLIENT, "from elsewhere", 20_000, PLAIN);
    w.receive(SERVER, 1);
    w.see(SERVER, Event::Path(PathId(0), PathChange::Moved));
    w.see_times(SERVER, &Event::Path(PathId(0), PathChange::State(PathState::Active)), 2);
    w.see_times(CLIENT, &Event::Path(PathId(0), PathChange::State(PathState::Active)), 2);
    close(w, CLIENT);
}

pub fn a_path_dies_and_returns(w: &mut impl Testbed) {
    w.connect(CLIENT, 2);
    w.up(2);
    w.black_hole(CLIENT, 0, true);
    w.send(CLIENT, "through the other", 20_000, PLAIN);
    w.see(CLIENT, Event::Path(PathId(0), PathChange::State(PathState::PotentiallyFailed)));
    w.receive(SERVER, 1);
    w.black_hole(CLIENT, 0, false);
    w.see_times(CLIENT, &Event::Path(PathId(0), PathChange::State(PathState::Active)), 2);
    close(w, CLIENT);
}

pub fn expired_messages_are_abandoned(w: &mut impl Testbed) {
    w.connect(CLIENT, 1);
    w.up(1);
    w.black_hole(CLIENT, 0, true);
    w.send(CLIENT, "late", 5000, SendOptions { lifetime: Some(Duration::from_millis(100)), ..PLAIN });
    w.see(CLIENT, Event::Path(PathId(0), PathChange::State(PathState::PotentiallyFailed)));
    w.black_hole(CLIENT, 0, false);
    w.send(CLIENT, "in time", 7, PLAIN);
    w.receive(SERVER, 1);
    close(w, CLIENT);
    let messages = |log: &Log| log.iter().filter(|(_, l)| matches!(l, Line::Message(_))).count();
    assert_eq!(messages(&w.logs()[SERVER]), 1);
}
