//! The shared medium: the frames on the air, and the stations in range of each frame. This module does not use packets.

use crate::config::MediumConfig;
use crate::frame::Frame;
use crate::neighbours::{Neighbour, Neighbours, Thresholds};
use crate::place::Position;
use crate::receivers::Receivers;
use crate::rules::Rules;

#[derive(Debug)]
pub(crate) struct Medium {
    pub receivers: Receivers,
    config: MediumConfig,
    shadowing: u64,
    /// Two lists of neighbours. A frame ends with the list with which it began. While stations move, the two lists
    /// alternate.
    lists: [Neighbours; 2],
    list: usize,
    on_air: [u32; 2],
}

impl Medium {
    pub fn new(config: &MediumConfig, rules: Rules, positions: &[Position], shadowing: u64) -> Medium {
        let thresholds = Thresholds::new(config);
        let mut lists: [Neighbours; 2] = Default::default();
        lists[0].renew(config, &thresholds, shadowing, positions);
        Medium {
            receivers: Receivers::new(rules, thresholds, positions.len()),
            config: config.clone(),
            shadowing,
            lists,
            list: 0,
            on_air: [0; 2],
        }
    }

    /// Renews the list of neighbours. Returns false if frames on the air still use the older list. The caller then
    /// tries again later.
    pub fn moved(&mut self, positions: &[Position]) -> bool {
        let next = 1 - self.list;
        if self.on_air[next] > 0 {
            return false;
        }
        self.lists[next].renew(&self.config, &self.receivers.thresholds, self.shadowing, positions);
        self.list = next;
        true
    }

    pub fn neighbours(&self, station: u32) -> &[Neighbour] {
        self.lists[self.list].of(station)
    }

    /// Starts a frame on the air. Returns the frame's number, which is valid until the frame ends.
    pub fn begin(&mut self, now: u64, mut frame: Frame) -> u32 {
        frame.list = self.list as u8;
        self.on_air[self.list] += 1;
        let id = self.receivers.frames.insert(frame);
        self.receivers.transmits(now, &frame);
        for &neighbour in self.lists[self.list].of(frame.from) {
            self.receivers.meet(now, neighbour, id, &frame);
        }
        id
    }

    /// Ends a frame at all stations.
    pub fn end(&mut self, now: u64, id: u32) {
        let frame = *self.receivers.frames.get(id);
        let list = usize::from(frame.list);
        self.on_air[list] -= 1;
        self.receivers.stations[frame.from as usize].air_is_free(now);
        for &neighbour in self.lists[list].of(frame.from) {
            self.receivers.leave(now, neighbour, id, &frame);
        }
    }
}
