//! What a seal reports.
