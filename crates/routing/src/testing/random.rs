//! Random networks: no loop appears and each datagram ends, for any behaviour of the links.

use proptest::prelude::*;

use super::net::{Net, settings};

/// A test case: a network in which links fail, move and lose packets.
#[derive(Clone, Debug)]
struct Case {
    nodes: u32,
    links: Vec<(u32, u32)>,
    changes: Vec<(f64, u32, u32, bool)>,
    flows: Vec<(u32, u32)>,
    loss: f64,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    (4u32..11).prop_flat_map(|nodes| {
        let link = (0..nodes, 0..nodes);
        let change = (0.0..25.0, 0..nodes, 0..nodes, any::<bool>());
        (
            Just(nodes),
            prop::collection::vec(link.clone(), nodes as usize..3 * nodes as usize),
            prop::collection::vec(change, 0..30),
            prop::collection::vec(link, 1..4),
            prop_oneof![Just(0.0), Just(0.2), Just(0.6)],
            any::<u64>(),
        )
            .prop_map(|(nodes, links, changes, flows, loss, seed)| {
                let changes = changes.into_iter().filter(|c| c.1 != c.2).collect();
                let apart = |pairs: Vec<(u32, u32)>| pairs.into_iter().filter(|(a, b)| a != b).collect();
                Case { nodes, links: apart(links), changes, flows: apart(flows), loss, seed }
            })
    })
}

fn run_case(spec: &str, case: &Case) -> Net {
    let mut net = Net::new(spec, case.nodes, &case.links, case.seed);
    net.loss = case.loss;
    for &(at, a, b, up) in &case.changes {
        net.set_link(at, a, b, up);
    }
    for &(from, to) in &case.flows {
        for packet in 0..75 {
            net.send(0.1 + f64::from(packet) * 0.33, from, to);
        }
    }
    net.finish(30.0);
    net
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn aodv_never_loops(case in case(), spec in prop::sample::select(vec!["aodv", "aodv,profile=rfc", "aodv,repair=off"])) {
        run_case(spec, &case);
    }

    #[test]
    fn aomdv_never_loops(case in case(), spec in prop::sample::select(vec![
        "aomdv", "aomdv,split=even", "aomdv,profile=ns2", "aomdv,profile=ns2,detect=link-layer", "aomdv,paths=2,difference=5",
    ])) {
        run_case(spec, &case);
    }

    #[test]
    fn qaomdv_never_loops(case in case(), spec in prop::sample::select(vec![
        "qaomdv", "qaomdv,split=even", "qaomdv,split=mpr", "qaomdv,split=mpr,refresh=1000,gain=1", "qaomdv,disjoint=node,detect=hello",
    ])) {
        run_case(spec, &case);
    }
}

#[test]
fn the_stories_deliver_most_of_what_can_be_delivered() {
    let links = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 4)];
    let case = Case {
        nodes: 6,
        links: links.to_vec(),
        changes: Vec::new(),
        flows: vec![(0, 4)],
        loss: 0.0,
        seed: 1,
    };
    for spec in ["static", "aodv", "aomdv", "aomdv,profile=ns2", "qaomdv", "qaomdv,split=mpr"] {
        let net = run_case(spec, &case);
        assert_eq!((net.delivered.len(), net.dropped.len()), (75, 0), "{spec}");
        assert!(net.delivered.iter().all(|(datagram, _)| datagram.hops == 2), "{spec}: over node 5");
    }
}
