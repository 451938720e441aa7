//! One direction of one path: its key generations, packet numbers and replay window.
