//! Stations that sense each other, and the power that they receive from each other.

use crate::cells::Cells;
use crate::config::{ConfigError, Interference, MediumConfig};
use crate::place::Position;
use crate::propagation::{mean_power, reach, shadowing};

/// A station in range of another station.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub id: u32,
    /// Received power in watts.
    pub power: f32,
}

/// Thresholds of received power in watts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    /// Minimum power at which a frame can be decoded.
    pub reception: f32,
    /// Minimum power at which a frame is sensed.
    pub sense: f32,
    /// Minimum power at which a frame counts as interference.
    floor: f32,
}

impl Thresholds {
    pub fn new(medium: &MediumConfig) -> Thresholds {
        let sense = mean_power(medium, medium.sense_range) as f32;
        let floor = match medium.interference {
            Interference::Pairwise => sense,
            // The sum of many frames below the threshold matters.
            Interference::Summed => sense / 10.0,
        };
        Thresholds { reception: mean_power(medium, medium.reception_range) as f32, sense, floor }
    }
}

/// Maximum number of pairs of stations in range. A pair counts once per direction. The list of pairs takes 400 MB, and
/// allows all pairs of 7000 stations.
const MOST_PAIRS: usize = 50_000_000;

/// Checks whether the lists of neighbours fit into memory.
///
/// # Errors
/// Returns an error if too many stations are in range of each other.
pub fn check_density(medium: &MediumConfig, positions: &[Position]) -> Result<(), ConfigError> {
    let reach = reach(medium, f64::from(Thresholds::new(medium).floor));
    let mut cells = Cells::default();
    cells.renew(positions, reach);
    let mut pairs = 0;
    for at in positions {
        pairs += cells.near(*at).filter(|&other| at.distance(positions[other as usize]) <= reach).count();
        // A station is counted near itself.
        if pairs > MOST_PAIRS + positions.len() {
            return Err(ConfigError::Density { stations: positions.len(), most: MOST_PAIRS });
        }
    }
    Ok(())
}

/// Neighbours of all stations in one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours {
    /// Offsets in `list`: the beginning of each station's neighbours, and the end of the list.
    begins: Vec<usize>,
    list: Vec<Neighbour>,
    cells: Cells,
}

impl Neighbours {
    /// Renews the neighbours of all stations. For each station they are sorted by number.
    pub fn renew(
        &mut self,
        medium: &MediumConfig,
        thresholds: &Thresholds,
        key: u64,
        positions: &[Position],
    ) {
        let reach = reach(medium, f64::from(thresholds.floor));
        self.cells.renew(positions, reach);
        self.begins.clear();
        self.list.clear();
        self.begins.push(0);
        for (id, at) in positions.iter().enumerate() {
            let id = id as u32;
            let first = self.list.len();
            for other in self.cells.near(*at) {
                let distance = at.distance(positions[other as usize]);
                if other == id || distance > reach {
                    continue;
                }
                let mut power = mean_power(medium, distance);
                if medium.shadowing > 0.0 {
                    power *= libm::pow(10.0, shadowing(key, id, other, medium.shadowing) / 10.0);
                }
                if power as f32 >= thresholds.floor {
                    self.list.push(Neighbour { id: other, power: power as f32 });
                }
            }
            self.list[first..].sort_unstable_by_key(|n| n.id);
            self.begins.push(self.list.len());
        }
    }

    #[inline]
    pub fn of(&self, station: u32) -> &[Neighbour] {
        &self.list[self.begins[station as usize]..self.begins[station as usize + 1]]
    }
}
