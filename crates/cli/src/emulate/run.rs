//! The run of `strandcast emulate`.

use std::io::{IsTerminal as _, stdin};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use strandcast::text::count;
use strandcast_keys::catalog::SharedCatalog;
use strandcast_lab::scenario::Scenario;
use strandcast_lab::simulation::{Emulation, End};

use super::ends::{self, Far, LOOK, program, shell};
use super::network::{FAR_HOST, FAR_HOST_6, PathDevice};
use super::outcome;
use super::pump::Pump;
use crate::args::EmulateArgs;
use crate::error::{CliError, why};
use crate::loaded::LoadedScenario;
use crate::print;
use crate::signals::{self, Stop};

/// After Ctrl-C in a terminal, a program has this time to end before it gets SIGTERM.
const PATIENCE: Duration = Duration::from_secs(2);

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
    let devices = PathDevice::of(emulation.paths())?;
    let near = ends::near(&devices, args.mtu)?;
    let (far, there) = Far::new(devices.clone(), args.mtu)?;
    let stop = signals::watch()?;
    announce(&devices, emulation.paths());
    let pump = Pump::start(emulation, [near, there])?;
    let ended = programs(args, &far, &stop)?;
    report(&pump, args.json);
    match ends::code(ended) {
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

fn announce(devices: &[PathDevice], paths: &[String]) {
    for (device, path) in devices.iter().zip(paths) {
        let (near, there) = (device.address(End::Near), device.address(End::Far));
        let name = if device.name == *path { String::new() } else { format!(" (path {path})") };
        print::line(&format!("{}{name}: {near} to {there}", device.name));
    }
    print::line(&format!("the far end has {FAR_HOST} and {FAR_HOST_6} over every path"));
}

/// Runs both programs until the program at the near end ends.
fn programs(args: &EmulateArgs, far: &Far, stop: &Stop) -> Result<ExitStatus, CliError> {
    let with_variables = |mut program: Command| {
        program.envs(far.variables());
        program
    };
    let there = args.far.as_ref().map(|line| far.start(with_variables(shell(line))));
    let mut there =
        there.transpose().map_err(|error| CliError::Usage(format!("--far: sh: {}", why(&error))))?;
    let name = args.command[0].to_string_lossy().into_owned();
    let started = with_variables(program(&args.command)).spawn();
    let started = started.map_err(|error| CliError::Usage(format!("cannot start {name}: {}", why(&error))));
    let ended = started.and_then(|near| wait(near, &mut there, stop));
    let killed = ends::clear(far);
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
                print::line(&format!("the far end's program ended with code {}", ends::code(status)));
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

fn report(pump: &Arc<Pump>, json: bool) {
    let state = pump.locked();
    if json {
        print::json_line(&outcome::json(&state).to_string());
    } else {
        for line in outcome::text(&state) {
            print::line(&line);
        }
    }
}
