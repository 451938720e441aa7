//! Handles Ctrl-C, SIGTERM and SIGHUP. The first signal asks for a graceful end, and the second signal ends the command
//! at once. If statistics are written to a file, SIGHUP opens this file again, unless the terminal was closed.

use std::fs::File;
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::error::CliError;
use crate::{console, print};

/// Becomes true when the user requests the end of the command.
pub(crate) type Stop = watch::Receiver<bool>;

/// Time after the first signal within which a further signal counts as the same one. `timeout` and some supervisors
/// send a signal to the command, and then again to its process group.
const ONE: Duration = Duration::from_millis(100);

/// Time limit for printing the last line before an abort.
const PRINT: Duration = Duration::from_millis(500);

/// Watches for the signals on a separate thread, because a policy may block the command's thread.
///
/// # Errors
/// Returns an error if the system refuses to register the signals.
pub(crate) fn watch() -> Result<Stop, CliError> {
    watch_these(if ignores_hang_up() { HangUp::Ignored } else { HangUp::Ends })
}

/// Watches as [`watch`] does, but SIGHUP ends the command only if its terminal was closed. The second value receives
/// every other SIGHUP.
///
/// # Errors
/// Watches as [`watch`] does. Must be called inside a tokio runtime.
pub(crate) fn watch_and_reopen() -> Result<(Stop, Reopen), CliError> {
    let hang_up =
        if ignores_hang_up() || !has_terminal() { HangUp::Ignored } else { HangUp::EndsWithTerminal };
    let reopen = Reopen(Some((listen(SignalKind::hangup())?, hang_up)));
    Ok((watch_these(hang_up)?, reopen))
}

/// Condition under which SIGHUP is a request to end the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HangUp {
    Ends,
    /// SIGHUP ends the command only if the terminal was closed. A supervisor or a user who rotates files sends SIGHUP
    /// for another purpose.
    EndsWithTerminal,
    /// SIGHUP never ends the command, because the command has no terminal or because SIGHUP was ignored when it
    /// started, as under `nohup`.
    Ignored,
}

impl HangUp {
    /// Returns whether a SIGHUP that was just received is a request to end.
    fn ends(self) -> bool {
        match self {
            HangUp::Ends => true,
            HangUp::EndsWithTerminal => !has_terminal(),
            HangUp::Ignored => false,
        }
    }
}

/// Returns whether this process has a controlling terminal. When a terminal is closed, the system removes it from the
/// process before it sends SIGHUP.
fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok()
}

/// SIGHUP as a request to open files again.
pub(crate) struct Reopen(Option<(Signal, HangUp)>);

impl Reopen {
    /// Makes a value that never receives a request.
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
        // If there is no receiver, the command is already ending.
        let _ = stop.send(true);
        let until = Instant::now() + ONE;
        while timeout_at(until, signals.next()).await.is_ok() {}
        signals.next().await;
        // The line is printed on a separate thread, because a stopped terminal would block.
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
    /// `None` if SIGHUP never ends the command.
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

/// Returns whether this process ignores SIGHUP. Only Linux reports this. On other systems the function returns false.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP has number 1, which is the lowest bit of the mask.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Watches for Ctrl-C in the process of a program that embeds the command. The handler of that program is still called,
/// and SIGTERM still ends the program.
///
/// # Errors
/// Returns an error if the system refuses to register the signals.
pub(crate) fn watch_interrupt() -> Result<Stop, CliError> {
    let mut interrupt = listen(SignalKind::interrupt())?;
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        interrupt.recv().await;
        // If there is no receiver, the work is already ending.
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

/// Waits until the user requests the end of the command.
pub(crate) async fn stopped(stop: &mut Stop) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}
