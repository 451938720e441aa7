"""Real links, from Python: live streams and measurements.

```python
from strandcast import live

with live.Receiver("play.ts", once=True) as receiver:
    for event in receiver:
        print(event)
```
"""

from __future__ import annotations

import strandcast.live.events as events
import strandcast.live.stats as stats
from strandcast.live.events import Event
from strandcast.live.measure import perf
from strandcast.live.stats import Stats
from strandcast.live.stream import FOREVER, LinkTariff, Receiver, Sender

__all__ = ["FOREVER", "Event", "LinkTariff", "Receiver", "Sender", "Stats", "events", "perf", "stats"]
