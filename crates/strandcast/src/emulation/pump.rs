//! The clock of an emulation. The clock passes packets from devices into the network, and passes packets out of the
//! network when they are due.

use std::io::ErrorKind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use strandcast_lab::simulation::{Emulation, End};
use tun_rs::SyncDevice;

use super::figures::{Figures, Punctuality};
use crate::error::{Error, why};

/// Maximum size of a packet of a device, in bytes.
const MAX_PACKET: usize = 65_535;
/// Number of network events that are handled before the devices are checked again.
const SLICE: usize = 1024;
/// Maximum number of packets that wait for the network.
const MAX_WAITING: usize = 4096;

/// A running emulation.
pub(super) struct Pump {
    state: Mutex<State>,
    /// Packets that programs have written.
    written: Mutex<Vec<Written>>,
    /// Signals that a packet was written.
    changed: Condvar,
    /// Devices of both ends, by path number.
    devices: [Vec<SyncDevice>; 2],
    begun: Instant,
}

/// A packet that a program has written: its end, path and content.
type Written = (End, u8, Bytes);

/// The network and the counters.
#[derive(Debug)]
struct State {
    emulation: Emulation,
    punctuality: Punctuality,
}

impl Pump {
    /// Starts the clock, and threads that carry packets until the process ends.
    ///
    /// # Errors
    /// Returns an error if the system cannot start more threads.
    pub(super) fn start(emulation: Emulation, devices: [Vec<SyncDevice>; 2]) -> Result<Arc<Pump>, Error> {
        let state = Mutex::new(State { emulation, punctuality: Punctuality::default() });
        let (written, changed) = (Mutex::default(), Condvar::new());
        let pump = Arc::new(Pump { state, written, changed, devices, begun: Instant::now() });
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

    /// Returns the counters.
    pub(super) fn figures(&self) -> Figures {
        let state = self.locked();
        Figures::of(&state.emulation, state.punctuality)
    }

    /// Locks the network and the counters, which are consistent after every step.
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self) -> MutexGuard<'_, Vec<Written>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads packets of a device for the network until the device no longer exists.
    fn read(&self, end: End, path: usize) {
        let mut buffer = vec![0; MAX_PACKET];
        let device = &self.devices[end as usize][path];
        while let Ok(len) = device.recv(&mut buffer) {
            let mut written = self.written();
            if written.len() < MAX_WAITING {
                written.push((end, path as u8, Bytes::copy_from_slice(&buffer[..len])));
                drop(written);
                self.changed.notify_one();
            } else {
                drop(written);
                self.locked().punctuality.overrun += 1;
            }
        }
    }

    /// Runs the network in real time, without end: packets enter it when they are read, and leave it when they are due.
    /// A network that is too slow for real time does not prevent programs from writing.
    fn give(&self) {
        let mut taken = Vec::new();
        loop {
            let next = self.step(&mut taken);
            let mut written = self.written();
            if written.is_empty() {
                let wait = next.map(|next| next.saturating_sub(self.begun.elapsed()));
                written = match wait {
                    Some(Duration::ZERO) => written,
                    Some(wait) => {
                        self.changed.wait_timeout(written, wait).unwrap_or_else(PoisonError::into_inner).0
                    }
                    None => self.changed.wait(written).unwrap_or_else(PoisonError::into_inner),
                };
            }
            std::mem::swap(&mut *written, &mut taken);
        }
    }

    /// Simulates the network for a while, including the packets that programs wrote. Returns the time of the next step,
    /// or `None` if the network waits for a packet.
    fn step(&self, taken: &mut Vec<Written>) -> Option<Duration> {
        let mut state = self.locked();
        let State { emulation, punctuality } = &mut *state;
        let now = self.begun.elapsed();
        let is_present = emulation.advance_within(now, SLICE);
        punctuality.behind = punctuality.behind.max(now.saturating_sub(emulation.now()));
        for (end, path, packet) in taken.drain(..) {
            emulation.send(end, path, packet);
        }
        for end in End::BOTH {
            while let Some((at, arrival)) = emulation.receive(end) {
                let device = &self.devices[end as usize][usize::from(arrival.path)];
                let sent = device.send(&arrival.packet);
                // The kernel refuses a packet whose headers are damaged. Such a packet does not count as refused by the
                // device.
                let refused = sent.is_err_and(|error| error.kind() != ErrorKind::InvalidInput);
                punctuality.count(self.begun.elapsed().saturating_sub(at), refused);
            }
        }
        if is_present { emulation.next_time() } else { Some(Duration::ZERO) }
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    let failed = |error| Error::Network(format!("cannot start a thread: {}", why(&error)));
    started.map(drop).map_err(failed)
}
