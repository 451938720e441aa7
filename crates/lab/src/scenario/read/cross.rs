//! Reads the tables of background load.

use super::app::shape;
use super::flow::{links, tcp};
use super::link::has_rate;
use crate::scenario::keys::cross::{CROSS, PACKET_SIZE};
use crate::scenario::model::{Cross, PacketSize, Scenario};
use crate::scenario::route::{source, way};
use crate::scenario::table::{Read, Table, named};
use crate::scenario::value::{Named, TcpValue};

/// Sizes of packets in the core of the Internet with their shares by number, as in Xu et al., 2015.
const SIZES: [(&str, u32, f64); 5] = [
    ("b44", 44, 0.49),
    ("b576", 576, 0.012),
    ("b628", 628, 0.021),
    ("b1300", 1300, 0.017),
    ("b1500", 1500, 0.46),
];

/// Reads background load. The network must already be complete.
pub(super) fn cross(table: &Table<'_>, network: &Scenario) -> Read<Cross> {
    let via = table.item(&CROSS.via.key)?;
    let names = via.names()?.1;
    // A first link that does not exist has no beginning. The route reports the error about it.
    let from = source(&network.links, &names).unwrap_or_default();
    let names = links(&via, from, None, network)?;
    if let Some(radio) = names.iter().find(|name| network.radio.contains_key(*name)) {
        let message = format!("radio `{radio}` carries no background load; use flows with transport udp");
        return Err(via.error(message));
    }
    let hops = way(network, from, None, &names).expect("the links were read as a way");
    let first = hops.first().and_then(|hop| network.direction(hop)).expect("a way has a first link");
    if !has_rate(&first.rate) {
        let message = format!(
            "the load is a share of the rate of link `{}`, which is infinite; give it a rate",
            names[0]
        );
        return Err(via.error(message));
    }
    let mut tcp = tcp(table)?;
    tcp.set.entry("recovery".into()).or_insert_with(|| TcpValue::Word("newreno".into()));
    Ok(Cross {
        via: names,
        load: table.get(&CROSS.load)?,
        tcp_share: table.get(&CROSS.tcp_share)?,
        sizes: sizes(table)?,
        on: table.get(&CROSS.on)?,
        off: table.get(&CROSS.off)?,
        shape: shape(table)?,
        sources: table.get(&CROSS.sources)?,
        lead: table.get(&CROSS.lead)?,
        tcp,
    })
}

fn sizes(table: &Table<'_>) -> Read<Named<PacketSize>> {
    let given = table.each(&CROSS.sizes)?;
    if given.is_empty() {
        let size = |(name, bytes, share): (&str, u32, f64)| (name.to_string(), PacketSize { bytes, share });
        return Ok(SIZES.map(size).into_iter().collect());
    }
    named(given, |table| {
        Ok(PacketSize { bytes: table.get(&PACKET_SIZE.bytes)?, share: table.get(&PACKET_SIZE.share)? })
    })
}
