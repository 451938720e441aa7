//! Writes `experiments/cao2016/video.txt`. This frame trace replaces the unpublished trace of SCTP-Rev⁺'s evaluation.
//!
//! `cargo run -p strandcast-sim --example paper_video > experiments/cao2016/video.txt`

use strandcast_proto::seeds::Seeds;
use strandcast_sim::traffic::synthetic_video;

fn main() {
    println!(
        "# Frame trace after SCTP-Rev+'s evaluation: 2000 frames behind a header, QCIF, 30 frames a second."
    );
    println!("# The first nine sizes and all counts are the paper's.");
    println!(
        "# ASSUMED: all other sizes (strandcast_sim::traffic::synthetic_video, seed 1); the paper has no more."
    );
    print!("{}", synthetic_video(&mut Seeds::new(1, 0).stream("video")));
}
