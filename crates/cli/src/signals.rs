//! Ctrl-C, SIGTERM and SIGHUP: the first asks for a graceful end, the second ends at once. With a file of statistics SIGHUP
//! opens that again instead, unless the terminal was closed.

use std::fs::File;
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::error::CliError;
use crate::{console, print};

/// Turns true when the user requests the end of the command.
pub(crate) type Stop = watch::Receiver<bool>;

/// Time after the first signal within which a further signal counts as the same one. `timeout` and some supervisors
/// send a signal to the command, and then again to its process group.
const ONE: Duration = Duration::from_millis(100);

/// Time for the last line of an abort.
const PRINT: Duration = Duration::from_millis(500);

/// Watches for the signals on a separate thread, because a policy may block the command's thread.
///
/// # Errors
/// The system refuses to register the signals.
pub(crate) fn watch() -> Result<Stop, CliError> {
    watch_these(if ignores_hang_up() { HangUp::Ignored } else { HangUp::Ends })
}

/// As [`watch`], but SIGHUP ends the command only if its terminal was closed. The second value receives every other
/// SIGHUP.
///
/// # Errors
/// As [`watch`]. Call it inside a tokio runtime.
pub(crate) fn watch_and_reopen() -> Result<(Stop, Reopen), CliError> {
    let hang_up =
        if ignores_hang_up() || !has_terminal() { HangUp::Ignored } else { HangUp::EndsWithTerminal };
    let reopen = Reopen(Some((listen(SignalKind::hangup())?, hang_up)));
    Ok((watch_these(hang_up)?, reopen))
}

/// Meaning of SIGHUP as a request to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HangUp {
    Ends,
    /// Only once the terminal is gone. A supervisor or a user who rotates files sends the same signal.
    EndsWithTerminal,
    /// SIGHUP never ends the command: it was ignored before, as by `nohup`, or there is no terminal.
    Ignored,
}

impl HangUp {
    /// Returns whether a signal that has just come is a request to end.
    fn ends(self) -> bool {
        match self {
            HangUp::Ends => true,
            HangUp::EndsWithTerminal => !has_terminal(),
            HangUp::Ignored => false,
        }
    }
}

/// Returns whether this process has a controlling terminal. The system takes it away before it sends SIGHUP for its end.
fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok()
}

/// SIGHUP as the request to open files again.
pub(crate) struct Reopen(Option<(Signal, HangUp)>);

impl Reopen {
    /// No request ever comes.
    pub(crate) fn never() -> Reopen {
        Reopen(None)
    }

    /// Waits for the next request. Cancel safe.
    pub(crate) async fn asked(&mut self) {
        match &mut self.0 {
            Some((signal, hang_up)) => loop {
                signal.recv().await;
                if !hang_up.ends() {
                    return;
                }
            },
            None => std::future::pending().await,
        }
    }
}

fn watch_these(hang_up: HangUp) -> Result<Stop, CliError> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(refused)?;
    let inside = runtime.enter();
    let mut signals = Signals::listen(hang_up)?;
    drop(inside);
    let (stop, stopped) = watch::channel(false);
    let watching = async move {
        signals.next().await;
        // Without a receiver the command is ending anyway.
        let _ = stop.send(true);
        let until = Instant::now() + ONE;
        while timeout_at(until, signals.next()).await.is_ok() {}
        signals.next().await;
        // On a thread of its own: the terminal may be stopped.
        let (printed, wait) = std::sync::mpsc::channel();
        thread::spawn(move || {
            print::line(&format!("strandcast: {}", CliError::Aborted));
            console::end();
            let _ = printed.send(());
        });
        let _ = wait.recv_timeout(PRINT);
        std::process::exit(i32::from(CliError::Aborted.code()));
    };
    let thread = thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || runtime.block_on(watching)).map_err(refused)?;
    Ok(stopped)
}

/// The signals that end a command.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// None if SIGHUP never ends the command.
    hang_up: Option<(Signal, HangUp)>,
}

impl Signals {
    fn listen(hang_up: HangUp) -> Result<Signals, CliError> {
        let signal = (hang_up != HangUp::Ignored).then(|| listen(SignalKind::hangup())).transpose()?;
        let hang_up = signal.map(|signal| (signal, hang_up));
        let (interrupt, terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
        Ok(Signals { interrupt, terminate, hang_up })
    }

    async fn next(&mut self) {
        let hang_up = async {
            match &mut self.hang_up {
                Some((signal, hang_up)) => loop {
                    signal.recv().await;
                    if hang_up.ends() {
                        return;
                    }
                },
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => (),
            _ = self.terminate.recv() => (),
            () = hang_up => (),
        }
    }
}

/// Returns whether SIGHUP has no effect on this process. Only Linux reports it; elsewhere it counts as not ignored.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Its number is 1, the lowest bit.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Watches for Ctrl-C in the process of a program that embeds the command. The program's own handler is still called,
/// and SIGTERM still ends the program.
///
/// # Errors
/// The system refuses to register the signals.
pub(crate) fn watch_interrupt() -> Result<Stop, CliError> {
    let mut interrupt = listen(SignalKind::interrupt())?;
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        interrupt.recv().await;
        // Without a receiver the work is ending anyway.
        let _ = stop.send(true);
    });
    Ok(stopped)
}

fn listen(kind: SignalKind) -> Result<Signal, CliError> {
    signal(kind).map_err(refused)
}

fn refused(error: std::io::Error) -> CliError {
    CliError::Network(format!("cannot watch for signals: {error}"))
}

/// Waits until the user requests the end.
pub(crate) async fn stopped(stop: &mut Stop) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}
