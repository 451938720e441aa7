//! Benches of the other crates: `cargo bench -p strandcast-bench` (docs/measurements/performance.md).
