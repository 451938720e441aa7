//! Benches of the other crates, `cargo bench -p strandcast-bench`, and programs that `python3 -m bench` runs, `src/bin`
//! (docs/measurements/performance.md).
