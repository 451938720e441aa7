//! Sockets that listen and fail: what is said of it, and when a command gives up.

use std::time::Duration;

use strandcast_net::driver::{Driver, ListenEvent};

use crate::error::CliError;

/// How long a command is deaf before it ends: a supervisor may start it again.
const DEAF: Duration = Duration::from_secs(10);

/// Says what happened to the addresses that a command listens on since this was asked last.
///
/// # Errors
/// [`CliError::Network`]: it has not been able to listen for a while.
pub(crate) async fn listen_lines(driver: &Driver, mut say: impl FnMut(&str)) -> Result<(), CliError> {
    for event in driver.listen_events().await {
        line(event)?.iter().for_each(|line| say(line));
    }
    Ok(())
}

fn line(event: ListenEvent) -> Result<Option<String>, CliError> {
    Ok(match event {
        ListenEvent::Lost { address, why } => {
            Some(format!("the socket on UDP {address} failed ({why}); listening again"))
        }
        ListenEvent::Failed { why, lasts, .. } if lasts >= DEAF => {
            let text = format!("{why}; nothing was received for {:.0} s", lasts.as_secs_f64());
            return Err(CliError::Network(text));
        }
        ListenEvent::Failed { why, .. } => Some(format!("{why}; trying again")),
        ListenEvent::Restored { address } => Some(format!("listening on UDP {address} again")),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_is_told_and_the_end_after_ten_seconds() {
        let address = "[::]:9899".parse().unwrap();
        let failed = |lasts| {
            let why = "UDP port 9899 is in use on ::".into();
            line(ListenEvent::Failed { address, why, lasts: Duration::from_secs(lasts) })
        };
        let lost = line(ListenEvent::Lost { address, why: "out of memory".into() }).unwrap();
        let words = "the socket on UDP [::]:9899 failed (out of memory); listening again";
        assert_eq!(lost.as_deref(), Some(words));
        let again = failed(9).unwrap();
        assert_eq!(again.as_deref(), Some("UDP port 9899 is in use on ::; trying again"));
        let end = failed(10).unwrap_err();
        assert_eq!(end.code(), 4);
        assert_eq!(end.to_string(), "UDP port 9899 is in use on ::; nothing was received for 10 s");
        let back = line(ListenEvent::Restored { address }).unwrap();
        assert_eq!(back.as_deref(), Some("listening on UDP [::]:9899 again"));
    }
}
