//! The side that connects.
