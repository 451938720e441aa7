//! What becomes of answers: cumulative counters of a link, and why there are none.

use std::collections::BTreeMap;

use strandcast_proto::policy::LinkSample;

use super::refusal::Refusal;
use super::station::Station;

/// How often interfaces were asked, and what came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonitorStats {
    /// Answers with counters.
    pub readings: u64,
    /// Answers that told of no station: not connected.
    pub alone: u64,
    /// Refusals.
    pub refused: u64,
    /// Why the last one was refused.
    pub last: Option<Refusal>,
}

/// A link's counters at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// For the transport.
    pub sample: LinkSample,
    /// Strength of the signal, where there is one station alone. The noise is not known, and so is no SNR.
    pub signal_dbm: Option<i8>,
}

/// More frames than any radio sends between two looks: a counter that seems to have gone so far began anew.
const MOST: u32 = 1 << 24;

/// Sums over a link's stations that only grow, whatever joins, leaves, begins anew or wraps. They begin at zero with the
/// first look.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// At the last look; `None` before the first.
    stations: Option<BTreeMap<[u8; 6], Station>>,
    total: LinkSample,
}

impl Tally {
    /// Takes in what the stations say now; `None` without any.
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
            // What was sent to a station that was not there at the last look was sent since then.
            let before =
                self.stations.as_ref().map(|all| all.get(&station.address).cloned().unwrap_or_default());
            let before = before.unwrap_or_else(|| station.clone());
            let step = |of: fn(&Station) -> Option<u32>| step(of(&before), of(station));
            let (sent, again) = (step(|s| s.tx_packets), step(|s| s.tx_retries));
            // A frame that is sent again is sent: errors are a share of what was on the air.
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

/// How far a counter of 32 bits has come.
fn step(before: Option<u32>, now: Option<u32>) -> u64 {
    let (before, now) = (before.unwrap_or(0), now.unwrap_or(before.unwrap_or(0)));
    let step = now.wrapping_sub(before);
    u64::from(if step < MOST { step } else { now })
}
