//! Bytes of a fuzzer's input, read as a script.

/// Length in bytes above which inputs find nothing new.
pub(super) const LONGEST: usize = 1 << 14;
/// Number of rounds at one time after which time counts as standing still.
pub(super) const STUCK: u32 = 5000;

/// Rest of the input. Fields beyond the end of the input are zero.
#[derive(Copy, Clone, Debug)]
pub(super) struct Script<'a>(pub &'a [u8]);

impl<'a> Script<'a> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn u8(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.u8(), self.u8()])
    }

    /// Removes and returns at most `len` bytes.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        self.0.split_off(..len.min(self.0.len())).unwrap_or_default()
    }
}
