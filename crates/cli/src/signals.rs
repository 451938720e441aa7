//! Ctrl-C and SIGTERM: the first asks for a graceful end, the second ends at once.

use std::thread;

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::error::CliError;
use crate::print;

/// Turns true when the user requests the end of the command.
pub(crate) type Stop = watch::Receiver<bool>;

/// Watches for both signals on a thread of its own, because a policy may block the command's thread.
///
/// # Errors
/// The system refuses to register the signals.
pub(crate) fn watch() -> Result<Stop, CliError> {
    let runtime = Builder::new_current_thread().enable_io().build().map_err(refused)?;
    let inside = runtime.enter();
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    drop(inside);
    let (stop, stopped) = watch::channel(false);
    let watching = async move {
        either(&mut interrupt, &mut terminate).await;
        // Without a receiver the command is ending anyway.
        let _ = stop.send(true);
        either(&mut interrupt, &mut terminate).await;
        print::line(&format!("strandcast: {}", CliError::Aborted));
        std::process::exit(i32::from(CliError::Aborted.code()));
    };
    let thread = thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || runtime.block_on(watching)).map_err(refused)?;
    Ok(stopped)
}

/// Watches for Ctrl-C in another program's process: its own handler is still called, and SIGTERM still ends it.
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

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => (),
        _ = terminate.recv() => (),
    }
}

/// Waits until the user requests the end.
pub(crate) async fn stopped(stop: &mut Stop) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}
