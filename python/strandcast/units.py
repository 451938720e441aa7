"""Numbers with units, as in scenario files (docs/scenarios.md)."""

from __future__ import annotations

import strandcast._native as _native


def parse(text: str, quantity: str | None = None) -> float:
    """Converts a number with a unit to SI units: bit/s, seconds, bytes, a share of 1, packets, dB.

    `parse("50 Mbit/s")` is 50e6, `parse("20 ms")` is 0.02, `parse("64 KiB")` is 65536, `parse("2 %")` is 0.02.

    Args:
        text: The number, with a unit or plain.
        quantity: Required quantity: `rate`, `time`, `size`, `share`, `packets` or `ratio`; None: the quantity of the
            unit.

    Raises:
        ValueError: The text is not a number, has no such unit, or is another quantity.
        TypeError: The argument is not a text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a text is needed, as '50 Mbit/s', not {text!r}")
    return _native.parse_amount(text, quantity)
