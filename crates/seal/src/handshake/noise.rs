//! Noise by snow: pattern, prologue, randomness from seeded streams.
