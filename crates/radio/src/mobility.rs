//! Movement of stations by random waypoints.

use core::time::Duration;

use strandcast_proto::seeds::{Random, Seeds};

use crate::config::MobilityConfig;
use crate::place::Position;

/// Minimum speed in metres per second. At speeds near 0, more and more stations would stop.
const MIN_SPEED: f64 = 0.01;
/// Minimum duration of a leg in nanoseconds. Without it, an area without extent would give an endless sequence of empty
/// legs.
const MIN_LEG: u64 = 1_000_000;

/// State of the movement of all stations.
#[derive(Debug)]
pub(crate) struct Movement {
    config: MobilityConfig,
    walkers: Vec<Walker>,
}

/// One leg of a station's movement. Times of a leg are in nanoseconds.
#[derive(Debug)]
struct Walker {
    from: Position,
    to: Position,
    leaves: u64,
    arrives: u64,
    random: Random,
}

impl Movement {
    /// Returns a movement that starts at `positions`; `None` if no station moves. Each station first pauses.
    pub fn new(config: &MobilityConfig, positions: &[Position], seeds: &Seeds) -> Option<Movement> {
        let walker = |(id, &at): (usize, &Position)| {
            let random = seeds.stream(&format!("waypoints/{id}"));
            Walker { from: at, to: at, leaves: 0, arrives: 0, random }
        };
        let walkers = positions.iter().enumerate().map(walker).collect();
        (config.speed_max > 0.0).then(|| Movement { config: config.clone(), walkers })
    }

    /// Returns the interval at which positions are renewed.
    pub fn step(&self) -> Duration {
        self.config.step.max(Duration::from_millis(1))
    }

    /// Writes the positions of all stations at `now`.
    pub fn advance(&mut self, now: u64, positions: &mut [Position]) {
        for (walker, position) in self.walkers.iter_mut().zip(positions) {
            *position = walker.at(now, &self.config);
        }
    }
}

impl Walker {
    fn at(&mut self, now: u64, config: &MobilityConfig) -> Position {
        let pause = config.pause.as_nanos() as u64;
        while now >= self.arrives + pause {
            self.go_on(pause, config);
        }
        if now >= self.arrives || now <= self.leaves {
            return if now >= self.arrives { self.to } else { self.from };
        }
        let share = (now - self.leaves) as f64 / (self.arrives - self.leaves) as f64;
        let between = |a: f64, b: f64| a + (b - a) * share;
        Position { x: between(self.from.x, self.to.x), y: between(self.from.y, self.to.y) }
    }

    /// Starts the next leg of a station's movement.
    fn go_on(&mut self, pause: u64, config: &MobilityConfig) {
        let x = self.random.uniform(config.area_x, config.area_x + config.area_width);
        let y = self.random.uniform(config.area_y, config.area_y + config.area_height);
        let speed = self.random.uniform(config.speed_min, config.speed_max).max(MIN_SPEED);
        self.from = self.to;
        self.to = Position { x, y };
        self.leaves = self.arrives + pause;
        self.arrives = self.leaves + ((self.from.distance(self.to) / speed * 1e9) as u64).max(MIN_LEG);
    }
}
