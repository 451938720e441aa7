//! Secrets, and what is derived from them (HKDF-SHA-256, RFC 5869).
