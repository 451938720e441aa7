//! A seal and its endpoint.
