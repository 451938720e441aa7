//! Comparison with the plain reading of RFC 9260 §6.2.1: each SACK is compared with every outstanding chunk.

use core::net::SocketAddr;
use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use crate::association::{Association, SendOptions};
use crate::config::TransportConfig;
use crate::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input, SchemeFactory};
use crate::path::FourTuple;
use crate::policy::{LinkId, PathId};
use crate::rfc;
use crate::seeds::Seeds;
use crate::time::{Duration, Instant};
use crate::tx::ChunkState;
use crate::wire::Tsn;
use crate::wire::chunk::{GapBlock, Sack, SackHeader};

const BYTES: usize = 100;

/// A sender whose peer is the test after they are connected.
struct Sender {
    now: Instant,
    ends: [Endpoint; 2],
    id: AssociationId,
    /// Gap-acknowledged TSNs that the last SACK omitted.
    reneging_suspects: BTreeSet<u32>,
}

#[derive(Clone, Debug)]
enum Step {
    Send(u8),
    /// Step of the cumulative TSN, and gaps and lengths of the blocks beyond it.
    Sack(i32, Vec<(u16, u16)>),
    /// Step of the cumulative TSN, with blocks at any place.
    Wild(u8, Vec<(u16, u16)>),
    Pass(u16),
}

fn step() -> impl Strategy<Value = Step> {
    let blocks = || prop::collection::vec((0..6u16, 0..20u16), 0..8);
    let anywhere = prop::collection::vec((0..150u16, 0..150u16), 0..8);
    prop_oneof![
        2 => any::<u8>().prop_map(Step::Send),
        4 => (-2..6i32, blocks()).prop_map(|(cum, blocks)| Step::Sack(cum, blocks)),
        1 => (0..4u8, anywhere).prop_map(|(cum, blocks)| Step::Wild(cum, blocks)),
        1 => (0..4000u16).prop_map(Step::Pass),
    ]
}

impl Sender {
    fn connected(transport: TransportConfig) -> Self {
        let (a, b) = (SocketAddr::from(([10, 0, 0, 1], 1)), SocketAddr::from(([10, 0, 0, 2], 2)));
        let silence_timeout = transport.silence_timeout.map(|_| Duration::from_secs(1_000_000));
        let transport = TransportConfig { association_max_retrans: 1000, silence_timeout, ..transport };
        let accept: SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
        let config = EndpointConfig {
            transport: Arc::new(transport),
            accept: Some(accept),
            ..EndpointConfig::default()
        };
        let seeds = Seeds::new(1, 0);
        let mut ends = ["a", "b"].map(|name| Endpoint::new(config.clone(), &seeds.child(name)));
        let now = Instant::from_millis(5000);
        let paths = vec![(FourTuple::new(LinkId(0), a, b), None)];
        let connect = Connect { paths, port: 5000, scheme: Box::new(rfc::scheme()), transport: None };
        let id = ends[0].connect(now, connect).expect("a free endpoint");
        let mut sender = Sender { now, ends, id, reneging_suspects: BTreeSet::new() };
        let mut buf = Vec::new();
        for from in [0, 1, 0, 1, 0, 1] {
            while let Some(t) = sender.ends[from].poll_output(now, &mut buf) {
                let tuple = FourTuple { local: t.tuple.remote, remote: t.tuple.local, ..t.tuple };
                let (data, segment_size) = (core::mem::take(&mut buf).into(), t.segment_size);
                sender.ends[1 - from].handle_input(now, Input::Datagrams { tuple, data, segment_size });
            }
        }
        sender
    }

    fn association(&self) -> &Association {
        self.ends[0].association(self.id).expect("there")
    }

    /// Drops all output.
    fn drain(&mut self) {
        let mut buf = Vec::new();
        while self.ends[0].poll_output(self.now, &mut buf).is_some() {}
        while self.ends[0].poll_event().is_some() {}
        self.association().assert_consistent();
    }

    fn of(&self, wanted: impl Fn(ChunkState) -> bool) -> BTreeSet<u32> {
        let all = self.association().tx.rq.iter();
        all.filter(|c| wanted(c.state)).map(|c| c.info.tsn.0).collect()
    }

    fn sack(&mut self, cum: Tsn, blocks: &[(u16, u16)]) {
        let before = self.of(|s| s == ChunkState::GapAcked);
        let possible = self.of(|s| s != ChunkState::Abandoned);
        let (base, next) = {
            let outstanding = &self.association().tx.rq;
            (outstanding.cum_acked(), outstanding.next_tsn())
        };
        let listed: Vec<_> = blocks.iter().map(|&(start, end)| GapBlock { start, end }).collect();
        let header = SackHeader { cumulative_tsn_ack: cum, a_rwnd: 1 << 20, flags: 0 };
        let (now, sack) = (self.now, Sack::new(header, &listed, &[]));
        let taken = !cum.is_before(base) && cum.is_before(next);
        if taken {
            let take = |a: &mut Association| {
                a.tx.on_sack(&mut a.cx, now, &sack, PathId(0));
                Ok(())
            };
            self.ends[0].with(self.id, take).expect("there");
            let mut reported = BTreeSet::new();
            let mut last = 0;
            for &(start, end) in blocks {
                if start <= last || end < start {
                    break;
                }
                reported.extend((start..=end).map(|offset| (cum + u32::from(offset)).0));
                last = end;
            }
            let open = |t: &u32| Tsn(*t).is_after(cum);
            let newly = possible.intersection(&reported).copied();
            let acked: BTreeSet<u32> = before.iter().copied().chain(newly).filter(open).collect();
            assert_eq!(self.of(|s| s == ChunkState::GapAcked), acked, "gap-acknowledged");
            self.reneging_suspects = acked.difference(&reported).copied().collect();
            let reneging_suspects: BTreeSet<u32> =
                self.association().tx.rq.reneging_suspects().map(|c| c.info.tsn.0).collect();
            assert_eq!(reneging_suspects, self.reneging_suspects, "reneging suspects");
        }
        self.drain();
    }

    fn play(&mut self, step: &Step) {
        let cum = self.association().tx.rq.cum_acked();
        match step {
            Step::Send(n) => {
                for _ in 0..n % 64 {
                    let _ =
                        self.ends[0].send(self.now, self.id, vec![1; BYTES].into(), SendOptions::default());
                }
            }
            Step::Sack(by, list) => {
                let (mut blocks, mut end) = (Vec::new(), 0);
                for (gap, len) in list {
                    blocks.push((end + gap + 1, end + gap + 1 + len));
                    end += gap + 1 + len;
                }
                self.sack(Tsn(cum.0.wrapping_add_signed(*by)), &blocks);
            }
            Step::Wild(by, blocks) => self.sack(cum + u32::from(*by), blocks),
            Step::Pass(ms) => {
                self.now += Duration::from_millis(u64::from(*ms));
                self.ends[0].handle_timeout(self.now);
            }
        }
        self.drain();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_sack_is_read_as_if_held_against_every_chunk(steps in prop::collection::vec(step(), 1..60)) {
        let mut sender = Sender::connected(TransportConfig::default());
        for step in &steps {
            sender.play(step);
        }
    }

    /// Timeouts are undone in some steps.
    #[test]
    fn so_it_is_with_tail_probes(steps in prop::collection::vec(step(), 1..60)) {
        let mut sender = Sender::connected(TransportConfig::live());
        for step in &steps {
            sender.play(step);
        }
    }
}
