//! The scheme of `own_scheduler` and two presets, simulated: `cargo run --example simulate --features lab`.

use std::error::Error;
use std::path::Path;

use strandcast::Scheme;
use strandcast::lab::result::Subject;
use strandcast::lab::scenario::parse;
use strandcast::lab::simulation::{RunOptions, Simulation};

#[expect(dead_code, reason = "its main function is for the command line")]
#[path = "own_scheduler.rs"]
pub mod own_scheduler;

/// A fast path, and a path that is slower and lossy.
const SCENARIO: &str = r#"
    run = { time = "20 s" }
    nodes = { camera = {}, studio = {} }
    [links.wifi]
    from = "camera"
    to = "studio"
    rate = "6 Mbit/s"
    delay = "15 ms"
    [links.lte]
    from = "camera"
    to = "studio"
    rate = "3 Mbit/s"
    delay = "50 ms"
    loss.uniform.rate = "0.1 %"
    [flows.video]
    from = "camera"
    to = "studio"
    transport = "sctp"
    compare = true
    app = { kind = "bulk" }
    paths = { wifi = { via = ["wifi"] }, lte = { via = ["lte"] } }
"#;

/// Goodput of a bulk transfer with a scheme, in bits per second.
pub fn goodput(scheme: &Scheme, seed: u64) -> Result<f64, Box<dyn Error>> {
    let scenario = parse(SCENARIO, "two paths", Path::new(""), &[])?;
    let mut simulation = Simulation::new(&scenario, scheme, seed, Some(scheme.name()))?;
    let result = simulation.run(RunOptions::default(), &mut ()).ok_or("it was ended early")?;
    let video = Subject::Flow("video".into());
    let goodput =
        result.metrics.iter().find(|metric| metric.subject == video && metric.name == "goodput_bps");
    Ok(goodput.ok_or("it has no goodput")?.value)
}

fn main() -> Result<(), Box<dyn Error>> {
    for scheme in [own_scheduler::scheme(), Scheme::new("sctp")?, Scheme::new("cmt")?] {
        println!("{}: {:.2} Mbit/s", scheme.name(), goodput(&scheme, 1)? / 1e6);
    }
    Ok(())
}
