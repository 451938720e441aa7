//! Sizes on the command line: of the memory of a command that serves strangers, and of buffers.

use std::str::FromStr;

/// The least that a server can do with: its own code and buffers come first.
const LEAST: usize = 32 << 20;
/// The most that a playout buffer takes, as much as it does without a limit.
const PLAYOUT: usize = 64 << 20;

/// The least and the most that `--buffer` takes: a few packets of any size, and what a_rwnd can say with room to spare.
const LEAST_BUFFER: usize = 64 << 10;
const MOST_BUFFER: usize = 1 << 30;

/// `--memory`: the size of the whole process, bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Memory(usize);

impl Memory {
    /// What associations may hold where received media wait besides: the rest is for those, the sockets' buffers and what
    /// an allocator loses.
    pub(crate) fn beside_playout(self) -> usize {
        self.0 / 2
    }

    /// What associations may hold where nothing else does.
    pub(crate) fn alone(self) -> usize {
        self.0 / 4 * 3
    }

    /// Payload that a playout buffer may hold; its bookkeeping comes on top.
    pub(crate) fn playout(self) -> usize {
        (self.0 / 16 * 3).min(PLAYOUT)
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = size(text)?;
        if bytes < LEAST {
            return Err(format!("{text} is too little: 32MiB is the least"));
        }
        Ok(Memory(bytes))
    }
}

/// `--buffer`: what the send and the receive buffer of an association may grow to, bytes each.
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
            ..LEAST_BUFFER => Err(format!("{text} is too little: 64KiB is the least")),
            bytes if bytes > MOST_BUFFER => Err(format!("{text} is too much: 1GiB is the most")),
            bytes => Ok(Buffer(bytes)),
        }
    }
}

/// A number of bytes with a unit.
fn size(text: &str) -> Result<usize, String> {
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
        _ => return Err(format!("{text:?} is no size, as in 256MiB or 1GB")),
    };
    let bytes = number.trim().parse().ok().map(|n: f64| n * factor).filter(|b| (0.0..1e15).contains(b));
    bytes.map(|b| b as usize).ok_or_else(|| format!("{text:?} is no size, as in 256MiB or 1GB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let bytes = |text: &str| text.parse::<Memory>().map(|m| m.0);
        assert_eq!(bytes("256MiB"), Ok(256 << 20));
        assert_eq!(bytes("0.5 GB"), Ok(500_000_000));
        assert_eq!(bytes("33554432"), Ok(32 << 20));
        for wrong in ["", "MiB", "256 M", "-1GB", "nanGB", "1e99", "256MiB "] {
            assert!(bytes(wrong).is_err_and(|e| e.contains("no size")), "{wrong}");
        }
        assert!(bytes("31MiB").is_err_and(|e| e.contains("32MiB is the least")));
    }

    #[test]
    fn buffers_have_bounds() {
        let bytes = |text: &str| text.parse::<Buffer>().map(Buffer::bytes);
        assert_eq!(bytes("16MiB"), Ok(Buffer::default().bytes()));
        assert_eq!((bytes("64KiB"), bytes("1GiB")), (Ok(65_536), Ok(1 << 30)));
        assert!(bytes("63KiB").is_err_and(|e| e.contains("64KiB is the least")));
        assert!(bytes("2GiB").is_err_and(|e| e.contains("1GiB is the most")));
        assert!(bytes("big").is_err_and(|e| e.contains("no size")));
    }
}
