//! Table of the constants of the standards and of other programs.
//!
//! Sources: for `rfc`, the section in the comment of each line. For `ns2`, ns-2.35: `tcl/lib/ns-default.tcl` and its
//! use in `tcp/tcp.cc` and `tcp/tcp-sink.cc` (read back from the program: `Agent/TCP set window_` and so on). For
//! `ns3`, ns-3.37: the attributes of `TcpSocket`, `TcpSocketBase` and `RttEstimator`. For `linux`, Linux 6:
//! `include/net/tcp.h` and `Documentation/networking/ip-sysctl.rst`.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use strandcast_keys::Keyed;

use super::config::{Config, ConfigError, InitialSsthresh, Recovery, by_name};
use super::value::TcpValue;

/// Profile: the source of a flow's initial constants.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The constants of the standards.
    Rfc,
    /// The defaults of ns-2.35 (`Agent/TCP/Newreno` to `Agent/TCPSink`).
    Ns2,
    /// The defaults of ns-3.37.
    Ns3,
    /// The defaults of Linux.
    Linux,
}

const MS: fn(u64) -> Duration = Duration::from_millis;
const S: fn(u64) -> Duration = Duration::from_secs;

impl Profile {
    /// All profiles with their names.
    pub const ALL: [(&'static str, Profile); 4] =
        [("rfc", Profile::Rfc), ("ns2", Profile::Ns2), ("ns3", Profile::Ns3), ("linux", Profile::Linux)];

    /// Returns the profile's value in a line of the table.
    fn of<T: Copy>(self, line: [T; 4]) -> T {
        line[self as usize]
    }

    /// Returns the constants of the profile. The columns of the table are in the order rfc, ns2, ns3, linux.
    #[rustfmt::skip]
    pub(super) fn config(self) -> Config {
        use InitialSsthresh::{ReceiveWindow, Unbounded};
        use Recovery::{NewReno, Sack};
        Config {
            // RFC 6675; ns-2: the class of the agent; ns-3: Sack true; Linux: tcp_sack 1.
            recovery: self.of([Sack, NewReno, Sack, Sack]),
            // RFC 3042; ns-2: singledup_ 1; ns-3: LimitedTransmit true.
            limited_transmit: self.of([true, true, true, true]),
            // RFC 5681 §3.2; numdupacks_; ReTxThreshold; tcp_reordering before it adapts.
            dup_threshold: self.of([3, 3, 3, 3]),
            // ns-2: maxburst_ 0.
            max_burst: self.of([0, 0, 0, 0]),
            // ns-2: NewReno's send_much(0, 0, 2) while in fast recovery.
            recovery_burst: self.of([0, 2, 0, 0]),
            // RFC 6298 (5.1): only if it is not running; ns-2: reset_rtx_timer in dupack_action; Linux: tcp_rearm_rto.
            fast_retransmit_restarts_timer: self.of([false, true, false, true]),
            // RFC 6582 §3.2 step 3 sets the window then and no more; ns-2: recv_newack_helper calls opencwnd.
            full_ack_grows: self.of([false, true, false, false]),
            // RFC 5681 §3.1; ns-2: slowdown at each timeout; ns-3 and Linux: not while in the loss state.
            backoff_cuts_ssthresh: self.of([false, true, false, false]),
            // RFC 5681 §4.1: the initial window; Linux: tcp_slow_start_after_idle 1.
            restart_window: self.of([3, 0, 0, 10]),
            // RFC 9293 §3.7.4 enables it unless the application objects, as one of live media does;
            // TcpNoDelay true.
            nagle: self.of([false, false, false, false]),
            // Ethernet's 1500 bytes less headers; packetSize_; SegmentSize; 1500 less headers and timestamps.
            segment: self.of([1460, 1000, 536, 1448]),
            // RFC 5681 §3.1 for this segment size; windowInit_; InitialCwnd; TCP_INIT_CWND (RFC 6928).
            initial_window: self.of([3, 2, 10, 10]),
            // RFC 5681 §3.1; ns-2: reset() sets ssthresh_ to window_.
            initial_ssthresh: self.of([Unbounded, ReceiveWindow, Unbounded, Unbounded]),
            // RFC 6298 (2.1); rtxcur_init_; ConnTimeout; TCP_TIMEOUT_INIT.
            rto_initial: self.of([S(1), S(3), S(3), S(1)]),
            // RFC 6298 (2.4); minrto_; MinRto; TCP_RTO_MIN.
            rto_min: self.of([S(1), MS(200), S(1), MS(200)]),
            // Linux bounds mdev_max, which is added to the smoothed round-trip time.
            rto_min_above_srtt: self.of([false, false, false, true]),
            // RFC 6298 (2.5); maxrto_; TcpSocketBase::ReTxTimeout; TCP_RTO_MAX.
            rto_max: self.of([S(60), S(60), S(60), S(120)]),
            // RFC 6298 §4 finds 100 ms or less good; tcpTick_; ClockGranularity; HZ = 1000.
            granularity: self.of([MS(1), MS(10), MS(1), MS(1)]),
            // ns-2: syn_ true: the first packet has no data and opens the window when it is acknowledged.
            handshake: self.of([true, true, true, true]),
            // RFC 7323 is an option; timestamps_ false; Timestamp true; tcp_timestamps 1.
            timestamps: self.of([false, false, true, true]),
            // RFC 5681 §4.2; TCPSink (TCPSink/DelAck: 2); DelAckCount; Linux, outside of quick-ack mode.
            ack_every: self.of([2, 1, 2, 2]),
            // RFC 5681 §4.2: at most 500 ms, usually 200 ms; TCPSink/DelAck interval_; DelAckTimeout;
            // TCP_DELACK_MIN.
            ack_delay: self.of([MS(200), MS(100), MS(200), MS(40)]),
            // RFC 7323 gives no value, 1 MiB is this project's; window_ 20 packets; RcvBufSize; half of
            // tcp_rmem's 6 MiB.
            receive_window: self.of([1 << 20, 20_000, 131_072, 3 << 20]),
            // Number that fits 40 bytes of options (RFC 2018 §3); maxSackBlocks_; with timestamps.
            sack_blocks: self.of([4, 3, 3, 3]),
            // IP 20 and TCP 20; tcpip_base_hdr_size_.
            header: self.of([40, 40, 40, 40]),
            // RFC 7323 appendix A; ts_option_size_.
            timestamp_bytes: self.of([12, 10, 12, 12]),
            // RFC 2018 §3 with two bytes of padding; ns-2: acknowledgements have packetSize_ 40 with any
            // contents.
            sack_header_bytes: self.of([4, 0, 4, 4]),
            sack_block_bytes: self.of([8, 0, 8, 8]),
            multipath: false,
            // RFC 8684 §3.3: Data ACK and DSN of 8 octets, checksum, padding; acknowledgements the Data ACK alone.
            mapping_bytes: self.of([28, 28, 28, 28]),
            data_ack_bytes: self.of([12, 12, 12, 12]),
            // Not in RFC 8684; mptcp_rcv_buf_optimization of the Linux implementation.
            opportunistic: self.of([false, false, false, true]),
        }
    }
}

impl From<Profile> for Config {
    fn from(profile: Profile) -> Self {
        profile.config()
    }
}

impl Config {
    /// Returns the constants of the profile with this name, after replacing some of them.
    ///
    /// # Errors
    /// Returns the first error, with the most similar valid value.
    pub fn of_profile<'a>(
        profile: &str,
        replaced: impl IntoIterator<Item = (&'a str, TcpValue)>,
    ) -> Result<Self, ConfigError> {
        let mut config = Config::from(profile.parse::<Profile>()?);
        for (key, value) in replaced {
            config.set(key, &value)?;
        }
        config.validate()?;
        Ok(config)
    }

    /// Returns the names of all keys.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        Keyed::keys(&Config::from(Profile::Rfc)).into_iter().map(|key| key.name)
    }
}

impl FromStr for Profile {
    type Err = ConfigError;
    fn from_str(word: &str) -> Result<Self, ConfigError> {
        by_name("tcp profile", word, &Profile::ALL)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Profile::ALL[*self as usize].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table in `docs/models/tcp.md` equals the table above.
    #[test]
    fn the_documentation_has_the_same_table() {
        let document = include_str!("../../../../docs/models/tcp.md");
        let columns = Profile::ALL.map(|(_, profile)| Config::from(profile).values().collect::<Vec<_>>());
        for (i, key) in Config::keys().enumerate() {
            let values = columns.each_ref().map(|column| column[i].1.as_str()).join(" | ");
            let row = format!("| `{key}` | {values} |");
            assert!(document.contains(&row), "docs/models/tcp.md lacks {row}");
        }
    }

    #[test]
    fn names_lead_to_profiles_that_make_sense() {
        for (name, profile) in Profile::ALL {
            assert_eq!(name.parse(), Ok(profile));
            assert_eq!(profile.to_string(), name);
            assert_eq!(Config::from(profile).validate(), Ok(()));
        }
    }
}
