//! Key generations: a chain of secrets, one for each 2^22 packet numbers.
