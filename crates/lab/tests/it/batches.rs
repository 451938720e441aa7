//! Batches of runs.

use std::ops::ControlFlow;

use strandcast_lab::batch::{Batch, Job, ProgressObserver, RunError, SeriesRoom, SeriesSink, Traces, jobs};
use strandcast_lab::scenario::{App, Number, Transport};
use strandcast_testing::lab::{Presets, flow, link, scenario};

struct Quiet;

impl ProgressObserver for Quiet {
    fn progress(&self, _: &Job, _: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Time series for which memory has no room end the runs with an error; they exhaust no memory, and panic in nothing.
#[test]
fn time_series_in_memory_are_bounded() {
    let app = App::Cbr { size: 1000, rate: Number::Constant(1e6) };
    let flows = vec![("f", flow(Transport::Udp { header: 28 }, app, &[&["only"]]))];
    let mut scenario = scenario(&[("only", link("a", "b", 10e6, 0.01, 50))], flows);
    scenario.run.series = Some(core::time::Duration::from_millis(10));
    let jobs = jobs(&[], 1, 2).expect("seeds are small");
    let made = |most| {
        let room = SeriesRoom::new(most);
        let series = SeriesSink::Memory(&room);
        let (scenario, catalog, progress) = (&scenario, &Presets, &Quiet);
        Batch { scenario, catalog, series, traces: Traces::default(), progress }.run_all(&jobs, 2)
    };
    let all = made(1_000_000).expect("there is room");
    let values: u64 = all.series.iter().map(|table| table.num_rows() as u64).sum();
    assert!(values > 1000);
    assert!(made(values).is_ok());
    let Err(error) = made(values - 1) else { panic!("there is no room for the last value") };
    assert!(matches!(error, RunError::Series { most } if most == values - 1));
    assert!(error.to_string().contains("choose a longer step"), "{error}");
}
