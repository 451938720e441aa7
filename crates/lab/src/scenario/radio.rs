//! Radios of a scenario.

use serde::Serialize;
use strandcast_keys::{BadValue, Keyed};
use strandcast_radio::placement::parse_csv;
use strandcast_radio::{Profile, RadioConfig};

use super::value::{Named, TraceFile};

/// `[radio.NAME]`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Radio {
    /// Rules that the radio's stations follow (`ns2`).
    pub profile: String,
    /// Routing protocol with parameters (`aomdv,split=even`).
    pub routing: String,
    /// Places of its stations.
    pub place: Placement,
    /// Stations of the radio, by the names of their nodes. The address of a station is its position in this list.
    pub stations: Vec<String>,
    /// Constants of [`strandcast_radio::MediumConfig`] that differ from the profile, by key.
    pub medium: Named<String>,
    /// Keys of [`strandcast_radio::DcfConfig`] with their values.
    pub dcf: Named<String>,
    /// Keys of [`strandcast_radio::MobilityConfig`] with their values.
    pub mobility: Named<String>,
}

/// `place = { kind = "grid", … }`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Placement {
    /// Stations are nodes that have positions.
    Nodes,
    /// Nodes in columns and rows, numbered along the rows.
    Grid {
        /// Prefix of the names of the nodes.
        prefix: String,
        /// Nodes from west to east.
        columns: u32,
        /// Nodes from south to north.
        rows: u32,
        /// Metres between neighbours.
        spacing: f64,
    },
    /// Nodes anywhere in a rectangle, drawn for each run.
    Uniform {
        /// Prefix of the names of the nodes.
        prefix: String,
        /// Number of nodes.
        count: u32,
        /// Metres from west to east.
        width: f64,
        /// Metres from south to north.
        height: f64,
    },
    /// Nodes at the positions of a file, one line per node: `x,y` in metres.
    File {
        /// Prefix of the names of the nodes.
        prefix: String,
        /// The file.
        file: TraceFile,
    },
}

impl Placement {
    /// Names of the nodes that the placement creates, in order.
    pub fn nodes(&self) -> Vec<String> {
        let count = match self {
            Placement::Nodes => 0,
            Placement::Grid { columns, rows, .. } => columns * rows,
            Placement::Uniform { count, .. } => *count,
            Placement::File { file, .. } => parse_csv(&file.text).map_or(0, |places| places.len() as u32),
        };
        let prefix = self.prefix().unwrap_or_default();
        (0..count).map(|number| format!("{prefix}{number}")).collect()
    }

    /// Prefix of the names of the created nodes. `None` if the placement does not create nodes.
    pub fn prefix(&self) -> Option<&str> {
        match self {
            Placement::Nodes => None,
            Placement::Grid { prefix, .. }
            | Placement::Uniform { prefix, .. }
            | Placement::File { prefix, .. } => Some(prefix),
        }
    }
}

impl Radio {
    /// Constants of the scenario: those of the profile, with the values that the scenario replaces.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn config(&self) -> Result<RadioConfig, BadValue> {
        let mut config = RadioConfig::of(Profile::from_word(&self.profile).unwrap_or(Profile::Ns2));
        for (key, value) in self.medium.iter().chain(&self.dcf).chain(&self.mobility) {
            config.set(&key.replace('_', "-"), value)?;
        }
        Ok(config)
    }
}
