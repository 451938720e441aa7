//! Reads the tables of radios and the places of nodes.

use std::collections::BTreeSet;

use strandcast_radio::RadioConfig;
use strandcast_radio::placement::{PlacementError, parse_csv};

use crate::scenario::constants::keyed;
use crate::scenario::error::hint;
use crate::scenario::keys::radio::{FILE_PLACE, GRID, NAMED, NODE, PlaceKind, RADIO, RECTANGLE};
use crate::scenario::keys::root::ROOT;
use crate::scenario::model::{Node, Scenario};
use crate::scenario::radio::{Placement, Radio};
use crate::scenario::table::{Read, Table};
use crate::scenario::value::Named;

/// Reads a node, with its position if it has one.
pub(super) fn node(table: &Table<'_>) -> Read<Node> {
    let place = match (table.maybe(&NODE.x)?, table.maybe(&NODE.y)?) {
        (Some(x), Some(y)) => Some([x, y]),
        (None, None) => None,
        (Some(_), None) => return Err(table.error("a place has `x` and `y`; also give `y`")),
        (None, Some(_)) => return Err(table.error("a place has `x` and `y`; also give `x`")),
    };
    Ok(Node { place })
}

/// Reads all radios. The nodes that their placements create are added to `nodes`.
pub(super) fn radios(root: &Table<'_>, nodes: &mut Named<Node>) -> Read<Named<Radio>> {
    let tables = root.each(&ROOT.radio)?;
    // Nodes that places create come first, because other radios may also have them as stations.
    let mut places = Vec::new();
    let mut placed: BTreeSet<String> =
        nodes.iter().filter(|(_, node)| node.place.is_some()).map(|(name, _)| name.clone()).collect();
    for (_, table) in &tables {
        let (place, own) = made(table)?;
        for name in &own {
            if !placed.insert(name.clone()) {
                let message = format!(
                    "it would make node `{name}`, which already has a place; choose another `prefix`"
                );
                return Err(table.error_at(&RADIO.place.key, message));
            }
            nodes.insert(name.clone(), Node { place: None });
        }
        places.push((place, own));
    }
    let mut radios: Named<Radio> = Named::new();
    let mut of_radios = BTreeSet::new();
    let mut moving = false;
    for ((name, table), (place, own)) in tables.into_iter().zip(places) {
        let radio = radio(&table, place, stations(&table, own, &placed, nodes)?)?;
        let shared = radio.stations.iter().any(|station| !of_radios.insert(station.clone()));
        moving |= !radio.mobility.is_empty();
        if shared && moving {
            let message =
                "stations of several radios can't move; leave `mobility` out, or take other stations";
            return Err(table.error(message));
        }
        radios.insert(name, radio);
    }
    Ok(radios)
}

fn radio(table: &Table<'_>, place: Placement, stations: Vec<String>) -> Read<Radio> {
    let profile = table.get(&RADIO.profile)?;
    let mut config = RadioConfig::of(profile);
    let medium = keyed(table, &RADIO.medium, &mut config.medium)?;
    let dcf = keyed(table, &RADIO.dcf, &mut config.dcf)?;
    let mobility = keyed(table, &RADIO.mobility, &mut config.mobility)?;
    config.check().map_err(|wrong| table.error(wrong.to_string().replace('-', "_")))?;
    let (profile, routing) = (profile.word().to_owned(), table.get(&RADIO.routing)?);
    Ok(Radio { profile, routing, place, stations, medium, dcf, mobility })
}

fn place(kind: PlaceKind, table: &Table<'_>) -> Read<Placement> {
    let prefix = || table.get(&NAMED.prefix);
    Ok(match kind {
        PlaceKind::Grid => Placement::Grid {
            prefix: prefix()?,
            columns: table.get(&GRID.columns)?,
            rows: table.get(&GRID.rows)?,
            spacing: table.get(&GRID.spacing)?,
        },
        PlaceKind::Uniform => Placement::Uniform {
            prefix: prefix()?,
            count: table.get(&RECTANGLE.count)?,
            width: table.get(&RECTANGLE.width)?,
            height: table.get(&RECTANGLE.height)?,
        },
        PlaceKind::File => Placement::File { prefix: prefix()?, file: table.get(&FILE_PLACE.file)? },
    })
}

/// Reads the placement of a radio. Returns the names of the nodes that it creates.
fn made(radio: &Table<'_>) -> Read<(Placement, Vec<String>)> {
    if !radio.has(&RADIO.place) {
        return Ok((Placement::Nodes, Vec::new()));
    }
    let (kind, table) = radio.kind(&RADIO.place)?;
    let place = place(kind, &table)?;
    if let Placement::File { file, .. } = &place {
        let item = table.item(&FILE_PLACE.file.key)?;
        parse_csv(&file.text).map_err(|wrong| match wrong {
            PlacementError::BadLine { line, ref text } => {
                let message = format!("\"{text}\" is not a place; it is x and y in metres, as `120.5,80`");
                item.error_in(file, line, &message)
            }
            other => item.error(format!("{}: {other}", file.path.display())),
        })?;
    }
    let bad = |prefix: &str| prefix.chars().any(|c| c.is_control() || c == '#');
    if place.prefix().is_some_and(bad) {
        return Err(table.error_at(&NAMED.prefix.key, "names of nodes have no `#` and no control characters"));
    }
    let nodes = place.nodes();
    Ok((place, nodes))
}

fn stations(
    table: &Table<'_>,
    own: Vec<String>,
    placed: &BTreeSet<String>,
    nodes: &Named<Node>,
) -> Read<Vec<String>> {
    let stations = match table.maybe(&RADIO.stations)? {
        Some(given) => given,
        None if own.is_empty() => placed.iter().cloned().collect(),
        None => own,
    };
    let mut seen = BTreeSet::new();
    for name in &stations {
        let wrong = |message: String| Err(table.error_at(&RADIO.stations.key, message));
        if !nodes.contains_key(name) {
            return wrong(format!(
                "there is no node `{name}`{}",
                hint(name, nodes.keys().map(String::as_str))
            ));
        }
        if !placed.contains(name) {
            return wrong(format!("node `{name}` has no place; give [nodes.{name}] `x` and `y`"));
        }
        if !seen.insert(name) {
            return wrong(format!("station `{name}` is listed twice; leave one out"));
        }
    }
    if stations.len() < 2 {
        let message =
            "a radio has at least two stations; give nodes `x` and `y`, or `place = { kind = \"grid\", … }`";
        return Err(table.error(message));
    }
    Ok(stations)
}

/// Checks that no link and no radio have the same name. `via` uses both kinds of names.
pub(super) fn names_differ(root: &Table<'_>, network: &Scenario) -> Read<()> {
    match network.radio.keys().find(|name| network.links.contains_key(*name)) {
        Some(name) => {
            let message = format!("radio `{name}` has the same name as a link; rename one of them");
            Err(root.error_at(&ROOT.radio.key, message))
        }
        None => Ok(()),
    }
}
