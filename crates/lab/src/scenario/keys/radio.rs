//! Keys of radios.

use strandcast_radio::Profile;

use crate::scenario::constants::{DCF, MEDIUM, MOBILITY};
use crate::scenario::sorts::{DISTANCE, FILE, SOME_DISTANCE, STATIONS, TEXT, whole, word, words_of};
use crate::scenario::typed::{Constants, Given, OneOf, Optional, table, variants};
use crate::scenario::value::TraceFile;

words_of!(Profile);

table! {
    /// Stations that share a channel of IEEE 802.11, and what routes their packets.
    RADIO: RadioKeys = "radio" {
        /// rules of the distributed coordination function that the stations follow
        profile: Given<Profile> = word().or("ns2"),
        /// routing protocol, with parameters as in `aomdv,split=even`
        routing: Given<String> = TEXT.or("aodv"),
        /// places of its stations
        place: OneOf<PlaceKind> = OneOf::of(&PLACE, "nodes with `x` and `y`"),
        /// its stations, by the names of nodes
        stations: Optional<Vec<String>> = STATIONS.otherwise("the nodes that `place` makes, or all that have a place"),
        /// propagation and interference
        medium: Constants = Constants::of(&MEDIUM, "the profile's"),
        /// single constants and rules of the distributed coordination function
        dcf: Constants = Constants::of(&DCF, "the profile's"),
        /// stations move by random waypoints
        mobility: Constants = Constants::of(&MOBILITY, "they stand still"),
    }
}

variants! {
    /// placement of stations
    PLACE: PlaceKind = "place" by "kind", Some("grid"), {
        /// In columns and rows.
        Grid = "grid": GridKeys,
        /// At random.
        Uniform = "uniform": RectangleKeys,
        /// As a file says.
        File = "file": FilePlaceKeys,
    }
}

table! {
    /// Keys of places that make nodes.
    NAMED: NamedKeys {
        /// nodes get this name, followed by their number, from 0 on
        prefix: Given<String> = TEXT.or("n"),
    }
}

table! {
    /// Nodes in columns and rows; numbers run along the rows.
    GRID: GridKeys = "place_grid" with NamedKeys {
        /// number of columns
        columns: Given<u32> = whole::<u32, 1, 1000>().required(),
        /// number of rows
        rows: Given<u32> = whole::<u32, 1, 1000>().or("1"),
        /// distance between neighbours
        spacing: Given<f64> = SOME_DISTANCE.required(),
    }
}

table! {
    /// Nodes at places drawn for each run, uniformly in a rectangle; drawn again while some cannot reach others.
    RECTANGLE: RectangleKeys = "place_uniform" with NamedKeys {
        /// number of nodes
        count: Given<u32> = whole::<u32, 1, 100_000>().required(),
        /// extent from west to east
        width: Given<f64> = SOME_DISTANCE.required(),
        /// extent from south to north
        height: Given<f64> = SOME_DISTANCE.required(),
    }
}

table! {
    /// Nodes where a file says: a line per node, `x,y` in metres.
    FILE_PLACE: FilePlaceKeys = "place_file" with NamedKeys {
        /// the file
        file: Given<TraceFile> = FILE.required(),
    }
}

table! {
    /// A host or router. With a place it can be a station of a radio.
    NODE: NodeKeys = "node" {
        /// metres to the east
        x: Optional<f64> = DISTANCE.otherwise("it has no place"),
        /// metres to the north
        y: Optional<f64> = DISTANCE.otherwise("it has no place"),
    }
}
