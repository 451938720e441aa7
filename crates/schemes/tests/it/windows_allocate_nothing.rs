//! In steady state the windows of TCP's shell allocate nothing, whatever signals they receive.

use strandcast_schemes::{WindowSetup, congestion, congestions};
use strandcast_testing::schemes::clocked::{Connection, specs};

/// Twelve losses of each of four paths, timeouts among them, before it counts, and as many while it does.
const ACKS: usize = 48_000;

#[test]
fn no_window_allocates_for_an_acknowledgement_a_segment_or_a_loss() {
    let mut seen = 0;
    for spec in specs() {
        let mut connection = Connection::new(spec, 0);
        let mut run = || {
            for _ in 0..ACKS {
                connection.ack();
                connection.send();
            }
        };
        run();
        let counted = allocation_counter::measure(run);
        assert_eq!(counted.count_total, 0, "{spec}: {counted:?} in {ACKS} acknowledgements");
        let windows = connection.windows();
        assert!(windows.iter().all(|w| (1.0..1e4).contains(w)), "{spec}: {windows:?}");
        seen += 1;
    }
    let setup = WindowSetup { initial_window_bytes: 12_000, initial_ssthresh_bytes: None };
    let of_flows = congestions().iter().filter(|one| congestion(one.name, setup).is_ok()).count();
    assert_eq!(seen, of_flows, "windows that flows can have");
}
