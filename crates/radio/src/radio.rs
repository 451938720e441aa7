//! The radio: stations on one channel.

use core::time::Duration;

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

use crate::address::{Destination, StationId};
use crate::config::RadioConfig;
use crate::counters::Counters;
use crate::dcf::Dcf;
use crate::graph::Graph;
use crate::medium::Medium;
use crate::mobility::Movement;
use crate::output::{Alarm, RadioOutput};
use crate::place::Position;
use crate::queue::{Packet, Priority};
use crate::rules::Rules;

/// A radio: stations that share a channel.
#[derive(Debug)]
pub struct Radio<P> {
    dcf: Dcf<P>,
    positions: Vec<Position>,
    movement: Option<Movement>,
}

/// Delay of the search for neighbours if frames on the air use both lists.
const POSTPONED: Duration = Duration::from_millis(1);

impl<P: Clone> Radio<P> {
    /// Creates a radio with stations at `positions`. The random streams of the radio have the label `label`.
    pub fn new(config: &RadioConfig, positions: Vec<Position>, seeds: &Seeds, label: &str) -> Self {
        let seeds = seeds.child(label);
        let rules = Rules::new(&config.dcf, &config.medium);
        let shadowing = seeds.stream("shadowing").u64();
        let medium = Medium::new(&config.medium, rules, &positions, shadowing);
        let movement = Movement::new(&config.mobility, &positions, &seeds);
        Radio { dcf: Dcf::new(medium, seeds.stream("backoff")), positions, movement }
    }

    /// Requests the alarm for the first movement of stations. This method must be called once, before the run. Without
    /// mobility, it has no effect.
    pub fn start(&self, out: &mut RadioOutput<P>) {
        if let Some(movement) = &self.movement {
            out.alarms.push((Instant::ZERO + movement.step(), Alarm::Move));
        }
    }

    /// Adds a packet of `bytes` bytes at IP level to a station's interface queue. The packet's priority decides its
    /// place.
    pub fn send(
        &mut self,
        now: Instant,
        from: StationId,
        to: Destination,
        (packet, bytes, priority): (P, u32, Priority),
        out: &mut RadioOutput<P>,
    ) {
        let bytes = bytes + self.dcf.medium.receivers.rules.data_header;
        let packet = Packet { to: to.address(), bytes, queued: now, priority, packet };
        self.dcf.enqueue(now, from.0, packet, out);
        self.dcf.ask(out);
    }

    /// Handles an alarm that this radio requested.
    pub fn handle_alarm(&mut self, now: Instant, alarm: Alarm, out: &mut RadioOutput<P>) {
        match alarm {
            Alarm::Frame(id) => self.dcf.frame_ends(now.as_nanos(), id, out),
            Alarm::Timer => self.dcf.alarm(now.as_nanos(), out),
            Alarm::Move => self.move_stations(now, out),
        }
        self.dcf.ask(out);
    }

    /// Renews the positions of stations and their neighbours. Frames on the air keep the neighbours that they had at
    /// their beginning.
    fn move_stations(&mut self, now: Instant, out: &mut RadioOutput<P>) {
        let Some(movement) = &mut self.movement else { return };
        movement.advance(now.as_nanos(), &mut self.positions);
        let renewed = self.dcf.medium.moved(&self.positions);
        let next = if renewed { movement.step() } else { POSTPONED };
        out.alarms.push((now + next, Alarm::Move));
    }

    /// Removes and returns the next packet for `to` in the interface queue of station `from`.
    pub fn take_queued(&mut self, from: StationId, to: StationId) -> Option<P> {
        self.dcf.take(from.0, to)
    }

    /// Returns the number of packets for which a station's interface queue has room.
    pub fn room(&self, station: StationId) -> usize {
        self.dcf.room(station.0)
    }

    /// Returns the time for which a station has been idle since the start. An idle station neither sends nor receives
    /// nor senses a carrier, has no NAV, and is in no exchange of frames.
    pub fn idle_time(&self, now: Instant, station: StationId) -> Duration {
        Duration::from_nanos(self.dcf.medium.receivers.stations[station.0 as usize].idle_time(now.as_nanos()))
    }

    /// Returns the counters of a station until `now`.
    pub fn counters(&self, now: Instant, station: StationId) -> Counters {
        let counted = self.dcf.medium.receivers.counters[station.0 as usize];
        let idle_time = self.idle_time(now, station);
        let rest = (now - Instant::ZERO).saturating_sub(idle_time);
        Counters { idle_time, busy_time: rest.saturating_sub(counted.transmit_time), ..counted }
    }

    /// Returns the graph of stations that can now receive from each other, without regard to other frames.
    pub fn graph(&self) -> Graph {
        let medium = &self.dcf.medium;
        let decodable = |station: usize| {
            let all = medium.neighbours(station as u32).iter();
            all.filter(|n| n.power >= medium.receivers.thresholds.reception).map(|n| n.id).collect()
        };
        Graph::collect(self.positions.len(), decodable)
    }

    /// Returns the position of a station. For a moving station, it is the position at the last step of the movement.
    pub fn position(&self, station: StationId) -> Position {
        self.positions[station.0 as usize]
    }
}
