//! Questions to the kernel, and its announcements (netlink).

#[cfg(target_os = "linux")]
mod kernel;
pub(crate) mod message;
mod refusal;

#[cfg(target_os = "linux")]
pub(crate) use kernel::Kernel;
pub use refusal::Refusal;
