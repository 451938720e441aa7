//! Shares of the memory of a receiver or a server.

/// Minimum memory of a receiver, including its code and fixed buffers.
const LEAST: usize = 32 << 20;
/// Maximum size of a playout buffer in bytes, which also applies without a memory limit.
#[cfg(feature = "live")]
const MAX_PLAYOUT: usize = 64 << 20;

/// Maximum size in bytes of the media that are kept for viewers.
#[cfg(feature = "live")]
const MAX_RECENT: usize = 4 << 20;

/// Memory limit in bytes of the whole process, for a receiver or another server that accepts data of untrusted peers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Memory(usize);

impl Memory {
    /// Makes a limit in bytes. Returns `None` if the limit is below 32 MiB.
    pub fn new(bytes: usize) -> Option<Memory> {
        (bytes >= LEAST).then_some(Memory(bytes))
    }

    /// Returns the share of one of `streams` streams.
    #[cfg(feature = "live")]
    pub(crate) fn shared_by(self, streams: u16) -> Memory {
        Memory(self.0 / usize::from(streams.max(1)))
    }

    /// Share of the associations if there is also a playout buffer. The rest is for received media, socket buffers and
    /// the allocator. With a seal, its sessions take a part of this share.
    #[cfg(feature = "live")]
    pub(crate) fn beside_playout(self, sealed: bool) -> usize {
        self.0 / 2 - self.sessions_if(sealed)
    }

    /// Share of the associations if there is no playout buffer. With a seal, its sessions take a part of this share.
    pub fn for_transfers(self, sealed: bool) -> usize {
        self.0 / 4 * 3 - self.sessions_if(sealed)
    }

    /// Share of sealed sessions. The share does not depend on the data that their peers send.
    pub fn sessions(self) -> usize {
        self.0 / 8
    }

    fn sessions_if(self, sealed: bool) -> usize {
        if sealed { self.sessions() } else { 0 }
    }

    /// Number of bytes of media that may wait for all outputs together while these are not read. It is the media of a
    /// few seconds.
    #[cfg(feature = "live")]
    pub(crate) fn output(self) -> usize {
        self.0 / 32
    }

    /// Number of bytes of media that may wait for the outputs of a stream of a server.
    #[cfg(feature = "live")]
    pub(crate) fn output_of_served(self) -> usize {
        self.0 / 16
    }

    /// Number of bytes of media that are kept for viewers of a stream: those since its last key frame.
    #[cfg(feature = "live")]
    pub(crate) fn recent(self) -> usize {
        (self.0 / 16).min(MAX_RECENT)
    }

    /// Maximum payload of a playout buffer. The bookkeeping of the buffer needs additional memory.
    #[cfg(feature = "live")]
    pub(crate) fn playout(self) -> usize {
        (self.0 / 16 * 3).min(MAX_PLAYOUT)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Memory(256 << 20)
    }
}

#[cfg(all(test, feature = "live"))]
mod tests {
    use strandcast_seal::SealConfig;

    use super::*;

    /// Associations, media and the sessions of a seal share the limit. They leave a part of it to the rest of the
    /// process. The share of outputs is for all outputs together ([`Outlets`](crate::live::output)).
    #[test]
    fn the_shares_are_less_than_the_whole() {
        for memory in [LEAST, 256 << 20, 16 << 30].map(Memory) {
            for sealed in [false, true] {
                let sessions = if sealed { memory.sessions() } else { 0 };
                let receive = memory.beside_playout(sealed) + memory.playout() + memory.output() + sessions;
                let transfers = memory.for_transfers(sealed) + sessions;
                assert!(receive.max(transfers) <= memory.0 / 4 * 3, "{receive} {transfers}");
            }
            for streams in [1, 16, 256] {
                let share = memory.shared_by(streams);
                let each = share.playout() + share.output_of_served();
                let all = memory.beside_playout(true) + memory.sessions() + usize::from(streams) * each;
                assert!(all <= memory.0 / 4 * 3, "{streams}: {all}");
                let viewed = all + usize::from(streams) * share.recent();
                assert!(viewed <= memory.0 / 16 * 13, "{streams}, with viewers: {viewed}");
            }
            assert!(memory.sessions() / SealConfig::SESSION_HEAP >= 16);
        }
        assert_eq!(Memory::new(LEAST - 1), None);
    }
}
