//! What a seal counted.
