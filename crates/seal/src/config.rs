//! What a seal is made of, and its limits.
