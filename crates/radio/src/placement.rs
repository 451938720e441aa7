//! Initial positions of stations.

use strandcast_proto::seeds::Random;

use crate::graph::Graph;
use crate::place::Position;

/// Reason for which positions cannot be drawn or read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlacementError {
    /// No draw of random positions gave a connected graph.
    #[error(
        "{stations} stations in {width} m by {height} m were not connected at {range} m in any of {attempts} draws: \
         more stations, a smaller area or a longer range would do"
    )]
    NeverConnected {
        /// Number of stations.
        stations: usize,
        /// Width of the area in metres.
        width: f64,
        /// Height of the area in metres.
        height: f64,
        /// Maximum distance between neighbours in metres.
        range: f64,
        /// Number of draws.
        attempts: u32,
    },
    /// A line of a CSV file is not a position.
    #[error("line {line}: {text:?} is not a position: x and y in metres, separated by a comma")]
    BadLine {
        /// Line number, starting at 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
    /// The CSV file contains no positions.
    #[error("no positions: each line should have x and y in metres, separated by a comma")]
    Empty,
}

/// Returns a grid of `columns` × `rows` positions that are `spacing` metres apart. The positions are listed row by row
/// from the south-west corner.
pub fn grid(columns: usize, rows: usize, spacing: f64) -> Vec<Position> {
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
    places.map(|(column, row)| Position { x: column as f64 * spacing, y: row as f64 * spacing }).collect()
}

/// An area for random positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Width in metres.
    pub width: f64,
    /// Height in metres.
    pub height: f64,
}

/// Returns `stations` positions that are drawn uniformly from the area. The positions are drawn again, at most
/// `attempts` times, until their unit-disk graph at `range` metres is connected. Without `range`, the first draw is
/// returned.
///
/// # Errors
/// Returns an error if the graph of every draw is disconnected.
pub fn random(
    stations: usize,
    area: Area,
    range: Option<f64>,
    attempts: u32,
    random: &mut Random,
) -> Result<Vec<Position>, PlacementError> {
    let Area { width, height } = area;
    for _ in 0..attempts.max(1) {
        let place = |_| {
            let x = random.uniform(0.0, width);
            Position { x, y: random.uniform(0.0, height) }
        };
        let positions: Vec<Position> = (0..stations).map(place).collect();
        if range.is_none_or(|range| Graph::unit_disk(&positions, range).is_connected()) {
            return Ok(positions);
        }
    }
    let range = range.unwrap_or_default();
    Err(PlacementError::NeverConnected { stations, width, height, range, attempts: attempts.max(1) })
}

/// Returns the positions in lines `x,y`, in metres. The function skips empty lines, lines that begin with `#`, and a
/// first line without numbers (a heading).
///
/// # Errors
/// Returns an error if a line does not contain two finite numbers, or if the file contains no position.
pub fn parse_csv(text: &str) -> Result<Vec<Position>, PlacementError> {
    let mut positions = Vec::new();
    let mut heading = true;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let read = |field: &str| field.parse::<f64>().ok().filter(|n| n.is_finite());
        match fields[..] {
            [x, y] if read(x).is_some() && read(y).is_some() => {
                positions.push(Position { x: read(x).unwrap_or_default(), y: read(y).unwrap_or_default() });
            }
            [x, y] if heading && !x.is_empty() && !y.is_empty() && read(x).is_none() && read(y).is_none() => {
            }
            _ => return Err(PlacementError::BadLine { line: number + 1, text: line.into() }),
        }
        heading = false;
    }
    if positions.is_empty() { Err(PlacementError::Empty) } else { Ok(positions) }
}
