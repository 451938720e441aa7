//! All constants of BBRv3, each with its section in draft-ietf-ccwg-bbr-06 (§2.5 to §2.10 name them).

use strandcast_proto::time::Duration;

/// BBR.LossThresh (§2.6): share of the packets of a round trip. If a larger share is lost, the amount in flight was
/// too high.
pub const LOSS_THRESHOLD: f64 = 0.02;
/// BBR.Beta (§2.6): least share of a bound that remains after congestion.
pub const BETA: f64 = 0.7;
/// BBR.Headroom (§2.6): share of inflight_longterm that BBR leaves to other flows while cruising.
pub const HEADROOM: f64 = 0.15;
/// BBR.MinPipeCwnd (§5.6.4.3), packets.
pub const MIN_PIPE_PACKETS: f64 = 4.0;
/// BBR.StartupPacingGain (§5.3.1.1).
pub const STARTUP_PACING_GAIN: f64 = 2.77;
/// BBR.DrainPacingGain (§5.3.2).
pub const DRAIN_PACING_GAIN: f64 = 0.5;
/// Pacing gain of ProbeBW_DOWN (§5.3.3.1).
pub const DOWN_PACING_GAIN: f64 = 0.9;
/// Pacing gain of ProbeBW_UP (§5.3.3.5).
pub const UP_PACING_GAIN: f64 = 1.25;
/// BBR.DefaultCwndGain (§5.3.1.1).
pub const CWND_GAIN: f64 = 2.0;
/// Window gain of ProbeBW_UP (§5.3.3.5).
pub const UP_CWND_GAIN: f64 = 2.25;
/// BBR.ProbeRTTCwndGain (§5.3.4.1).
pub const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// BBRStartupFullLossCnt (§5.3.1.3): number of ranges of lost packets in a round trip that may end Startup.
pub const STARTUP_LOST_RANGES: u32 = 6;
/// Round trips after which Drain is over (§5.3.2).
pub const DRAIN_ROUNDS: u64 = 3;
/// T_bbr (§5.3.3.8.2): least time between two probes for bandwidth.
pub const PROBE_WAIT: Duration = Duration::from_secs(2);
/// Range of the random time that is added to T_bbr.
pub const PROBE_WAIT_SPREAD: Duration = Duration::from_secs(1);
/// Bound of T_reno (§5.3.3.8.4), round trips.
pub const MAX_RENO_ROUNDS: f64 = 63.0;
/// BBR.ProbeRTTInterval (§5.3.4.1).
pub const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// BBR.ProbeRTTDuration (§5.3.4.1).
pub const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// BBR.MinRTTFilterLen (§5.5.7.2).
pub const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// BBR.ExtraAckedFilterLen (§5.5.9), round trips.
pub const EXTRA_ACKED_ROUNDS: u64 = 10;
/// BBR.PacingMarginPercent (§5.6.2), as a share.
pub const PACING_MARGIN: f64 = 0.01;
/// C.send_quantum (§5.6.3): time in seconds. The quantum is the number of bytes that leave in this time at the pacing
/// rate, but at most [`MAX_QUANTUM`].
pub const QUANTUM_SECONDS: f64 = 0.001;
/// The largest quantum, bytes.
pub const MAX_QUANTUM: f64 = 65_536.0;
