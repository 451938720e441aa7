//! Equal flows get equal shares.

use strandcast_lab::result::Subject;
use strandcast_testing::lab;

use super::{between_two_hosts, link, mean};

fn equal_flows_share(seeds: u64) {
    for (cc, recovery) in [("reno", "reno"), ("reno", "newreno"), ("reno", "sack"), ("cubic", "sack")] {
        let scenario = between_two_hosts(&format!(
            "{}[run]\ntime = '100 s'\n[flows.tcp]\ntransport = 'tcp'\nfrom = 'a'\nto = 'b'\ncount = 2\n\
             start = {{ uniform = [0, 1] }}\ncc = '{cc}'\ntcp.recovery = '{recovery}'\n",
            link("l", 10.0, 50.0, 50),
        ));
        let jain = |seed| lab::metric(&lab::run(&scenario, seed), &Subject::Flow("tcp".into()), "jain");
        let runs: Vec<f64> = (1..=seeds).map(jain).collect();
        println!("{cc} {recovery}: {:.4} of {runs:.4?}", mean(&runs));
        assert!(mean(&runs) >= 0.95, "{cc} {recovery}: {runs:.4?}");
    }
}

#[test]
fn two_equal_flows_share_equally() {
    equal_flows_share(3);
}

mod thorough {
    #[test]
    fn two_equal_flows_share_equally() {
        super::equal_flows_share(10);
    }
}
