//! Where stations are placed at the start.

use strandcast_proto::seeds::Random;

use crate::graph::Graph;
use crate::place::Position;

/// Positions that cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlacementError {
    /// No draw of random positions was connected.
    #[error(
        "{stations} stations in {width} m by {height} m were not connected at {range} m in any of {attempts} draws: \
         more stations, a smaller area or a longer range would do"
    )]
    NeverConnected {
        /// How many stations.
        stations: usize,
        /// Of the area, metres.
        width: f64,
        /// Of the area, metres.
        height: f64,
        /// Within which stations are neighbours, metres.
        range: f64,
        /// How often positions were drawn.
        attempts: u32,
    },
    /// A line of a CSV file is no position.
    #[error("line {line}: {text:?} is not a position: x and y in metres, separated by a comma")]
    BadLine {
        /// Its number, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// A CSV file without positions.
    #[error("no positions: each line should have x and y in metres, separated by a comma")]
    Empty,
}

/// `columns` × `rows` positions, `spacing` metres apart, row by row from the south-west corner.
pub fn grid(columns: usize, rows: usize, spacing: f64) -> Vec<Position> {
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
    places.map(|(column, row)| Position { x: column as f64 * spacing, y: row as f64 * spacing }).collect()
}

/// An area for random positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Metres.
    pub width: f64,
    /// Metres.
    pub height: f64,
}

/// `stations` positions drawn uniformly from the area, drawn again while their unit-disk graph at `range` metres is not
/// connected, `attempts` times at most. Without a range the first draw counts.
///
/// # Errors
/// No draw was connected.
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

/// Positions from lines `x,y` in metres. Empty lines, lines that begin with `#` and a first line without numbers (a heading) are
/// skipped.
///
/// # Errors
/// A line has no two finite numbers, or there is no position.
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
