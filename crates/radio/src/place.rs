//! Positions of stations.

/// A place on the plane, metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// Distance to the east.
    pub x: f64,
    /// Distance to the north.
    pub y: f64,
}

impl Position {
    /// Metres to `other`.
    pub fn distance(self, other: Position) -> f64 {
        libm::hypot(self.x - other.x, self.y - other.y)
    }
}
