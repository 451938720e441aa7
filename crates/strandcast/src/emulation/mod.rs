//! Emulated networks: real programs run over the network of a scenario, in real time.
//!
//! The two ends of a flow are network namespaces with a TUN device for each path of the flow. Packets that programs
//! write to a device cross the simulated network, and leave it by the device of the same path at the other end.
//!
//! The near end has a route to every address over each path, and prefers the first path. A program there that binds to
//! the address of a device uses the path of that device. The far end has [`FAR_HOST`] and [`FAR_HOST_6`], to which every
//! path leads. The module needs Linux, `/dev/net/tun` and the program `ip`.
//!
//! ```no_run
//! use std::path::Path;
//! use std::process::Command;
//!
//! use strandcast::Scheme;
//! use strandcast::emulation::{FAR_HOST, Network};
//! use strandcast::lab::scenario::Document;
//! use strandcast::lab::simulation::{Emulation, End};
//!
//! let (scenario, _) = Document::open(Path::new("scenarios/home.toml"), &[])?.read()?;
//! let emulation = Emulation::new(&scenario, &Scheme::rfc9260(), 1, "video")?;
//! // This thread is the near end from now on.
//! let network = Network::start(emulation, 1500)?;
//! let mut ping = Command::new("ping");
//! ping.args(["-c", "3"]).arg(FAR_HOST.to_string());
//! network.spawn(End::Near, ping)?.wait()?;
//! for line in network.figures().lines() {
//!     println!("{line}");
//! }
//! network.end_programs();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod devices;
mod ends;
mod figures;
mod network;
mod pump;

pub use devices::{FAR_HOST, FAR_HOST_6, MAX_PATHS, PathDevice};
pub use figures::{Figures, LinkFigures, Packets, Punctuality};
pub use network::Network;
