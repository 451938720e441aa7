//! Processor time of this process.

use std::ops::Sub;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};

/// Processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Processor time in user mode, in seconds.
    pub user_s: f64,
    /// Processor time in the kernel, in seconds.
    pub system_s: f64,
}

impl Cpu {
    /// Returns the processor time of this process since its start. Returns zero if the system does not report it.
    pub(super) fn now() -> Cpu {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Cpu::default() };
        let seconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / 1e6;
        Cpu { user_s: seconds(usage.user_time()), system_s: seconds(usage.system_time()) }
    }

    /// Both together, seconds.
    pub fn total_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

impl Sub for Cpu {
    type Output = Cpu;

    fn sub(self, earlier: Cpu) -> Cpu {
        Cpu { user_s: self.user_s - earlier.user_s, system_s: self.system_s - earlier.system_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let before = Cpu::now();
        let mut x = 1u64;
        while (Cpu::now() - before).total_s() < 0.02 {
            x = std::hint::black_box(x.wrapping_mul(31));
        }
        assert!((Cpu::now() - before).user_s > 0.0);
    }
}
