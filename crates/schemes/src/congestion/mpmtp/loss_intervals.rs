//! Loss rate of a path: the inverse of the mean loss interval of TFRC (RFC 5348 §5.4).

/// Weights of the last eight intervals, newest first (RFC 5348 §5.4, n = 8).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Segments between congestion events.
#[derive(Clone, Debug, Default)]
pub struct LossIntervals {
    /// I_0: segments since the last event.
    open: f64,
    /// I_1 and older intervals.
    closed: [f64; WEIGHTS.len()],
    count: usize,
}

impl LossIntervals {
    /// Counts `segments` that were acknowledged.
    pub fn on_acked(&mut self, segments: f64) {
        self.open += segments;
    }

    /// Records a congestion event. Returns `false` if nothing was acknowledged since the last event. The event then
    /// belongs to the last event.
    pub fn on_event(&mut self) -> bool {
        let new = self.open > 0.0;
        if new {
            self.closed.rotate_right(1);
            self.closed[0] = self.open;
            self.count = WEIGHTS.len().min(self.count + 1);
            self.open = 0.0;
        }
        new
    }

    /// p: congestion events per segment. 0 before the first event. The open interval counts if it raises the mean
    /// interval.
    pub fn rate(&self) -> f64 {
        let (mut closed, mut open, mut total) = (0.0, self.open * WEIGHTS[0], 0.0);
        for (i, interval) in self.closed[..self.count].iter().enumerate() {
            closed += WEIGHTS[i] * interval;
            total += WEIGHTS[i];
            if i + 1 < self.count {
                open += WEIGHTS[i + 1] * interval;
            }
        }
        let mean = closed.max(open);
        if total > 0.0 && mean > 0.0 { (total / mean).min(1.0) } else { 0.0 }
    }
}
