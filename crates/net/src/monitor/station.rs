//! nl80211's station information (`linux/nl80211.h`, `enum nl80211_attrs`, `nl80211_sta_info`, `nl80211_rate_info`).

use strandcast_proto::units::Rate;

use crate::netlink::message::{attributes, u16_at, u32_at};

/// The type of the request for all stations of an interface, and of each answer.
pub(super) const GET_STATION: u8 = 17;
const NEW_STATION: u8 = 19;

/// The interface's index, `u32`.
pub(super) const ATTR_IFINDEX: u16 = 3;
const ATTR_MAC: u16 = 6;
const ATTR_STA_INFO: u16 = 21;

const STA_INFO_SIGNAL: u16 = 7;
const STA_INFO_TX_BITRATE: u16 = 8;
const STA_INFO_RX_PACKETS: u16 = 9;
const STA_INFO_TX_PACKETS: u16 = 10;
const STA_INFO_TX_RETRIES: u16 = 11;
const STA_INFO_TX_FAILED: u16 = 12;
const STA_INFO_TX_BYTES64: u16 = 24;
const STA_INFO_RX_MPDUS: u16 = 36;
const STA_INFO_FCS_ERROR_COUNT: u16 = 37;

const RATE_INFO_BITRATE: u16 = 1;
const RATE_INFO_BITRATE32: u16 = 5;

/// Counters that the driver keeps for one station of an interface. For a client, the station is its access point.
/// `None`: the driver does not have this counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Station {
    /// Address of the station.
    pub(crate) address: [u8; 6],
    /// Packets sent to the station, including those that were given up.
    pub(crate) tx_packets: Option<u32>,
    /// Retransmissions.
    pub(crate) tx_retries: Option<u32>,
    /// Packets that were given up.
    pub(crate) tx_failed: Option<u32>,
    /// Bytes sent to the station.
    pub(crate) tx_bytes: Option<u64>,
    /// Frames received from the station, or packets if the driver does not count frames. Dropped frames are mostly
    /// duplicates and do not count as errors.
    pub(crate) rx_frames: Option<u32>,
    /// Frames received with a wrong checksum.
    pub(crate) rx_errors: Option<u32>,
    /// Signal strength of the last received frame.
    pub(crate) signal_dbm: Option<i8>,
    /// The transmit rate.
    pub(crate) tx_rate: Option<Rate>,
}

impl Station {
    /// Reads the attributes of an answer. Returns `None` if the answer describes no station.
    pub(super) fn parse(command: u8, payload: &[u8]) -> Option<Station> {
        if command != NEW_STATION {
            return None;
        }
        let (mut address, mut station) = (None, None);
        for (kind, value) in attributes(payload) {
            match kind {
                ATTR_MAC => address = value.try_into().ok(),
                ATTR_STA_INFO => station = Some(Station::of(value)),
                _ => {}
            }
        }
        Some(Station { address: address?, ..station? })
    }

    fn of(info: &[u8]) -> Station {
        let mut it = Station::default();
        let mut packets = None;
        for (kind, value) in attributes(info) {
            let number = || u32_at(value, 0);
            match kind {
                STA_INFO_SIGNAL => it.signal_dbm = value.first().map(|dbm| dbm.cast_signed()),
                STA_INFO_TX_BITRATE => it.tx_rate = rate(value),
                STA_INFO_RX_PACKETS => packets = number(),
                STA_INFO_TX_PACKETS => it.tx_packets = number(),
                STA_INFO_TX_RETRIES => it.tx_retries = number(),
                STA_INFO_TX_FAILED => it.tx_failed = number(),
                STA_INFO_TX_BYTES64 => it.tx_bytes = value.first_chunk().map(|b| u64::from_ne_bytes(*b)),
                STA_INFO_RX_MPDUS => it.rx_frames = number(),
                STA_INFO_FCS_ERROR_COUNT => it.rx_errors = number(),
                _ => {}
            }
        }
        it.rx_frames = it.rx_frames.or(packets);
        it
    }

    /// Returns whether the station's counters include frame errors.
    pub(super) fn counts_errors(&self) -> bool {
        self.tx_packets.is_some() && (self.tx_retries.is_some() || self.tx_failed.is_some())
    }
}

/// Reads a rate in units of 100 kbit/s. If both attributes are present, the one with more bits is used.
fn rate(info: &[u8]) -> Option<Rate> {
    let (mut narrow, mut wide) = (None, None);
    for (kind, value) in attributes(info) {
        match kind {
            RATE_INFO_BITRATE => narrow = u16_at(value, 0).map(u32::from),
            RATE_INFO_BITRATE32 => wide = u32_at(value, 0),
            _ => {}
        }
    }
    wide.or(narrow).filter(|rate| *rate > 0).map(|rate| Rate::from_bps(f64::from(rate) * 1e5))
}
