//! Why an interface gives no counters.

/// Why an interface gives no counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The kernel does not speak nl80211.
    #[error("the system knows no Wi-Fi")]
    NoFamily,
    /// Not for this user.
    #[error("not permitted")]
    NotPermitted,
    /// The interface is gone, no Wi-Fi, or its driver does not tell.
    #[error("the interface tells nothing of stations")]
    NotWireless,
    /// There are stations, but their frames are not counted, or not those in error.
    #[error("the interface does not count frame errors")]
    NoCounters,
    /// No answer in time.
    #[error("no answer")]
    Late,
    /// An answer that is none.
    #[error("the answer cannot be read")]
    Malformed,
    /// Anything else; the system's error number.
    #[error("system error {0}")]
    System(i32),
}

impl Refusal {
    /// The meaning of an error number.
    pub(super) fn of(errno: i32) -> Refusal {
        match errno {
            libc::ENOENT => Refusal::NoFamily,
            libc::EPERM | libc::EACCES => Refusal::NotPermitted,
            libc::ENODEV | libc::ENXIO | libc::EINVAL | libc::EOPNOTSUPP => Refusal::NotWireless,
            libc::EAGAIN | libc::ETIMEDOUT => Refusal::Late,
            other => Refusal::System(other),
        }
    }
}
