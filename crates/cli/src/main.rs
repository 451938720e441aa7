//! The `strandcast` command.
fn main() -> std::process::ExitCode {
    strandcast_cli::run(std::env::args_os()).into()
}
