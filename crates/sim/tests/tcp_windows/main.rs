//! Congestion windows in whole TCP and MPTCP connections, held to the closed forms of their RFCs and papers.

mod curve;
mod fairness;
mod multipath;
mod network;
mod utilisation;
