//! A channel that loses, repeats and reorders packets, driven by labelled random streams.

use strandcast_proto::seeds::{Random, Seeds};

/// Effects of a channel on packets.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Fraction of packets lost.
    pub loss: f64,
    /// Mean number of consecutive losses; 1 for independent losses.
    pub burst: f64,
    /// Fraction of packets that are delayed and arrive a few packets later.
    pub late: f64,
    /// Fraction of packets that arrive twice.
    pub twice: f64,
}

pub struct Channel {
    weather: Weather,
    random: Random,
    bad: bool,
    held: Vec<(usize, Vec<u8>)>,
}

impl Channel {
    pub fn new(weather: Weather, seeds: &Seeds) -> Self {
        Channel { weather, random: seeds.stream("channel"), bad: false, held: Vec::new() }
    }

    /// Gilbert's chain: packets are lost in a bad state that lasts `burst` packets on average.
    fn lost(&mut self) -> bool {
        let Weather { loss, burst, .. } = self.weather;
        if burst <= 1.0 {
            return self.random.chance(loss);
        }
        let leave = 1.0 / burst;
        let enter = loss * leave / (1.0 - loss);
        self.bad = if self.bad { !self.random.chance(leave) } else { self.random.chance(enter) };
        self.bad
    }

    /// Passes a packet to `arrive`, and then delayed packets whose time has arrived.
    pub fn carry(&mut self, packet: &[u8], mut arrive: impl FnMut(&[u8])) {
        self.held.iter_mut().for_each(|(wait, _)| *wait -= 1);
        for (_, late) in self.held.extract_if(.., |(wait, _)| *wait == 0) {
            arrive(&late);
        }
        if self.lost() {
            return;
        }
        let copies = 1 + usize::from(self.random.chance(self.weather.twice));
        for _ in 0..copies {
            if self.random.chance(self.weather.late) {
                self.held.push((1 + self.random.below(40) as usize, packet.to_vec()));
            } else {
                arrive(packet);
            }
        }
    }
}

/// Random messages of up to `most` bytes, `total` bytes together.
pub fn messages(seeds: &Seeds, most: usize, total: usize) -> Vec<Vec<u8>> {
    let mut random = seeds.stream("messages");
    let (mut made, mut left) = (Vec::new(), total);
    while left > 0 {
        // Most messages have the full length, some are short, some empty.
        let length = if random.chance(0.9) { most } else { random.below(most as u64) as usize };
        let mut message = vec![0; length.min(left)];
        random.fill(&mut message);
        left -= message.len();
        made.push(message);
    }
    made
}
