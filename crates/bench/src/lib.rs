//! Benchmarks of the other crates (`cargo bench -p strandcast-bench`), and programs in `src/bin` that `python3 -m
//! bench` runs (docs/measurements/performance.md).
