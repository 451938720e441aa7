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
use crate::queue::Packet;
use crate::rules::Rules;

/// Stations that share a channel.
#[derive(Debug)]
pub struct Radio<P> {
    dcf: Dcf<P>,
    positions: Vec<Position>,
    movement: Option<Movement>,
}

/// Delay of a search for neighbours while frames on the air use both lists.
const POSTPONED: Duration = Duration::from_millis(1);

impl<P: Clone> Radio<P> {
    /// Stations at these places, with separate random streams under `label`.
    pub fn new(config: &RadioConfig, positions: Vec<Position>, seeds: &Seeds, label: &str) -> Self {
        let seeds = seeds.child(label);
        let rules = Rules::new(&config.dcf, &config.medium);
        let shadowing = seeds.stream("shadowing").u64();
        let medium = Medium::new(&config.medium, rules, &positions, shadowing);
        let movement = Movement::new(&config.mobility, &positions, &seeds);
        Radio { dcf: Dcf::new(medium, seeds.stream("backoff")), positions, movement }
    }

    /// Requests the alarm of the first movement. To be called once, before the run. Without mobility, the call has no
    /// effect.
    pub fn start(&self, out: &mut RadioOutput<P>) {
        if let Some(movement) = &self.movement {
            out.alarms.push((Instant::ZERO + movement.step(), Alarm::Move));
        }
    }

    /// Adds a packet of `bytes` at IP level to a station's interface queue; an `urgent` one goes to the head.
    pub fn send(
        &mut self,
        now: Instant,
        from: StationId,
        to: Destination,
        (packet, bytes, urgent): (P, u32, bool),
        out: &mut RadioOutput<P>,
    ) {
        let bytes = bytes + self.dcf.medium.receivers.rules.data_header;
        let packet = Packet { to: to.address(), bytes, queued: now, packet };
        self.dcf.enqueue(now, from.0, packet, urgent, out);
        self.dcf.ask(out);
    }

    /// Handles an alarm.
    pub fn handle_alarm(&mut self, now: Instant, alarm: Alarm, out: &mut RadioOutput<P>) {
        match alarm {
            Alarm::Frame(id) => self.dcf.frame_ends(now.as_nanos(), id, out),
            Alarm::Timer => self.dcf.alarm(now.as_nanos(), out),
            Alarm::Move => self.move_stations(now, out),
        }
        self.dcf.ask(out);
    }

    /// Renews positions and neighbours. Frames on the air keep the neighbours with which they began.
    fn move_stations(&mut self, now: Instant, out: &mut RadioOutput<P>) {
        let Some(movement) = &mut self.movement else { return };
        movement.advance(now.as_nanos(), &mut self.positions);
        let renewed = self.dcf.medium.moved(&self.positions);
        let next = if renewed { movement.step() } else { POSTPONED };
        out.alarms.push((now + next, Alarm::Move));
    }

    /// Removes the next packet for `to` from a station's interface queue.
    pub fn take_queued(&mut self, from: StationId, to: StationId) -> Option<P> {
        self.dcf.take(from.0, to)
    }

    /// Number of packets that a station's interface queue can still take.
    pub fn room(&self, station: StationId) -> usize {
        self.dcf.room(station.0)
    }

    /// Time for which a station has been idle since the start: it neither sent nor received nor sensed a
    /// carrier, had no NAV, and was in no exchange of frames.
    pub fn idle_time(&self, now: Instant, station: StationId) -> Duration {
        Duration::from_nanos(self.dcf.medium.receivers.stations[station.0 as usize].idle_time(now.as_nanos()))
    }

    /// Counters of a station until `now`.
    pub fn counters(&self, now: Instant, station: StationId) -> Counters {
        let counted = self.dcf.medium.receivers.counters[station.0 as usize];
        let idle_time = self.idle_time(now, station);
        let rest = (now - Instant::ZERO).saturating_sub(idle_time);
        Counters { idle_time, busy_time: rest.saturating_sub(counted.transmit_time), ..counted }
    }

    /// Graph of stations that can presently receive from each other, without regard to other frames.
    pub fn graph(&self) -> Graph {
        let medium = &self.dcf.medium;
        let decodable = |station: usize| {
            let all = medium.neighbours(station as u32).iter();
            all.filter(|n| n.power >= medium.receivers.thresholds.reception).map(|n| n.id).collect()
        };
        Graph::collect(self.positions.len(), decodable)
    }

    /// Position of a station. For a moving station, it is the position at the last step.
    pub fn position(&self, station: StationId) -> Position {
        self.positions[station.0 as usize]
    }
}
