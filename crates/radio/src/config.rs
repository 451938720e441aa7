//! Configuration of a radio, and profiles of IEEE 802.11 DCF.

use core::time::Duration;

use strandcast_keys::{keys, words};

words! {
    /// A rate of IEEE 802.11b.
    pub enum Rate {
        /// 1 Mbit/s.
        R1 = "1",
        /// 2 Mbit/s.
        R2 = "2",
        /// 5.5 Mbit/s.
        R5 = "5.5",
        /// 11 Mbit/s.
        R11 = "11",
    }
}

impl Rate {
    /// Returns the rate in units of 500 kbit/s, as in the rate fields of the standard.
    pub const fn half_megabits(self) -> u64 {
        match self {
            Rate::R1 => 2,
            Rate::R2 => 4,
            Rate::R5 => 11,
            Rate::R11 => 22,
        }
    }

    /// Returns the rate in bits per second.
    pub const fn bps(self) -> u64 {
        self.half_megabits() * 500_000
    }
}

words! {
    /// Rules that the stations follow where implementations of DCF differ.
    pub enum Profile {
        /// The MAC of ns-2.35 with its default `bugFix_timer_`.
        Ns2 = "ns2",
        /// IEEE 802.11-2007, clause 9.
        Standard = "standard",
        /// The DCF of ns-3.37.
        Ns3 = "ns3",
    }
}

words! {
    /// Decrease of power with distance.
    pub enum Propagation {
        /// Friis below the crossover distance, two rays beyond it.
        TwoRay = "two-ray",
        /// Friis.
        FreeSpace = "free-space",
        /// Friis up to 1 m, and a power of the distance beyond it.
        LogDistance = "log-distance",
    }
}

words! {
    /// Interference between frames that overlap.
    pub enum Interference {
        /// In pairs: a frame is compared with each other frame separately.
        Pairwise = "pairwise",
        /// A frame is compared with the sum of all others.
        Summed = "summed",
    }
}

words! {
    /// Effect of a frame with errors on the stations that sensed it.
    pub enum Eifs {
        /// Such stations set their NAV to EIFS and defer DIFS after it.
        Nav = "nav",
        /// Such stations wait EIFS instead of DIFS, until the next frame without errors.
        Interval = "interval",
        /// No effect.
        Off = "off",
    }
}

words! {
    /// Time for which a station waits for CTS or ACK.
    pub enum Timeout {
        /// The whole response, and 4 µs of propagation.
        Whole = "whole",
        /// The first bits of the response: SIFS, a slot and `rx-start-delay`; if a frame is then being
        /// received, its end is awaited.
        Start = "start",
    }
}

words! {
    /// Scope of the retry counters.
    pub enum Retries {
        /// One pair per station: a CTS clears the short counter, and both continue with the next packet.
        Station = "station",
        /// One pair per packet: each packet has the full number of attempts.
        Packet = "packet",
    }
}

keys! {
    /// The medium.
    pub struct MediumConfig {
        /// decrease of power with distance
        propagation: Propagation = Propagation::TwoRay,
        /// path loss exponent of log-distance propagation
        exponent: f64 [1.5, 6.0] = 3.0,
        /// standard deviation of log-normal shadowing, per pair of stations
        shadowing: f64 [0.0, 20.0, "dB"] = 0.0,
        /// antennas above the ground
        antenna_height: f64 [0.1, 100.0, "m"] = 1.5,
        /// carrier frequency
        frequency: f64 [1.0, 100_000.0, "MHz"] = 914.0,
        /// frames are decoded up to this distance
        reception_range: f64 [0.1, 100_000.0, "m"] = 250.0,
        /// frames are sensed up to this distance
        sense_range: f64 [0.1, 100_000.0, "m"] = 550.0,
        /// interference between overlapping frames
        interference: Interference = Interference::Pairwise,
        /// a frame being received survives others that are weaker by this (summed: their sum)
        capture: f64 [-20.0, 100.0, "dB"] = 10.0,
        /// ratio at which frames at `basic_rate` survive: RTS, CTS, ACK and broadcasts
        basic_capture: f64 [-20.0, 100.0, "dB"] = 10.0,
        /// summed: ratio to the sum of all others above which the start of a frame is noticed
        preamble_capture: f64 [-20.0, 100.0, "dB"] = -20.0,
    }
}

keys! {
    /// IEEE 802.11 DCF. The defaults are profile `ns2`.
    pub struct DcfConfig {
        /// rate of unicast data
        data_rate: Rate = Rate::R11,
        /// rate of RTS, CTS, ACK and broadcasts
        basic_rate: Rate = Rate::R1,
        /// unicast frames longer than this, MAC header and FCS included, are announced by RTS and CTS
        rts_threshold: u32 [0, 100_000, "bytes"] = 0,
        /// MAC header and FCS of a data frame, and other bytes before an IP packet
        data_header: u32 [0, 200, "bytes"] = 34,
        /// preamble and PLCP header before each frame
        preamble: u32 [0, 1000, "us"] = 192,
        /// slot time
        slot: u32 [1, 1000, "us"] = 20,
        /// SIFS
        sifs: u32 [1, 1000, "us"] = 10,
        /// minimum contention window
        cw_min: u32 [1, 65_535, "slots"] = 31,
        /// maximum contention window
        cw_max: u32 [1, 65_535, "slots"] = 1023,
        /// attempts of an RTS or of a short frame, 0 without limit
        short_retry_limit: Option<u32> [0, 255] = Some(7),
        /// attempts of a frame above the RTS threshold, 0 without limit
        long_retry_limit: Option<u32> [0, 255] = Some(4),
        /// packets an interface queue holds, the one being sent included
        queue: usize [1, 100_000, "packets"] = 50,
        /// backoff is drawn from 0 to cw slots, else to cw - 1
        inclusive_draw: bool = false,
        /// a packet that meets a medium idle for DIFS leaves without backoff
        immediate_access: bool = false,
        /// effect of a frame with errors on the stations that sensed it
        eifs: Eifs = Eifs::Nav,
        /// time for which CTS and ACK are awaited
        timeout: Timeout = Timeout::Whole,
        /// time until the start of a frame is known, in timeout=start
        rx_start_delay: u32 [0, 1000, "us"] = 192,
        /// slots are counted only DIFS after a timeout
        difs_after_timeout: bool = true,
        /// CTS, and data after it, are sent only if the medium is idle
        sense_before_response: bool = true,
        /// data above the RTS threshold are accepted only after a CTS
        data_needs_cts: bool = true,
        /// a NAV set by an RTS ends if no frame follows
        reset_nav: bool = false,
        /// scope of the retry counters
        retries: Retries = Retries::Station,
        /// frames last whole microseconds
        whole_microseconds: bool = false,
    }
}

impl DcfConfig {
    /// Returns the constants and rules of a profile.
    pub fn of(profile: Profile) -> Self {
        let ns2 = DcfConfig::default();
        match profile {
            Profile::Ns2 => ns2,
            Profile::Standard => DcfConfig {
                data_header: 36,
                inclusive_draw: true,
                immediate_access: true,
                eifs: Eifs::Interval,
                timeout: Timeout::Start,
                difs_after_timeout: false,
                sense_before_response: false,
                data_needs_cts: false,
                reset_nav: true,
                retries: Retries::Packet,
                whole_microseconds: true,
                ..ns2
            },
            Profile::Ns3 => DcfConfig {
                difs_after_timeout: true,
                retries: Retries::Station,
                ..DcfConfig::of(Profile::Standard)
            },
        }
    }
}

keys! {
    /// Movement by random waypoints: a station moves to a uniformly drawn point at a uniformly drawn speed,
    /// pauses, and draws the next point.
    pub struct MobilityConfig {
        /// minimum speed
        speed_min: f64 [0.0, 1000.0, "m/s"] = 0.0,
        /// maximum speed, 0 if no station moves
        speed_max: f64 [0.0, 1000.0, "m/s"] = 0.0,
        /// pause at each point
        pause: Duration [0, 1_000_000, "s"] = Duration::ZERO,
        /// interval at which positions and neighbours are renewed
        step: Duration [1, 10_000, "ms"] = Duration::from_millis(100),
        /// west end of the area in which stations move
        area_x: f64 [-1_000_000.0, 1_000_000.0, "m"] = 0.0,
        /// south end of the area in which stations move
        area_y: f64 [-1_000_000.0, 1_000_000.0, "m"] = 0.0,
        /// stations move within this width
        area_width: f64 [0.0, 1_000_000.0, "m"] = 1000.0,
        /// stations move within this height
        area_height: f64 [0.0, 1_000_000.0, "m"] = 1000.0,
    }
}

keys! {
    /// Constants of the medium and of every station on it. The defaults are profile `ns2`.
    pub struct RadioConfig {
        with medium: MediumConfig,
        with dcf: DcfConfig,
        with mobility: MobilityConfig,
    }
}

/// Ratios in dB of ns-3.37 at which half of the frames survive: at 11 Mbit/s (1000 bytes), and at 1 Mbit/s (20 to 60
/// bytes), by its error rates of DSSS. The third value is its threshold for a preamble.
const CAPTURE_NS3: (f64, f64, f64) = (6.0, -6.0, 4.0);

impl RadioConfig {
    /// Returns the constants and rules of a profile.
    pub fn of(profile: Profile) -> Self {
        let mut medium = MediumConfig::default();
        if profile == Profile::Ns3 {
            medium.interference = Interference::Summed;
            (medium.capture, medium.basic_capture, medium.preamble_capture) = CAPTURE_NS3;
        }
        RadioConfig { medium, dcf: DcfConfig::of(profile), mobility: MobilityConfig::default() }
    }

    /// Checks whether the values are consistent.
    ///
    /// # Errors
    /// Returns an error if two values contradict each other.
    pub fn check(&self) -> Result<(), ConfigError> {
        let RadioConfig { medium, dcf, mobility } = self;
        if medium.sense_range < medium.reception_range {
            return Err(ConfigError::SenseRange);
        }
        if dcf.cw_max < dcf.cw_min {
            return Err(ConfigError::Window);
        }
        if mobility.speed_max < mobility.speed_min {
            return Err(ConfigError::Speed);
        }
        Ok(())
    }
}

/// Inconsistent values in the configuration of a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The sense range is shorter than the reception range: some frames could be decoded but not sensed.
    #[error("sense_range is shorter than reception_range")]
    SenseRange,
    /// The maximum contention window is below the minimum.
    #[error("cw_max is less than cw_min")]
    Window,
    /// The maximum speed is below the minimum.
    #[error("speed_max is less than speed_min")]
    Speed,
    /// The lists of neighbours would need too much memory.
    #[error(
        "{stations} stations have more than {most} neighbours in total; fewer stations, a larger area or a shorter range \
         would do"
    )]
    Density {
        /// Number of stations.
        stations: usize,
        /// Maximum number of neighbours of all stations in total.
        most: usize,
    },
}
