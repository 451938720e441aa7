//! A session: its handshakes' keys, and where its paths are.
