//! Keys of the transport, which all schemes share.

use strandcast_keys::{keys, words};
use strandcast_proto::coding::{Coding, RepairCode, RepairCoding, RepairWhen};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::time::Duration;

words! {
    /// Repair symbols that leave in addition to unordered messages with a lifetime.
    pub enum Fec {
        /// None.
        Off = "off",
        /// Symbols of a random linear code over a sliding window (RFC 8681).
        Rlc = "rlc",
        /// Symbols of RaptorQ over blocks (RFC 6330).
        RaptorQ = "raptorq",
        /// Symbols of a Reed–Solomon code over blocks.
        ReedSolomon = "rs",
    }
}

words! {
    /// Time at which repair symbols leave.
    pub enum FecWhen {
        /// As soon as the redundancy allows.
        Always = "always",
        /// For messages that could not be sent again in time.
        Late = "late",
    }
}

impl Fec {
    fn code(self) -> Option<RepairCode> {
        match self {
            Fec::Off => None,
            Fec::Rlc => Some(RepairCode::Rlc),
            Fec::RaptorQ => Some(RepairCode::RaptorQ),
            Fec::ReedSolomon => Some(RepairCode::ReedSolomon),
        }
    }
}

impl From<FecWhen> for RepairWhen {
    fn from(when: FecWhen) -> Self {
        match when {
            FecWhen::Always => RepairWhen::Always,
            FecWhen::Late => RepairWhen::Late,
        }
    }
}

keys! {
    /// Path failure, probing and timeouts, and repair symbols in addition to messages.
    #[derive(Copy)]
    pub struct TransportKeys {
        /// a path is potentially failed at its first timeout (RFC 7829)
        pf: bool = true,
        /// probe failed paths at least this often, 0: RFC 9260's back-off
        probe_interval: Option<Duration> [0, 60_000, "ms"] = Some(Duration::from_millis(500)),
        /// RTO.Min, 0: the transport's own
        rto_min: Option<Duration> [0, 60_000, "ms"] = None,
        /// means of profile live against paths that block a buffer, in any profile: copies on faster paths, tail
        /// probes, and between Strandcast ends an RTO.Min of 200 ms
        unblock: bool = false,
        /// repair symbols in addition to unordered messages with a lifetime: none, a sliding window by RFC 8681,
        /// blocks by RaptorQ or rs
        fec: Fec = Fec::Off,
        /// greatest ratio of the bytes of repair symbols to the bytes of their messages
        redundancy: f64 [0.1, 50.0, "%"] = 5.0,
        /// repair symbols as soon as the redundancy allows, or for messages alone that could not be sent again in time
        fec_when: FecWhen = FecWhen::Late,
        /// greatest number of messages that a repair symbol covers
        fec_window: u32 [2, 256, "messages"] = 128,
        /// greatest ratio of the bytes of copies and repair symbols that the scheme asks for to the bytes of media;
        /// 0: the scheme's own
        redundancy_cap: Option<u32> [0, 100, "%"] = None,
    }
}

impl TransportKeys {
    /// Returns the reason why a key has no effect, and the other key that must also be given.
    pub fn idle(&self, key: &str) -> Option<(&'static str, &'static str)> {
        let of_repair = matches!(key, "redundancy" | "fec-when" | "fec-window");
        (of_repair && self.fec == Fec::Off).then_some((
            "redundancy, fec-when and fec-window do nothing without repair symbols: add fec=rlc, fec=raptorq or fec=rs",
            "fec",
        ))
    }

    /// Sets the values in `config`. `strict` is the key of the windows.
    pub fn tune(&self, strict: bool, config: &mut TransportConfig) {
        config.pf_max_retrans = self.pf.then_some(0);
        config.failed_probe_interval = self.probe_interval;
        if self.unblock {
            let TransportConfig {
                head_of_line, rto_min_strandcast, sack_delay_strandcast, tail_probes, ..
            } = TransportConfig::live();
            config.head_of_line = config.head_of_line.or(head_of_line);
            config.rto_min_strandcast = config.rto_min_strandcast.or(rto_min_strandcast);
            config.sack_delay_strandcast = config.sack_delay_strandcast.or(sack_delay_strandcast);
            config.tail_probes |= tail_probes;
        }
        if let Some(least) = self.rto_min {
            (config.rto_min, config.rto_min_strandcast) = (least, None);
        }
        config.rto_max = config.rto_max.max(config.rto_min);
        if let Some(cap) = self.redundancy_cap {
            config.redundancy = Some(f64::from(cap) / 100.0);
        }
        config.strict_rfc |= strict;
        if let Some(code) = self.fec.code() {
            let (redundancy, when) = (self.redundancy / 100.0, self.fec_when.into());
            let repair = RepairCoding { code, redundancy, when, window: self.fec_window as u16 };
            config.coding = Some(Coding::Repair(repair));
        }
    }
}
