//! The `strandcast` command.
fn main() -> std::process::ExitCode {
    strandcast::run(std::env::args_os())
}
