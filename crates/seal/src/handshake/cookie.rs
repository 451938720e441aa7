//! Retry cookies: bound to an address and a message.
