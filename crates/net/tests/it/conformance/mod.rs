//! One set of scripts on the simulator's hosts and on loopback sockets through emulated links: applications
//! see equal events in equal order. Times are not compared.

mod log;
mod real;
mod scripts;
mod simulated;
mod testbed;

use testbed::Testbed as _;

/// Runs a script on both test beds and compares the logs of all hosts.
macro_rules! conforms {
    ($($script:ident($clients:expr, $delays:expr);)*) => {
        $(#[test]
        fn $script() {
            let mut simulated = simulated::Simulated::new($clients, &$delays);
            scripts::$script(&mut simulated);
            let mut real = real::Real::new($clients, &$delays);
            scripts::$script(&mut real);
            let (a, b) = (log::by_subject(&simulated.logs()), log::by_subject(&real.logs()));
            assert_eq!(a, b, "simulated left, real right");
        })*
    };
}

conforms! {
    talks_and_is_closed_by_the_client(1, [2, 60]);
    is_closed_by_the_server_behind_its_data(1, [2]);
    is_aborted_by_the_client(1, [2]);
    is_aborted_by_the_server(1, [2, 60]);
    streams_keep_their_order(1, [2]);
    a_full_server_refuses(2, [2]);
    a_silent_server_fails_the_handshake(1, [2]);
    a_path_leaves_and_another_joins(1, [2, 60]);
    a_path_is_suspended_and_resumed(1, [2, 60]);
    a_nat_forgets(1, [2, 60]);
    a_path_dies_and_returns(1, [2, 60]);
    expired_messages_are_abandoned(1, [2]);
}
