//! In steady state sockets allocate nothing per packet and nothing per batch.

use strandcast_net::pool::RecvPool;
use strandcast_net::socket::{BindSpec, PathSocket, SendOutcome, Transmit};

fn loopback() -> PathSocket {
    let address = Some("127.0.0.1".parse().expect("an address"));
    PathSocket::bind(&BindSpec { address, ..BindSpec::default() }).expect("loopback")
}

#[test]
fn sending_and_receiving_allocate_nothing_in_steady_state() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let enter = runtime.enter();
    let (a, b, mut pool) = (loopback(), loopback(), RecvPool::new());
    drop(enter);
    let contents = vec![7; 20 * 1400];
    let mut exchange = |batches: usize| {
        for _ in 0..batches {
            let batch =
                Transmit { remote: b.local_addr(), src_ip: None, segment_size: 1400, contents: &contents };
            assert!(matches!(a.try_send(&batch), SendOutcome::Sent));
            runtime.block_on(async {
                let mut datagrams = 0;
                while datagrams < 20 {
                    b.readable().await.expect("the runtime runs");
                    if let Some(received) = b.try_recv(&mut pool).expect("the socket lives") {
                        datagrams += received.datagrams().inspect(|d| assert_eq!(d.len(), 1400)).count();
                    }
                }
            });
        }
    };
    exchange(100);
    let counted = allocation_counter::measure(|| exchange(500));
    assert_eq!(counted.count_total, 0, "{counted:?} for 10,000 datagrams");
}
