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
    /// Part of these bytes that is being written.
    writing: u64,
}

impl Monthly {
    /// The use of a link whose month begins on this day.
    pub(super) fn new(day: u8) -> Monthly {
        let month = Month::of(SystemTime::now(), day);
        Monthly { day, month, known: None, sum: None, unsaved: 0, writing: 0 }
    }

    /// Bytes of the month, by all streams.
    pub(super) fn used(&self) -> u64 {
        self.sum.unwrap_or_default().saturating_add(self.unsaved)
    }

    /// Returns whether the ledger was read.
    pub(super) fn is_open(&self) -> bool {
        self.sum.is_some()
    }

    /// The bytes that the ledger does not have, which are written now.
    pub(super) fn deposit(&mut self) -> Option<Deposit> {
        let (link, month, bytes) = (self.known.clone()?, self.month, self.unsaved);
        self.writing = bytes;
        Some(Deposit { link, month, bytes, closed: false })
    }

    /// The bytes that are neither in the ledger nor being written, of a month or a device that is no longer counted.
    pub(super) fn rest(&self) -> Option<Deposit> {
        let (link, month, bytes) = (self.known.clone()?, self.month, self.unsaved - self.writing);
        (bytes > 0).then_some(Deposit { link, month, bytes, closed: true })
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
            (self.sum, self.unsaved, self.writing) = (None, 0, 0);
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
        (self.month, self.sum, self.unsaved, self.writing) = (month, None, 0, 0);
        before
    }

    /// Takes the sum of the month after a deposit. Returns true if it is the first sum.
    pub(super) fn credit(&mut self, deposit: &Deposit, sum: u64) -> bool {
        self.unsaved -= deposit.bytes;
        self.writing = 0;
        self.sum.replace(sum).is_none()
    }

    /// Takes back a deposit that could not be written.
    pub(super) fn take_back(&mut self) {
        self.writing = 0;
    }

    /// Returns whether a deposit that is written has bytes of this use.
    pub(super) fn made(&self, deposit: &Deposit) -> bool {
        let same = self.known.as_ref() == Some(&deposit.link) && self.month == deposit.month;
        same && !deposit.closed && self.writing == deposit.bytes
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
