"""Identities, pairing strings, and stores of whom this machine may send to and who may send to it."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence

import strandcast._native as _native


class Store:
    """An identity's file, and two next to it that hold receivers and senders; only their owner can read them.

    The command has the same stores: `strandcast key`.
    """

    def __init__(self, key: str | os.PathLike[str] | None = None) -> None:
        """The store whose identity is in this file; nothing is read or made yet.

        Args:
            key: The file; None: `STRANDCAST_KEY`, else the user's.
        """
        self._native = _native.KeyStore(None if key is None else os.fspath(key))

    @property
    def path(self) -> pathlib.Path:
        """The identity's file: the `key` of senders and receivers."""
        return self._native.path

    @property
    def fingerprint(self) -> str:
        """Short form of the key, for reading it aloud. Makes the identity if there never was one."""
        return self._native.fingerprint()

    def pair(self, hosts: Sequence[str] = (), *, once: bool = False, lasts: float | None = None) -> str:
        """A new pairing string, for a sender. It is a secret: who has it may send.

        Args:
            hosts: How senders reach this machine, as `"studio.example:9899"`; none: where its receiver listened last.
            once: Whether the first sender that uses it closes it.
            lasts: Time for which it admits new senders, seconds; None: without an end.

        Raises:
            NetworkError: This machine has no address that others can reach.
            StrandcastError: The store cannot be read or written.
        """
        return self._native.pair(list(hosts), once, lasts)

    def add_receiver(self, name: str, pairing: str) -> None:
        """Keeps a pairing with a receiver: `live.Sender(…, "@NAME")`.

        Args:
            name: Its name, letters, digits, `-`, `_` and `.`.
            pairing: The string that the receiver's `pair` has returned.

        Raises:
            ValueError: The string is cut short or mistyped, or the name is not valid.
            StrandcastError: Another receiver has this name, or the store cannot be written.
        """
        self._native.add_receiver(name, pairing)

    def receivers(self) -> list[str]:
        """The names of receivers that this machine may send to."""
        return self._native.receivers()

    def senders(self) -> dict[str, bool]:
        """Senders, by name or short form of the key: whether each may send."""
        return {name: not revoked for name, revoked in self._native.senders()}

    def revoke(self, sender: str) -> None:
        """Revokes a sender, which a running receiver then refuses.

        Args:
            sender: Its name, or the short form of its key.

        Raises:
            StrandcastError: There is no such sender, or the store cannot be written.
        """
        self._native.revoke(sender)
