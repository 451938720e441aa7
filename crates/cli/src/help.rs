//! Texts of the long help.

/// The table in the long help.
pub(crate) const TABLE_HELP: &str = "\
The table on a terminal, four times per second:
  first line   time since the start, scheme, rate and messages of the media; expired: messages that
               the sender gave up, since they could not arrive in time; late: they came too late to
               be played; lost: they never came; (n now): of the last 10 s; buffer: what waits
  rate         payload that the path carried in the last second, with copies
  can carry    the most that it is known to carry; with >: it was never filled, and carries more
  free         what it could carry in addition, as a share
  RTT          round-trip time
  loss         share of its packets that were lost in the last 10 s
  state        unconfirmed: nothing came back yet; active; potentially-failed: it does not answer;
               inactive: given up until it answers; suspended: switched off, or put aside
Red: media or a path is lost, or a path loses 10 % of its packets or more. Yellow: a path loses 2 %
or more, has less than 10 % of its rate free, or is not in use yet. docs/operate/troubleshooting.md has all lines.";
