"""Identities, pairing strings, and stores of the receivers and senders that this machine has paired with."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence

import strandcast._native as _native


class Store:
    """File of an identity, and two files in the same folder with the known receivers and senders.

    Only their owner can read them.

    The command `strandcast key` uses the same stores.
    """

    def __init__(self, key: str | os.PathLike[str] | None = None) -> None:
        """Opens the store whose identity is in this file. No file is read or created yet.

        Args:
            key: File of the identity; None: the file that `STRANDCAST_KEY` names, otherwise the user's file.
        """
        self._native = _native.KeyStore(None if key is None else os.fspath(key))

    @property
    def path(self) -> pathlib.Path:
        """File of the identity, as the argument `key` of senders and receivers."""
        return self._native.path

    @property
    def fingerprint(self) -> str:
        """Short form of the key, for reading it aloud. Creates the identity if it does not exist."""
        return self._native.fingerprint()

    def pair(self, hosts: Sequence[str] = (), *, once: bool = False, lasts: float | None = None) -> str:
        """Creates a pairing string for a sender. The string is a secret: everyone who has it may send.

        Args:
            hosts: Addresses by which senders reach this machine, such as `"studio.example:9899"`; empty: the addresses
                on which its receiver listened last.
            once: Whether the string admits only the first sender that uses it.
            lasts: Time for which the string admits new senders, seconds; None: no limit.

        Raises:
            NetworkError: This machine has no address that others can reach.
            StrandcastError: The store cannot be read or written.
        """
        return self._native.pair(list(hosts), once, lasts)

    def add_receiver(self, name: str, pairing: str) -> None:
        """Stores a pairing with a receiver, for use as `live.Sender(…, "@NAME")`.

        Args:
            name: Name for the receiver, of letters, digits, `-`, `_` and `.`.
            pairing: The pairing string that the receiver's `pair` returned.

        Raises:
            ValueError: The string is cut short or mistyped, or the name is not valid.
            StrandcastError: Another receiver has this name, or the store cannot be written.
        """
        self._native.add_receiver(name, pairing)

    def receivers(self) -> list[str]:
        """The names of receivers that this machine may send to."""
        return self._native.receivers()

    def senders(self) -> dict[str, bool]:
        """Returns for each sender whether it may send, by name or short form of its key."""
        return {name: not revoked for name, revoked in self._native.senders()}

    def revoke(self, sender: str) -> None:
        """Revokes the rights of a sender. A running receiver then refuses this sender.

        Args:
            sender: Name of the sender, or the short form of its key.

        Raises:
            StrandcastError: There is no such sender, or the store cannot be written.
        """
        self._native.revoke(sender)
