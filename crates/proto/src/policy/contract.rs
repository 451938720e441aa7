//! The contract every policy must keep.
