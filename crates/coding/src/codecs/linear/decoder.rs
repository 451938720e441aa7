//! Gaussian elimination, carried out each time a symbol arrives. Rows are kept in reduced row echelon form. A source
//! symbol is therefore known as soon as the received symbols determine it.
//!
//! Every decision depends only on the coefficients. The payloads are then combined in the same manner.

use std::collections::VecDeque;
use std::ops::Range;

use crate::codec::{Decoder, Outcome};
use crate::codecs::coefficients::Coefficients;
use crate::codecs::field::inverse;
use crate::codecs::kernel::{ALIGNMENT, Kernel, Term, row};

/// State of a column. A column represents a source symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// No row begins with this column.
    Free,
    /// A row with several columns begins with this column. The number is the index of the row.
    Leads(usize),
    /// The source symbol of this column is known. The number is the index of the row that has its payload.
    Known(usize),
}

/// Decoder of a random linear code, for a block or a window. The column of a symbol is its position modulo the
/// capacity.
#[derive(Debug)]
pub(crate) struct LinearDecoder {
    how: Coefficients,
    kernel: Kernel,
    length: usize,
    columns: Vec<Column>,
    /// Column of the oldest symbol.
    first: usize,
    /// Number of symbols that were dropped.
    forgotten: u64,
    rank: usize,
    /// Coefficients of the rows that have several columns.
    coefficients: Vec<u8>,
    payloads: Vec<u8>,
    /// First column of each row, or the column of the single symbol that the row contains.
    lead: Vec<usize>,
    /// Rows with several columns, in the order in which they arrived.
    active: Vec<usize>,
    unused: Vec<usize>,
    /// Positions, counted from the start, of symbols that became known and were not delivered yet.
    fresh: VecDeque<u64>,
    /// Row that is being added.
    taken: Vec<u8>,
    taken_payload: Vec<u8>,
    drawn: Vec<u8>,
    terms: Vec<Term>,
    /// Work so far ([`Decoder::work`]).
    work: u64,
}

/// Work in bytes of computing a coefficient or reading a column.
const DRAWN: usize = 8;
const LOOKED_AT: usize = 2;
/// Maximum number of rows that are changed when several columns are dropped at one time. A window that moves past lost
/// symbols changes fewer rows.
const MOST_CHANGED: usize = 1 << 15;

impl LinearDecoder {
    /// Returns a decoder for at most `capacity` source symbols of at most `length` bytes.
    pub(crate) fn new(how: Coefficients, capacity: usize, length: usize) -> Self {
        LinearDecoder {
            how,
            kernel: Kernel::new(),
            length,
            columns: vec![Column::Free; capacity],
            first: 0,
            forgotten: 0,
            rank: 0,
            coefficients: vec![0; capacity * row(capacity)],
            payloads: vec![0; capacity * row(length)],
            lead: vec![0; capacity],
            active: Vec::with_capacity(capacity),
            unused: (0..capacity).rev().collect(),
            fresh: VecDeque::with_capacity(2 * capacity),
            taken: vec![0; row(capacity)],
            taken_payload: vec![0; row(length)],
            drawn: vec![0; capacity],
            terms: Vec::with_capacity(capacity),
            work: 0,
        }
    }

    fn worked(&mut self, bytes: usize) {
        self.work += bytes as u64;
    }

    fn capacity(&self) -> usize {
        self.columns.len()
    }

    fn column(&self, place: usize) -> usize {
        (self.first + place) % self.capacity()
    }

    /// Returns the position of a column.
    fn place(&self, column: usize) -> usize {
        (column + self.capacity() - self.first) % self.capacity()
    }

    fn of(at: usize, width: usize) -> Range<usize> {
        at * width..(at + 1) * width
    }

    fn begin(&mut self, payload: &[u8]) {
        // The row is scaled twice and searched for a leading column.
        let rows = 2 * (row(self.capacity()) + row(self.length));
        self.worked(rows + LOOKED_AT * self.capacity());
        self.taken.fill(0);
        self.taken_payload[..payload.len()].copy_from_slice(payload);
        self.taken_payload[payload.len()..].fill(0);
    }

    /// Adds the row in `taken`. First the other rows reduce this row. Then its remainder reduces the other rows.
    fn take(&mut self) -> Outcome {
        let wide = row(self.length);
        self.reduce();
        let Some(lead) = (0..self.capacity()).map(|i| self.column(i)).find(|&c| self.taken[c] != 0) else {
            return Outcome::Redundant;
        };
        self.kernel.add(&mut self.taken_payload, &self.payloads, &self.terms);
        self.worked(self.terms.len() * wide);
        let factor = inverse(self.taken[lead]);
        self.kernel.scale(&mut self.taken, factor);
        self.kernel.scale(&mut self.taken_payload, factor);
        let at = self.unused.pop().expect("a row for each column, and this column had none");
        self.eliminate(lead);
        self.payloads[Self::of(at, wide)].copy_from_slice(&self.taken_payload);
        let width = row(self.capacity());
        self.coefficients[Self::of(at, width)].copy_from_slice(&self.taken);
        self.lead[at] = lead;
        self.columns[lead] = Column::Leads(at);
        self.active.push(at);
        self.rank += 1;
        self.settle();
        Outcome::Innovative
    }

    /// Subtracts known symbols and other rows from the coefficients in `taken`. The same terms are recorded for the
    /// payload of `taken`.
    fn reduce(&mut self) {
        let (width, wide) = (row(self.capacity()), row(self.length));
        self.terms.clear();
        for column in 0..self.capacity() {
            let coefficient = self.taken[column];
            if coefficient == 0 {
                continue;
            }
            let at = match self.columns[column] {
                Column::Free => continue,
                Column::Known(at) => {
                    self.taken[column] = 0;
                    at
                }
                Column::Leads(at) => {
                    let term = Term { coefficient, at: at * width };
                    self.kernel.add(&mut self.taken, &self.coefficients, &[term]);
                    self.work += width as u64;
                    at
                }
            };
            self.terms.push(Term { coefficient, at: at * wide });
        }
    }

    /// Eliminates the column `lead` from all rows with several columns. The elimination uses the row in `taken` for
    /// this.
    fn eliminate(&mut self, lead: usize) {
        let (width, wide) = (row(self.capacity()), row(self.length));
        self.work += (LOOKED_AT * self.active.len()) as u64;
        for &at in &self.active {
            let coefficient = self.coefficients[at * width + lead];
            if coefficient != 0 {
                let term = [Term { coefficient, at: 0 }];
                self.kernel.add(&mut self.coefficients[Self::of(at, width)], &self.taken, &term);
                self.kernel.add(&mut self.payloads[Self::of(at, wide)], &self.taken_payload, &term);
                self.work += (width + wide) as u64;
            }
        }
    }

    /// Converts each row with a single column to a known source symbol.
    fn settle(&mut self) {
        let width = row(self.capacity());
        let mut i = 0;
        while i < self.active.len() {
            let at = self.active[i];
            let mut held = 0;
            for part in self.coefficients[Self::of(at, width)].chunks_exact(ALIGNMENT) {
                self.work += ALIGNMENT as u64;
                held += part.iter().filter(|&&one| one != 0).count();
                if held > 1 {
                    break;
                }
            }
            if held > 1 {
                i += 1;
            } else {
                self.active.remove(i);
                self.know(at);
            }
        }
    }

    fn know(&mut self, at: usize) {
        let column = self.lead[at];
        self.columns[column] = Column::Known(at);
        self.fresh.push_back(self.forgotten + self.place(column) as u64);
    }

    /// Adds a source symbol whose column is in no row. The addition of this symbol needs no reduction.
    fn take_unheld(&mut self, column: usize, payload: &[u8]) {
        let wide = row(self.length);
        self.worked(wide);
        let at = self.unused.pop().expect("a row for each column, and this column had none");
        let bytes = &mut self.payloads[Self::of(at, wide)];
        bytes[..payload.len()].copy_from_slice(payload);
        bytes[payload.len()..].fill(0);
        self.lead[at] = column;
        self.rank += 1;
        self.know(at);
    }

    /// Removes a column. Every row with several columns that contains this column is dropped. Some information is lost,
    /// but each row is read only once.
    fn drop_holders(&mut self, column: usize) {
        let width = row(self.capacity());
        self.worked(LOOKED_AT * self.active.len());
        let (coefficients, columns) = (&self.coefficients, &mut self.columns);
        let (lead, unused, rank) = (&self.lead, &mut self.unused, &mut self.rank);
        self.active.retain(|&at| {
            let holds = coefficients[at * width + column] != 0;
            if holds {
                columns[lead[at]] = Column::Free;
                unused.push(at);
                *rank -= 1;
            }
            !holds
        });
    }

    /// Removes a column. A row that contains only this column, or that begins with it, is dropped. If several rows
    /// contain the column, one of them eliminates it from the others.
    fn drop_column(&mut self, column: usize) {
        let (width, wide) = (row(self.capacity()), row(self.length));
        self.worked(LOOKED_AT * (1 + self.active.len()));
        let gone = match self.columns[column] {
            Column::Known(at) => Some(at),
            Column::Leads(at) => {
                self.active.retain(|&one| one != at);
                Some(at)
            }
            Column::Free => {
                let holder = self.active.iter().position(|&at| self.coefficients[at * width + column] != 0);
                holder.map(|i| {
                    let at = self.active.remove(i);
                    self.taken.copy_from_slice(&self.coefficients[Self::of(at, width)]);
                    self.taken_payload.copy_from_slice(&self.payloads[Self::of(at, wide)]);
                    let factor = inverse(self.taken[column]);
                    self.kernel.scale(&mut self.taken, factor);
                    self.kernel.scale(&mut self.taken_payload, factor);
                    self.work += 2 * (width + wide) as u64;
                    self.eliminate(column);
                    self.columns[self.lead[at]] = Column::Free;
                    at
                })
            }
        };
        self.columns[column] = Column::Free;
        if let Some(at) = gone {
            self.rank -= 1;
            self.unused.push(at);
        }
    }
}

impl Decoder for LinearDecoder {
    fn source(&mut self, index: usize, payload: &[u8]) -> Outcome {
        if index >= self.capacity() || payload.len() > self.length {
            return Outcome::Refused;
        }
        let column = self.column(index);
        match self.columns[column] {
            Column::Known(_) => Outcome::Redundant,
            Column::Free if self.active.is_empty() => {
                self.take_unheld(column, payload);
                Outcome::Innovative
            }
            _ => {
                self.begin(payload);
                self.taken[column] = 1;
                self.take()
            }
        }
    }

    fn repair(&mut self, span: Range<usize>, seed: u32, payload: &[u8]) -> Outcome {
        let fits = span.start < span.end && span.end <= self.capacity() && payload.len() <= self.length;
        if !fits || !self.how.valid(seed) {
            return Outcome::Refused;
        }
        self.worked(LOOKED_AT * span.len());
        if span.clone().all(|place| matches!(self.columns[self.column(place)], Column::Known(_))) {
            return Outcome::Redundant;
        }
        self.begin(payload);
        self.worked(DRAWN * span.len());
        self.how.fill(seed, &mut self.drawn[..span.len()]);
        for (i, place) in span.enumerate() {
            let column = self.column(place);
            self.taken[column] = self.drawn[i];
        }
        self.take()
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn known(&self, index: usize) -> Option<&[u8]> {
        if index >= self.capacity() {
            return None;
        }
        match self.columns[self.column(index)] {
            Column::Known(at) => Some(&self.payloads[Self::of(at, row(self.length))][..self.length]),
            _ => None,
        }
    }

    fn next_known(&mut self) -> Option<usize> {
        loop {
            let place = self.fresh.pop_front()?;
            if place >= self.forgotten {
                return Some((place - self.forgotten) as usize);
            }
        }
    }

    fn forget(&mut self, count: usize) {
        if count >= self.capacity() {
            let forgotten = self.forgotten + count as u64;
            self.clear();
            self.forgotten = forgotten;
            return;
        }
        let mut changed = 0;
        for _ in 0..count {
            if changed > MOST_CHANGED {
                self.drop_holders(self.first);
            }
            changed += self.active.len();
            self.drop_column(self.first);
            self.first = self.column(1);
            self.forgotten += 1;
            while self.fresh.front().is_some_and(|&place| place < self.forgotten) {
                self.fresh.pop_front();
            }
            // A row may be left with a single column.
            self.settle();
        }
    }

    fn clear(&mut self) {
        self.worked(LOOKED_AT * self.capacity());
        self.columns.fill(Column::Free);
        self.unused.clear();
        self.unused.extend((0..self.columns.len()).rev());
        self.active.clear();
        self.fresh.clear();
        (self.first, self.forgotten, self.rank) = (0, 0, 0);
    }

    fn bound(&self) -> usize {
        // Columns, terms, lead, active, unused, twice fresh, drawn.
        let each = size_of::<Column>() + size_of::<Term>() + 5 * size_of::<usize>() + 1;
        let rows = (self.capacity() + 1) * (row(self.capacity()) + row(self.length));
        rows + self.capacity() * each + size_of::<Self>()
    }

    fn work(&self) -> u64 {
        self.work
    }
}
