//! Reasons why the kernel gives no answer.

/// Reason why an interface gives no counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The kernel does not support nl80211.
    #[error("the system has no Wi-Fi support")]
    NoFamily,
    /// This user is not permitted to query the interface.
    #[error("not permitted")]
    NotPermitted,
    /// The interface has disappeared, it is not Wi-Fi, or its driver does not report stations.
    #[error("the interface reports no stations")]
    NotWireless,
    /// The driver does not count the frames or the frame errors of its stations.
    #[error("the interface does not count frame errors")]
    NoCounters,
    /// The answer took too long.
    #[error("no answer")]
    Late,
    /// The answer is malformed.
    #[error("the answer cannot be read")]
    Malformed,
    /// Any other error, with the system's error number.
    #[error("system error {0}")]
    System(i32),
}

impl Refusal {
    /// Returns the meaning of an error number.
    pub(crate) fn of(errno: i32) -> Refusal {
        match errno {
            libc::ENOENT => Refusal::NoFamily,
            libc::EPERM | libc::EACCES => Refusal::NotPermitted,
            libc::ENODEV | libc::ENXIO | libc::EINVAL | libc::EOPNOTSUPP => Refusal::NotWireless,
            libc::EAGAIN | libc::ETIMEDOUT => Refusal::Late,
            other => Refusal::System(other),
        }
    }
}
