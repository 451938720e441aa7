//! Stations sorted into square cells. A search near a place then need not visit all stations.

use crate::place::Position;

/// Lists of stations, by cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    west: f64,
    south: f64,
    side: f64,
    columns: usize,
    rows: usize,
    /// Offsets in `order`: the beginning of each cell's stations, and the end of the list.
    begins: Vec<u32>,
    order: Vec<u32>,
}

impl Cells {
    /// Sorts stations into cells that are at least as wide as `reach`. All stations within reach of a place are then in
    /// the nine cells around it.
    pub fn renew(&mut self, positions: &[Position], reach: f64) {
        let bounds = |of: fn(&Position) -> f64| {
            let low = positions.iter().map(of).fold(f64::INFINITY, f64::min);
            let high = positions.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
            if low <= high { (low, high) } else { (0.0, 0.0) }
        };
        let ((west, east), (south, north)) = (bounds(|p| p.x), bounds(|p| p.y));
        // The number of cells grows with the number of stations, even if they are far apart.
        let most = (libm::ceil(libm::sqrt(positions.len() as f64)) + 1.0) * 2.0;
        let side = reach.max((east - west) / most).max((north - south) / most);
        let number = |length: f64| (length / side) as usize + 1;
        (self.west, self.south, self.side) = (west, south, side);
        (self.columns, self.rows) = (number(east - west), number(north - south));
        self.sort(positions);
    }

    /// Sorts by counting: `order[begins[c]..begins[c + 1]]` are the stations of cell c.
    fn sort(&mut self, positions: &[Position]) {
        self.begins.clear();
        self.begins.resize(self.columns * self.rows + 1, 0);
        for at in positions {
            let cell = self.cell(*at);
            self.begins[cell] += 1;
        }
        for cell in 1..self.begins.len() {
            self.begins[cell] += self.begins[cell - 1];
        }
        self.order.clear();
        self.order.resize(positions.len(), 0);
        // Each cell is filled backwards, so that its end becomes its beginning.
        for (id, at) in positions.iter().enumerate().rev() {
            let cell = self.cell(*at);
            self.begins[cell] -= 1;
            self.order[self.begins[cell] as usize] = id as u32;
        }
    }

    fn place(&self, at: Position) -> (usize, usize) {
        let column = ((at.x - self.west) / self.side) as usize;
        let row = ((at.y - self.south) / self.side) as usize;
        (column.min(self.columns - 1), row.min(self.rows - 1))
    }

    fn cell(&self, at: Position) -> usize {
        let (column, row) = self.place(at);
        row * self.columns + column
    }

    /// Returns the stations in the cells around a place. The returned stations include all stations within reach of the
    /// place.
    pub fn near(&self, at: Position) -> impl Iterator<Item = u32> {
        let (column, row) = self.place(at);
        let columns = column.saturating_sub(1)..=(column + 1).min(self.columns - 1);
        let rows = row.saturating_sub(1)..=(row + 1).min(self.rows - 1);
        rows.flat_map(move |row| {
            let (first, last) = (row * self.columns + columns.start(), row * self.columns + columns.end());
            &self.order[self.begins[first] as usize..self.begins[last + 1] as usize]
        })
        .copied()
    }
}
