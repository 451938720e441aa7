//! Integration tests of `strandcast-lab`, one binary.

mod bond;
mod buffers;
mod capacity;
mod conservation;
mod dropped;
mod explain;
mod first_try;
mod friendliness;
mod golden;
mod head_of_line;
mod memory;
mod primary;
mod queues;
mod radio;
mod random_networks;
mod right_sizing;
mod scenario_docs;
mod scenario_errors;
mod scenario_file;
mod scenario_warnings;
mod schema_check;
mod sealed;
mod simulation;
mod tcp_windows;
mod verdicts;
mod windows;
