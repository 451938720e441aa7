//! An emulated network that runs.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;

use strandcast_lab::simulation::{Emulation, End};

use super::devices::PathDevice;
use super::ends::{Far, Near, clear};
use super::figures::Figures;
use super::pump::Pump;
use crate::error::Error;

/// An emulated network that runs in real time.
///
/// The thread that started the network is its near end. This value therefore stays in that thread.
///
/// Dropping this value ends no program: call [`Network::end_programs`] before. It ends the thread of the far end, and
/// with it the file of [`Network::far_namespace`]. The devices, and the threads that carry packets between them, stay
/// until the process ends.
pub struct Network {
    devices: Vec<PathDevice>,
    near: Near,
    far: Far,
    pump: Arc<Pump>,
    /// Keeps the value in the thread of the near end.
    _near: PhantomData<*const ()>,
}

impl Network {
    /// Makes both ends with their devices, and starts the clock of `emulation`. `mtu` is the MTU of the devices in
    /// bytes. IPv6 needs at least 1280 bytes.
    ///
    /// The calling thread moves into a network namespace of its own and stays there. If the user has no right to make a
    /// network namespace, the thread also becomes root in a new user namespace. Linux permits that only to a process
    /// with a single thread. If this function fails, the thread may already be in the namespace.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the flow has more than [`MAX_PATHS`](super::MAX_PATHS) paths, or if this thread has
    /// started a network before. Returns [`Error::Network`] if the system refuses namespaces, devices or threads, or if
    /// the program `ip` is missing or fails.
    pub fn start(emulation: Emulation, mtu: u16) -> Result<Network, Error> {
        let devices = PathDevice::of(emulation.paths())?;
        let (near, here) = Near::new(&devices, mtu)?;
        let (far, there) = Far::new(devices.clone(), mtu)?;
        let pump = Pump::start(emulation, [here, there])?;
        near.take_thread();
        Ok(Network { devices, near, far, pump, _near: PhantomData })
    }

    /// Returns the devices of all paths, in the order of the paths of the flow.
    pub fn devices(&self) -> &[PathDevice] {
        &self.devices
    }

    /// Returns the file of the far end's network namespace, for programs such as `nsenter`. The file exists until
    /// this value is dropped.
    pub fn far_namespace(&self) -> &Path {
        &self.far.namespace
    }

    /// Starts a program at an end.
    ///
    /// # Errors
    /// Returns the error of the system. For the far end, also returns an error if its thread has ended.
    pub fn spawn(&self, end: End, mut program: Command) -> io::Result<Child> {
        match end {
            End::Near => program.spawn(),
            End::Far => self.far.start(program),
        }
    }

    /// Ends all programs in the namespaces of both ends, except this process. Nothing else ends them. Sends SIGTERM,
    /// and SIGKILL to programs that have not ended after five seconds. Blocks until all programs have ended. Returns
    /// the number of programs that needed SIGKILL.
    pub fn end_programs(&self) -> usize {
        clear(&self.near, &self.far)
    }

    /// Returns the counters of all links since the start, and the delays of this machine.
    pub fn figures(&self) -> Figures {
        self.pump.figures()
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("devices", &self.devices).finish_non_exhaustive()
    }
}
