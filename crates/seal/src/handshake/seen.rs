//! Ephemeral keys that were answered before.
