//! The seal between sockets and an endpoint.
