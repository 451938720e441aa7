//! Sizes on the command line: memory limits of servers, and buffer sizes.

use std::str::FromStr;

use strandcast::Memory;
use strandcast::text::size;

/// Minimum and maximum of `--buffer`. The minimum holds a few packets of any size, and the maximum is well within the
/// range of a_rwnd.
const MIN_BUFFER: usize = 64 << 10;
const MAX_BUFFER: usize = 1 << 30;

/// Parses `--memory`, the memory limit of the whole process.
pub(crate) fn memory(text: &str) -> Result<Memory, String> {
    Memory::new(size(text)?).ok_or_else(|| format!("{text} is too little: 32MiB is the least"))
}

/// Parses `--buffer`: the maximum size of the send buffer and of the receive buffer of an association, in bytes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let bytes = |text: &str| memory(text).map(|m| m.sessions() * 8);
        assert_eq!(bytes("256MiB"), Ok(256 << 20));
        assert_eq!(bytes("0.5 GB"), Ok(500_000_000));
        assert_eq!(bytes("33554432"), Ok(32 << 20));
        for wrong in ["", "MiB", "256 M", "-1GB", "nanGB", "1e99", "256MiB "] {
            assert!(bytes(wrong).is_err_and(|e| e.contains("not a size")), "{wrong}");
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
        assert!(bytes("big").is_err_and(|e| e.contains("not a size")));
    }
}
