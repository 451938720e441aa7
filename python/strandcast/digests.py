"""Digests of policies, computed from the compiled code instead of the source text.

Compiled code is equal in all processes with the same version X.Y of Python. Later changes of the file and comments have
no effect.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import re
import sys
import sysconfig
import types
from collections.abc import Mapping
from typing import Any

from strandcast.errors import StrandcastError

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))
_BUILTIN = (
    types.BuiltinFunctionType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+|\.\.\.|…")
"""Text of a `repr` that differs between processes, or that is abbreviated."""
_STDLIB = pathlib.Path(os.__file__).parent
_INSTALLED = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})


class Digest:
    """Digest of all code and data that make up a policy.

    Args:
        what: Description of the policy, for errors.

    Attributes:
        modules: Modules whose code is in the digest.
    """

    def __init__(self, what: str) -> None:
        self.modules: set[str] = set()
        self._what = what
        self._sha = hashlib.sha256()
        self._seen: dict[int, int] = {}
        self._within: list[int] = []
        self._say(f"Python {sys.version_info.major}.{sys.version_info.minor}")

    def hexdigest(self) -> str:
        """Returns the digest of all added values, in hexadecimal digits."""
        return self._sha.hexdigest()

    def policy(self, kind: type) -> None:
        """Adds a class and its base classes, except those of this package and of the standard library.

        Raises:
            StrandcastError: The class contains a value that differs between processes.
        """
        for one in kind.__mro__:
            if not _known(one):
                self._class(one)

    def add(self, value: Any, where: str) -> None:
        """Adds a value.

        Args:
            value: Data, a function or a class.
            where: Name of the object that contains the value, for errors.

        Raises:
            StrandcastError: The value differs between processes.
        """
        if isinstance(value, _PLAIN):
            self._say(type(value).__name__, repr(value))
        elif isinstance(value, types.CodeType):
            self._code(value, where)
        elif isinstance(value, types.ModuleType):
            self._say("module", value.__name__)
        elif isinstance(value, _BUILTIN):
            self._say("builtin", getattr(value, "__qualname__", repr(value)))
        elif isinstance(value, type | types.FunctionType):
            self._defined(value, where)
        else:
            self._made(value, where)

    def _say(self, *words: str | bytes) -> None:
        """Adds words to the digest, each with its length, so that adjacent words stay distinct."""
        for word in words:
            content = word if isinstance(word, bytes) else word.encode(errors="surrogatepass")
            self._sha.update(b"%d:" % len(content) + content)

    def _defined(self, value: Any, where: str) -> None:
        """Adds a class or function. Code of installed packages is added by name."""
        if _known(value) or _installed(value.__module__):
            self._say("known", str(value.__module__), value.__qualname__)
        elif isinstance(value, type):
            self.policy(value)
        elif not self._again(value):
            self._function(value, where)

    def _again(self, value: object) -> bool:
        """Returns whether this class or function is already in the digest, for example because it refers to itself."""
        there = id(value) in self._seen
        self._say("definition", str(self._seen.setdefault(id(value), len(self._seen))))
        return there

    def _reads(self, module: str | None) -> None:
        if module is not None and not _shipped(module):
            self.modules.add(module)

    def _class(self, kind: type) -> None:
        if self._again(kind):
            return
        self._reads(kind.__module__)
        self._say("class", kind.__qualname__)
        for name, value in sorted(vars(kind).items()):
            special = name == "_abc_impl" or (name[:2] == "__" == name[-2:])
            if not special or isinstance(value, types.FunctionType | staticmethod | classmethod | property):
                self._say(name)
                self.add(value, f"{kind.__qualname__}.{name}")

    def _function(self, function: types.FunctionType, where: str) -> None:
        self._reads(function.__module__)
        self._code(function.__code__, where)
        self.add(function.__defaults__, f"a default of {where}")
        self.add(function.__kwdefaults__, f"a default of {where}")
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._say("cell", name)
            try:
                content = cell.cell_contents
            except ValueError:
                # The cell is defined later, or never.
                continue
            self.add(content, f"{name} of {where}")
        for name in sorted(_names(function.__code__)):
            value = function.__globals__.get(name, ...)
            if isinstance(value, bool | int | float | str) and name[:2] != "__":
                self._say("global", name)
                self.add(value, where)

    def _code(self, code: types.CodeType, where: str) -> None:
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        self._say("code", repr(counts), code.co_code, code.co_exceptiontable)
        for names in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
            self._say(repr(names))
        self.add(code.co_consts, where)

    def _made(self, value: Any, where: str) -> None:
        """Adds containers, wrappers, and objects with a textual representation."""
        if id(value) in self._within:
            self._say("within", str(self._within.index(id(value))))
            return
        self._within.append(id(value))
        self._say(type(value).__qualname__)
        if isinstance(value, set | frozenset):
            self._say(*sorted(self._told(one, where) for one in value))
        elif isinstance(value, Mapping):
            for key, inner in value.items():
                self.add(key, where)
                self.add(inner, where)
            self._say("end")
        elif isinstance(value, list | tuple):
            for inner in value:
                self.add(inner, where)
            self._say("end")
        elif (parts := _parts(value)) is not None:
            for part in parts:
                self.add(part, where)
        else:
            self._say(self._told(value, where))
            self.add(type(value), where)
        self._within.pop()

    def _told(self, value: object, where: str) -> str:
        """Returns the textual representation of a value (`repr`)."""
        told = repr(value)
        if not isinstance(value, _PLAIN) and _ADDRESS.search(told):
            kind = type(value).__name__
            raise StrandcastError(
                f"{self._what}: {where} is a {kind} that does not tell its results from others'; "
                "make it of numbers, texts, functions or classes, or give it a whole __repr__ without an address"
            )
        return told


def _parts(value: Any) -> list[object] | None:
    """The objects that a wrapper wraps; None if the value is not a wrapper."""
    match value:
        case property():
            return [value.fget, value.fset, value.fdel]
        case staticmethod() | classmethod() | types.MethodType():
            return [value.__func__, getattr(value, "__self__", None)]
        case functools.partial() | functools.partialmethod():
            return [value.func, value.args, value.keywords]
        case functools.cached_property():
            return [value.func]
    # As functools.cache has it.
    return [value.__wrapped__] if "__wrapped__" in getattr(value, "__dict__", {}) else None


def _names(code: types.CodeType) -> set[str]:
    """Returns the names that code, and the code nested in it, looks up."""
    inner = [_names(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*inner)


def _known(value: Any) -> bool:
    """Returns whether a class or function belongs to this package or to the standard library."""
    if not _shipped(value.__module__):
        return False
    # Classes made by `type(…)` say that they are of the module that made them.
    found: object = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


def _shipped(module: str | None) -> bool:
    """Returns whether a module belongs to this package or to the standard library."""
    top = str(module).partition(".")[0]
    if top in ("strandcast", "builtins"):
        return True
    # A file may be called as a module of the standard library, and then hides it.
    file = getattr(sys.modules.get(top), "__file__", None)
    return top in sys.stdlib_module_names and (file is None or pathlib.Path(file).is_relative_to(_STDLIB))


def _installed(module: str | None) -> bool:
    file = getattr(sys.modules.get(str(module)), "__file__", None)
    return file is not None and any(pathlib.Path(file).is_relative_to(folder) for folder in _INSTALLED)
