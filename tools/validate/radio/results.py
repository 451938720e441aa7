"""A file of results: a line per case, and in it a run per seed."""

import json
import pathlib

import cases


def load(path: pathlib.Path) -> dict:
    """Content of the file, without results of networks that have changed since."""
    held = json.loads(path.read_text()) if path.exists() else {"version": "", "cases": {}}
    now = {case.name: cases.digest(case) for case in cases.cases()}
    held["cases"] = {name: one for name, one in held["cases"].items() if one["network"] == now.get(name)}
    return held


def keep(path: pathlib.Path, version: str, case: cases.Case, seed: int, run: dict) -> None:
    """Adds a run."""
    held = load(path)
    of_case = held["cases"].setdefault(case.name, {"network": cases.digest(case), "runs": {}})
    of_case["runs"][str(seed)] = run
    order = [one.name for one in cases.cases() if one.name in held["cases"]]
    lines = [f"  {json.dumps(name)}: {json.dumps(held['cases'][name], sort_keys=True)}" for name in order]
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f'{{\n "version": {json.dumps(version)},\n "cases": {{\n' + ",\n".join(lines) + "\n }\n}\n"
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.replace(path)
