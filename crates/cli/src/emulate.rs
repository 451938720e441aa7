//! `strandcast emulate`: runs any programs over the network of a scenario, in real time.

use std::ffi::OsString;
use std::io::{IsTerminal as _, stdin};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use strandcast::emulation::{FAR_HOST, FAR_HOST_6, MAX_PATHS, Network};
use strandcast::text::count;
use strandcast_keys::catalog::SharedCatalog;
use strandcast_lab::scenario::Scenario;
use strandcast_lab::simulation::{Emulation, End};

use crate::args::EmulateArgs;
use crate::error::{CliError, why};
use crate::loaded::LoadedScenario;
use crate::print;
use crate::signals::{self, Stop};

/// After Ctrl-C in a terminal, a program has this time to end before it gets SIGTERM.
const PATIENCE: Duration = Duration::from_secs(2);
/// Interval at which the programs are checked.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a program over the network of a scenario, and another program at the far end.
///
/// # Errors
/// Returns [`CliError::Exit`] with the program's exit code unless that code is 0. Before the program starts, other
/// errors are possible.
pub(crate) fn run(args: &EmulateArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let loaded = LoadedScenario::open(&args.file, &args.set)?;
    let flow = flow(&loaded.scenario, args.flow.as_deref())?;
    let seed = args.seed.unwrap_or(loaded.scenario.run.seed);
    let emulation = Emulation::new(&loaded.scenario, &**catalog, seed, &flow);
    let emulation = emulation.map_err(|error| loaded.wrong(None, &error))?;
    let paths = emulation.paths().len();
    if paths > MAX_PATHS {
        return Err(CliError::Usage(format!(
            "the flow has {paths} paths; emulate takes at most {MAX_PATHS}"
        )));
    }
    // The process must not have another thread yet.
    let network = Network::start(emulation, args.mtu)?;
    let stop = signals::watch()?;
    announce(&network);
    let ended = programs(args, &network, &stop)?;
    report(&network, args.json);
    match code(ended) {
        0 => Ok(()),
        code => Err(CliError::Exit(code)),
    }
}

/// Returns the flow that the programs replace.
fn flow(scenario: &Scenario, asked: Option<&str>) -> Result<String, CliError> {
    let names = || scenario.flows.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    if let Some(name) = asked {
        return match scenario.flows.contains_key(name) {
            true => Ok(name.to_owned()),
            false => Err(CliError::Usage(format!(
                "--flow {name}: there is no such flow; the scenario has {}",
                names()
            ))),
        };
    }
    let mut compared = scenario.flows.iter().filter(|(_, flow)| flow.compare).map(|(name, _)| name);
    let mut all = scenario.flows.keys();
    let only = if all.len() == 1 { all.next() } else { None };
    match (compared.next(), compared.next()) {
        (Some(name), None) => Ok(name.clone()),
        _ => only.cloned().ok_or_else(|| {
            CliError::Usage(format!(
                "name the flow whose place the programs take: --flow, one of {}",
                names()
            ))
        }),
    }
}

fn announce(network: &Network) {
    for device in network.devices() {
        let (near, there) = (device.address(End::Near), device.address(End::Far));
        let (device, path) = (device.name(), device.path());
        let path = if device == path { String::new() } else { format!(" (path {path})") };
        print::line(&format!("{device}{path}: {near} to {there}"));
    }
    print::line(&format!("the far end has {FAR_HOST} and {FAR_HOST_6} over every path"));
}

/// Adds the environment variables that programs of both ends get: the command that starts another program at the far
/// end, and the address to which all paths lead.
fn with_variables(mut program: Command, network: &Network) -> Command {
    let far = format!("nsenter --net={}", network.far_namespace().display());
    program.env("STRANDCAST_FAR", far).env("STRANDCAST_FAR_HOST", FAR_HOST.to_string());
    program
}

/// Makes the command for a program with its arguments.
fn program(words: &[OsString]) -> Command {
    let mut program = Command::new(words.first().map_or("true".as_ref(), OsString::as_os_str));
    program.args(words.iter().skip(1));
    program
}

/// Returns a shell that runs `line`. The shell gets no standard input, because the near program uses it. The terminal's
/// Ctrl-C does not reach the shell, because the far end must end after the near end.
fn shell(line: &OsString) -> Command {
    let mut program = Command::new("sh");
    program.arg("-c").arg(line).stdin(Stdio::null()).process_group(0);
    program
}

/// Runs both programs until the program at the near end ends.
fn programs(args: &EmulateArgs, network: &Network, stop: &Stop) -> Result<ExitStatus, CliError> {
    let start = |end, program| network.spawn(end, with_variables(program, network));
    let there = args.far.as_ref().map(|line| start(End::Far, shell(line)));
    let mut there =
        there.transpose().map_err(|error| CliError::Usage(format!("--far: sh: {}", why(&error))))?;
    let name = args.command[0].to_string_lossy().into_owned();
    let started = start(End::Near, program(&args.command));
    let started = started.map_err(|error| CliError::Usage(format!("cannot start {name}: {}", why(&error))));
    let ended = started.and_then(|near| wait(near, &mut there, stop));
    let killed = network.end_programs();
    if killed > 0 {
        print::line(&format!(
            "killed what had not ended 5 s after SIGTERM: {}",
            count(killed as u64, "program")
        ));
    }
    ended
}

/// Waits for the near program. When the user ends the emulation, the program gets SIGTERM. If the user pressed Ctrl-C
/// in a terminal, the program gets SIGTERM only if Ctrl-C has not ended it.
fn wait(mut near: Child, there: &mut Option<Child>, stop: &Stop) -> Result<ExitStatus, CliError> {
    let failed =
        |error: std::io::Error| CliError::Network(format!("cannot wait for a program: {}", why(&error)));
    let patience = if stdin().is_terminal() { PATIENCE } else { Duration::ZERO };
    let (mut asked, mut signalled) = (None, false);
    loop {
        if let Some(status) = near.try_wait().map_err(failed)? {
            return Ok(status);
        }
        if let Some(child) = there
            && let Some(status) = child.try_wait().map_err(failed)?
        {
            if !status.success() {
                print::line(&format!("the far end's program ended with code {}", code(status)));
            }
            *there = None;
        }
        if *stop.borrow() && !signalled {
            let since = *asked.get_or_insert_with(Instant::now);
            signalled = since.elapsed() >= patience;
            if signalled {
                terminate(&near);
            }
        }
        thread::sleep(LOOK);
    }
}

fn terminate(child: &Child) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // A program that has just ended cannot receive a signal.
        let _ = kill_process(pid, Signal::TERM);
    }
}

fn report(network: &Network, json: bool) {
    let figures = network.figures();
    if json {
        let json = serde_json::to_value(&figures).expect("numbers and names always serialise");
        print::json_line(&json.to_string());
    } else {
        figures.lines().iter().for_each(|line| print::line(line));
    }
}

/// Returns the exit code that a shell would report for a program.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
