//! Unpredictable randomness for the tags, cookie keys and nonces of real associations.

use strandcast_proto::seeds::Seeds;

/// Random streams for a program. The streams start from 32 bytes of the operating system's random generator. Call this
/// once, at the start of the program.
///
/// # Errors
/// If the system has no source of randomness (a kernel without `getrandom`, and no `/dev/urandom`).
pub fn seeds() -> std::io::Result<Seeds> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)?;
    Ok(Seeds::from_entropy(key))
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_runs_differ() {
        let first = || super::seeds().unwrap().stream("tag").u64();
        assert_ne!(first(), first());
    }
}
