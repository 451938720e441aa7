//! The clock of an emulation: packets from devices into the network, and out of it when they are due.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use strandcast_lab::simulation::{Emulation, End};
use tun_rs::SyncDevice;

use crate::error::{CliError, why};

/// The largest packet of a device.
const MAX_PACKET: usize = 65_535;
/// Delays in milliseconds beyond which a packet counts as late.
pub(super) const LATE_MS: [u64; 3] = [1, 5, 20];

/// An emulation at work.
pub(super) struct Pump {
    state: Mutex<State>,
    /// Signals that a packet has come, or the end.
    changed: Condvar,
    /// Devices of both ends by path.
    devices: [Vec<SyncDevice>; 2],
    begun: Instant,
}

/// The network and the counters.
#[derive(Debug)]
pub(super) struct State {
    pub(super) emulation: Emulation,
    pub(super) punctuality: Punctuality,
}

/// Delivery by this machine, after the time at which the network delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Punctuality {
    /// Packets that were delivered.
    pub(super) packets: u64,
    /// Packets later than each of [`LATE_MS`].
    pub(super) late: [u64; 3],
    /// The greatest delay.
    pub(super) worst: Duration,
    /// Packets that a device did not take.
    pub(super) refused: u64,
}

impl Pump {
    /// Starts the clock, and threads that carry packets to the end of the process.
    ///
    /// # Errors
    /// The system starts no more threads.
    pub(super) fn start(emulation: Emulation, devices: [Vec<SyncDevice>; 2]) -> Result<Arc<Pump>, CliError> {
        let state = Mutex::new(State { emulation, punctuality: Punctuality::default() });
        let pump = Arc::new(Pump { state, changed: Condvar::new(), devices, begun: Instant::now() });
        for end in End::BOTH {
            for path in 0..pump.devices[end as usize].len() {
                let pump = Arc::clone(&pump);
                start("reads", move || pump.read(end, path))?;
            }
        }
        let giving = Arc::clone(&pump);
        start("network", move || giving.give())?;
        Ok(pump)
    }

    /// The network and the counters, up to now.
    pub(super) fn now(&self) -> MutexGuard<'_, State> {
        let mut state = self.locked();
        state.emulation.advance(self.begun.elapsed());
        state
    }

    /// Counters and network are consistent after every step.
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads packets of a device into the network, until the device is gone.
    fn read(&self, end: End, path: usize) {
        let mut buffer = vec![0; MAX_PACKET];
        let device = &self.devices[end as usize][path];
        while let Ok(len) = device.recv(&mut buffer) {
            let packet = Bytes::copy_from_slice(&buffer[..len]);
            let mut state = self.locked();
            state.emulation.send(self.begun.elapsed(), end, path as u8, packet);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Delivers packets when they are due, forever.
    fn give(&self) {
        let mut state = self.locked();
        loop {
            let now = self.begun.elapsed();
            state.emulation.advance(now);
            for end in End::BOTH {
                while let Some((at, arrival)) = state.emulation.receive(end) {
                    let device = &self.devices[end as usize][usize::from(arrival.path)];
                    let taken = device.send(&arrival.packet).is_ok();
                    state.punctuality.count(self.begun.elapsed().saturating_sub(at), taken);
                }
            }
            state = match state.emulation.next_time() {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(next) => {
                    let wait = next.saturating_sub(self.begun.elapsed());
                    if wait.is_zero() {
                        continue;
                    }
                    self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl Punctuality {
    fn count(&mut self, late: Duration, taken: bool) {
        self.packets += 1;
        self.worst = self.worst.max(late);
        for (count, ms) in self.late.iter_mut().zip(LATE_MS) {
            *count += u64::from(late > Duration::from_millis(ms));
        }
        self.refused += u64::from(!taken);
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), CliError> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    let failed = |error| CliError::Network(format!("cannot start a thread: {}", why(&error)));
    started.map(drop).map_err(failed)
}
