//! Sizes on the command line: memory limits of servers, and buffer sizes.

use std::str::FromStr;

/// Minimum memory of a server, including its code and fixed buffers.
const MIN_MEMORY: usize = 32 << 20;
/// Maximum of a playout buffer, also without a limit.
const MAX_PLAYOUT: usize = 64 << 20;

/// Minimum and maximum of `--buffer`: a few packets of any size, and well within the range of a_rwnd.
const MIN_BUFFER: usize = 64 << 10;
const MAX_BUFFER: usize = 1 << 30;

/// `--memory`: the limit of the whole process, bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Memory(usize);

impl Memory {
    /// The associations' share beside a playout buffer; the rest is for received media, socket buffers and allocator
    /// overhead. Behind a seal its sessions have a part of it.
    pub(crate) fn beside_playout(self, sealed: bool) -> usize {
        self.0 / 2 - self.sessions_if(sealed)
    }

    /// The associations' share without a playout buffer.
    pub(crate) fn for_transfers(self, sealed: bool) -> usize {
        self.0 / 4 * 3 - self.sessions_if(sealed)
    }

    /// The share of sealed sessions, whatever their peers send.
    pub(crate) fn sessions(self) -> usize {
        self.0 / 8
    }

    fn sessions_if(self, sealed: bool) -> usize {
        if sealed { self.sessions() } else { 0 }
    }

    /// Bytes of media that may wait for an output that is not read: those of some seconds.
    pub(crate) fn output(self) -> usize {
        self.0 / 32
    }

    /// Payload that a playout buffer may hold; its bookkeeping comes on top.
    pub(crate) fn playout(self) -> usize {
        (self.0 / 16 * 3).min(MAX_PLAYOUT)
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = size(text)?;
        if bytes < MIN_MEMORY {
            return Err(format!("{text} is too little: 32MiB is the least"));
        }
        Ok(Memory(bytes))
    }
}

/// `--buffer`: the maximum of the send and the receive buffer of an association, bytes each.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Buffer(usize);

impl Buffer {
    pub(crate) fn bytes(self) -> usize {
        self.0
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer(16 << 20)
    }
}

impl FromStr for Buffer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match size(text)? {
            ..MIN_BUFFER => Err(format!("{text} is too little: 64KiB is the least")),
            bytes if bytes > MAX_BUFFER => Err(format!("{text} is too much: 1GiB is the most")),
            bytes => Ok(Buffer(bytes)),
        }
    }
}

/// A number of bytes with a unit.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let factor = match unit {
        "" | "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => f64::from(1 << 20),
        "GiB" => f64::from(1 << 30),
        _ => return Err(format!("{text:?} is not a size, as in 256MiB or 1GB")),
    };
    let bytes = number.trim().parse().ok().map(|n: f64| n * factor).filter(|b| (0.0..1e15).contains(b));
    bytes.map(|b| b as usize).ok_or_else(|| format!("{text:?} is not a size, as in 256MiB or 1GB"))
}

#[cfg(test)]
mod tests {
    use strandcast_seal::SealConfig;

    use super::*;

    #[test]
    fn sizes_have_units() {
        let bytes = |text: &str| text.parse::<Memory>().map(|m| m.0);
        assert_eq!(bytes("256MiB"), Ok(256 << 20));
        assert_eq!(bytes("0.5 GB"), Ok(500_000_000));
        assert_eq!(bytes("33554432"), Ok(32 << 20));
        for wrong in ["", "MiB", "256 M", "-1GB", "nanGB", "1e99", "256MiB "] {
            assert!(bytes(wrong).is_err_and(|e| e.contains("not a size")), "{wrong}");
        }
        assert!(bytes("31MiB").is_err_and(|e| e.contains("32MiB is the least")));
    }

    /// Associations, media and the sessions of a seal share the limit, and leave some of it to the rest of the process.
    #[test]
    fn the_shares_are_less_than_the_whole() {
        for memory in [MIN_MEMORY, 256 << 20, 16 << 30].map(Memory) {
            for sealed in [false, true] {
                let sessions = if sealed { memory.sessions() } else { 0 };
                let receive = memory.beside_playout(sealed) + memory.playout() + memory.output() + sessions;
                let transfers = memory.for_transfers(sealed) + sessions;
                assert!(receive.max(transfers) <= memory.0 / 4 * 3, "{receive} {transfers}");
            }
            assert!(memory.sessions() / SealConfig::SESSION_HEAP >= 16);
        }
    }

    #[test]
    fn buffers_have_bounds() {
        let bytes = |text: &str| text.parse::<Buffer>().map(Buffer::bytes);
        assert_eq!(bytes("16MiB"), Ok(Buffer::default().bytes()));
        assert_eq!((bytes("64KiB"), bytes("1GiB")), (Ok(65_536), Ok(1 << 30)));
        assert!(bytes("63KiB").is_err_and(|e| e.contains("64KiB is the least")));
        assert!(bytes("2GiB").is_err_and(|e| e.contains("1GiB is the most")));
        assert!(bytes("big").is_err_and(|e| e.contains("not a size")));
    }
}
