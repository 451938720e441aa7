//! Converts answers to cumulative counters of a link.

use std::collections::BTreeMap;

use strandcast_proto::policy::LinkSample;

use super::station::Station;
use crate::netlink::Refusal;

/// Number of queries of interfaces, by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MonitorStats {
    /// Answers with counters.
    pub readings: u64,
    /// Answers without a station. The interface is not connected to an access point.
    pub unassociated: u64,
    /// Refusals.
    pub refused: u64,
    /// The reason of the last refusal.
    pub last: Option<Refusal>,
}

/// A link's counters at one time.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// The sample for the transport.
    pub sample: LinkSample,
    /// Signal strength, if there is exactly one station. The noise is unknown, so that the SNR is unknown as well.
    pub signal_dbm: Option<i8>,
}

/// Greatest plausible growth of a counter between two queries. If a counter grows by more, it was reset. No radio is
/// that fast.
const MAX_STEP: u32 = 1 << 24;

/// Sums over the stations of a link. The sums never decrease. The sums stay correct when stations join or leave, and
/// when counters are reset or overflow. The sums are zero at the first query.
#[derive(Debug, Default)]
pub(super) struct LinkCounters {
    /// Stations of the last query. `None` before the first query.
    stations: Option<BTreeMap<[u8; 6], Station>>,
    total: LinkSample,
}

impl LinkCounters {
    /// Adds the current counters of the stations. Returns `None` without a station.
    ///
    /// # Errors
    /// [`Refusal::NoCounters`].
    pub(super) fn update(&mut self, now: &[Station]) -> Result<Option<Reading>, Refusal> {
        let counted = now.iter().any(Station::counts_errors);
        if !counted && !now.is_empty() {
            return Err(Refusal::NoCounters);
        }
        let (mut packets, mut bytes) = (0, 0);
        for station in now {
            // If a station is new since the last query, all its frames count.
            let before =
                self.stations.as_ref().map(|all| all.get(&station.address).cloned().unwrap_or_default());
            let before = before.unwrap_or_else(|| station.clone());
            let step = |of: fn(&Station) -> Option<u32>| step(of(&before), of(station));
            let (sent, again) = (step(|s| s.tx_packets), step(|s| s.tx_retries));
            // Each transmission of a retransmitted frame counts as sent, because errors are a fraction of all
            // transmissions.
            self.total.tx_frames += sent + again;
            self.total.tx_retries += again;
            self.total.tx_failed += step(|s| s.tx_failed);
            self.total.rx_frames += step(|s| s.rx_frames);
            self.total.rx_errors += step(|s| s.rx_errors);
            if let Some(all) = station.tx_bytes {
                let before = before.tx_bytes.filter(|before| *before <= all);
                (packets, bytes) = (packets + sent, bytes + (all - before.unwrap_or(0)));
            }
        }
        let only = now.first().filter(|_| now.len() == 1);
        self.stations = Some(now.iter().map(|s| (s.address, s.clone())).collect());
        if !counted {
            return Ok(None);
        }
        if packets > 0 {
            self.total.frame_bytes = Some(bytes as f64 / packets as f64);
        }
        self.total.phy_rate = only.and_then(|s| s.tx_rate);
        Ok(Some(Reading { sample: self.total.clone(), signal_dbm: only.and_then(|s| s.signal_dbm) }))
    }
}

/// The increase of a 32-bit counter.
fn step(before: Option<u32>, now: Option<u32>) -> u64 {
    let (before, now) = (before.unwrap_or(0), now.unwrap_or(before.unwrap_or(0)));
    let step = now.wrapping_sub(before);
    u64::from(if step < MAX_STEP { step } else { now })
}
