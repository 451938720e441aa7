//! The use of a link in a month of its plan.

use std::time::SystemTime;

use strandcast_net::interface::Hardware;

use crate::live::ledger::{Known, Month};

/// The use of a link in the current month.
#[derive(Clone, Debug)]
pub(super) struct Monthly {
    day: u8,
    pub(super) month: Month,
    /// The link, once its hardware was seen.
    pub(super) known: Option<Known>,
    /// Sum of the month in the ledger; `None`: it was not read yet.
    sum: Option<u64>,
    /// Bytes that are not in this sum.
    pub(super) unsaved: u64,
}

impl Monthly {
    /// The use of a link whose month begins on this day.
    pub(super) fn new(day: u8) -> Monthly {
        let month = Month::of(SystemTime::now(), day);
        Monthly { day, month, known: None, sum: None, unsaved: 0 }
    }

    /// Bytes of the month, by all streams.
    pub(super) fn used(&self) -> u64 {
        self.sum.unwrap_or_default().saturating_add(self.unsaved)
    }

    /// Returns whether the ledger was read.
    pub(super) fn is_open(&self) -> bool {
        self.sum.is_some()
    }

    /// The bytes that the ledger does not have.
    pub(super) fn deposit(&self) -> Option<Deposit> {
        let (link, month, bytes) = (self.known.clone()?, self.month, self.unsaved);
        Some(Deposit { link, month, bytes, closed: false })
    }

    /// The bytes that the ledger does not have, of a month or a device that is no longer counted.
    pub(super) fn rest(&self) -> Option<Deposit> {
        let rest = self.deposit().filter(|deposit| deposit.bytes > 0)?;
        Some(Deposit { closed: true, ..rest })
    }

    /// Records the link, with its present name and hardware. Returns the rest of the previous device if it is another
    /// device.
    pub(super) fn meet(&mut self, name: &str, hardware: &Hardware) -> Option<Deposit> {
        if let Some(known) = self.known.as_mut().filter(|known| known.hardware.may_be(hardware)) {
            name.clone_into(&mut known.name);
            if hardware.mac.is_some() {
                known.hardware.clone_from(hardware);
            }
            return None;
        }
        let before = self.rest();
        if self.known.is_some() {
            (self.sum, self.unsaved) = (None, 0);
        }
        self.known = Some(Known { name: name.to_owned(), hardware: hardware.clone() });
        before
    }

    /// Begins another month if it is time. Returns the rest of the previous one.
    pub(super) fn turn(&mut self, now: SystemTime) -> Option<Deposit> {
        let month = Month::of(now, self.day);
        if month == self.month {
            return None;
        }
        let before = self.rest();
        (self.month, self.sum, self.unsaved) = (month, None, 0);
        before
    }

    /// Takes the sum of a month after a deposit. Returns whether the deposit is of this link, and whether it is the
    /// first sum.
    pub(super) fn credit(&mut self, deposit: &Deposit, sum: u64) -> Option<bool> {
        if self.known.as_ref() != Some(&deposit.link) || self.month != deposit.month {
            return None;
        }
        let first = self.sum.replace(sum).is_none();
        self.unsaved = self.unsaved.saturating_sub(deposit.bytes);
        Some(first)
    }
}

/// Bytes to add to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deposit {
    pub(super) link: Known,
    pub(super) month: Month,
    pub(super) bytes: u64,
    /// The month or the device is no longer counted.
    pub(super) closed: bool,
}
