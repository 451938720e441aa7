//! Routes of flows' packets over radios.

use core::time::Duration;
use std::collections::BTreeMap;

use strandcast_proto::time::Instant;
use strandcast_radio::StationId;
use strandcast_routing::{Class, Datagram};
use strandcast_sim::net::{Frame, Packet, PacketMeta, RadioId, RadioNote};

use crate::result::RouteKind;

/// Time after which a packet that has not arrived is no longer tracked.
const LOST: Duration = Duration::from_secs(1);
/// Least time between two recorded routes of a flow. Without it, a flow whose packets alternate between paths would
/// record a route for each packet.
const APART: Duration = Duration::from_secs(1);

/// Records routes. For each flow, path and kind, it follows one packet at a time.
#[derive(Debug, Default)]
pub(super) struct RouteLog {
    followed: BTreeMap<(u32, u8, bool), Followed>,
    /// New routes, in order of time.
    pub taken: Vec<Taken>,
}

/// A route that a packet took.
#[derive(Debug)]
pub(super) struct Taken {
    pub flow: u32,
    pub at: Instant,
    pub kind: RouteKind,
    pub radio: RadioId,
    pub stations: Vec<StationId>,
}

#[derive(Debug, Default)]
struct Followed {
    packet: Option<u64>,
    since: Instant,
    stations: Vec<StationId>,
    /// Last recorded route, and its time.
    last: Vec<StationId>,
    at: Option<Instant>,
}

impl RouteLog {
    pub fn note(&mut self, now: Instant, radio: RadioId, note: &RadioNote<'_>) {
        match note {
            RadioNote::Offered { station, packet: Frame::Data(datagram), .. }
                if datagram.hops == 0 && datagram.source.0 == station.0 && datagram.body.meta.payload > 0 =>
            {
                self.begin(now, *station, datagram);
            }
            RadioNote::Received { station, packet: Frame::Data(datagram), .. } => {
                self.step(now, radio, *station, datagram);
            }
            _ => {}
        }
    }

    fn begin(&mut self, now: Instant, station: StationId, datagram: &Datagram<Packet>) {
        let followed = self.followed.entry(key(datagram)).or_default();
        let recent = followed.at.is_some_and(|at| now < at + APART);
        let busy = followed.packet.is_some() && now < followed.since + LOST;
        if recent || busy {
            return;
        }
        (followed.packet, followed.since) = (Some(datagram.body.meta.id), now);
        followed.stations.clear();
        followed.stations.push(station);
    }

    fn step(&mut self, now: Instant, radio: RadioId, station: StationId, datagram: &Datagram<Packet>) {
        let Some(followed) = self.followed.get_mut(&key(datagram)) else { return };
        if followed.packet != Some(datagram.body.meta.id) {
            return;
        }
        // This is a copy that took another route from some station on.
        followed.stations.truncate(usize::from(datagram.hops) + 1);
        followed.stations.push(station);
        if datagram.destination.0 != station.0 {
            return;
        }
        (followed.packet, followed.at) = (None, Some(now));
        if followed.last != followed.stations {
            followed.last.clone_from(&followed.stations);
            let kind = match (datagram.label, datagram.class) {
                (None, _) => RouteKind::Any,
                (Some(_), Class::Original) => RouteKind::Original,
                (Some(_), Class::Retransmission) => RouteKind::Retransmission,
            };
            let PacketMeta { flow, .. } = datagram.body.meta;
            self.taken.push(Taken { flow: flow.0, at: now, kind, radio, stations: followed.last.clone() });
        }
    }
}

fn key(datagram: &Datagram<Packet>) -> (u32, u8, bool) {
    let meta = &datagram.body.meta;
    (meta.flow.0, meta.path, datagram.class == Class::Retransmission)
}
