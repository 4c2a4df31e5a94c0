"""Build the documentation site: ``.venv/bin/python docs/scripts/site.py [FOLDER]`` (``make docs``).

The pages are copied to ``build/docs``, and a site generator builds ``site/`` from there, in strict mode. In the copies,
``<!-- generated: NAME -->`` is replaced by a reference generated from the code, ``<!-- include: FILE -->`` by a file of
the repository, and links to files outside ``docs/`` lead to the repository.
"""

from __future__ import annotations

import inspect
import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/aleazero/aleazero"
MARKER = re.compile(r"<!-- (generated|include): (\S+) -->")
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")

API = {
    "games": {
        "Load, check and register": "load_game game_names register_game from_openspiel check_game CheckReport",
        "Games and states": "Game State GameInfo Features GameKit",
        "Kinds of states": "DECISION CHANCE TERMINAL MANY",
        "Exact values": "solve oracle_of",
    },
    "search": {
        "Search one position": "Search SearchConfig ChanceConfig Widening",
        "Results": "SearchResult SearchStats SearchTree Step OutcomeStats",
        "Search many positions": "Forest Finished",
        "Plan exactly": "Planner Plan",
        "Evaluators": "Evaluator Uniform Rollout load_net NONE ESTIMATE EXACT",
    },
    "players": {
        "Players": "make_player Player",
        "Matches": "play_match PlayedGame game_seeds played_outcome",
        "Environments and agents": "Environment EnvConfig EnvStep Agent AgentInput make_agent self_play_episode",
    },
    "evaluation": {
        "Pairs and gates": "play_pairs PairTable run_gate GateConfig",
        "Ratings": "rate_players PairResult",
        "Regret": "measure_regret RegretReport",
        "Runs": "RunConfig",
    },
    "errors": {
        "Errors": "AleaZeroError ConfigError GameError UnknownGameError ContractError PositionError IllegalActionError "
        "EvaluatorError CheckpointError ReplayError RunError",
    },
}
"""The names of ``aleazero.__all__`` by page and section; a test compares them with ``__all__``."""

RESULTS = {
    "CheckReport", "EnvStep", "Finished", "Game", "OutcomeStats", "Plan", "PlayedGame", "RegretReport", "SearchResult",
    "SearchStats", "SearchTree", "State", "Step",
}  # fmt: skip
"""Classes that only the library makes, so that their arguments are of no interest."""
CONSTANTS = {
    "DECISION": "Kind of a state: a player chooses an action.",
    "CHANCE": "Kind of a state: an outcome is drawn.",
    "TERMINAL": "Kind of a state: the game is over.",
    "MANY": "Returned by `outcomes` if there are too many outcomes to list.",
    "NONE": "Attribute `afterstates` of an evaluator: it is never called at chance nodes.",
    "ESTIMATE": "Attribute `afterstates` or `decisions` of an evaluator: its values are estimates.",
    "EXACT": "Attribute `afterstates` or `decisions` of an evaluator: its values are exact; nothing below is expanded.",
}


def build(folder: Path = ROOT) -> None:
    """Build the site into ``folder/site``; raise CalledProcessError if there is a warning.

    Args:
        folder: where ``build/docs`` and ``site`` are written.
    """
    write_pages(folder / "build" / "docs")
    config = folder / "mkdocs.yml"
    if folder != ROOT:
        text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
        config.write_text(text.replace("paths: [.]", f"paths: [{ROOT}]"), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", str(config)]
    subprocess.run(command, check=True, cwd=folder)


def write_pages(target: Path) -> None:
    """Copy ``docs/`` without its scripts, with generated parts and links to the repository."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("scripts", "__pycache__"))
    for page in target.rglob("*.md"):
        page.write_text(_completed(page.read_text(encoding="utf-8"), page.relative_to(target)), encoding="utf-8")


def _completed(text: str, page: Path) -> str:
    text = MARKER.sub(_replacement, text)
    folder = page.parent.as_posix()
    return "".join(
        part if in_fence else LINK.sub(lambda match: _link(match, folder), part)
        for in_fence, part in _split_fences(text)
    )


def _split_fences(text: str) -> Iterator[tuple[bool, str]]:
    for i, part in enumerate(re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)):
        yield i % 2 == 1, part


def _link(match: re.Match[str], folder: str) -> str:
    target = match[2]
    if ":" in target:
        return match[0]
    path = posixpath.normpath(posixpath.join("docs", folder, target))
    if path.startswith("docs/") and not path.startswith("docs/scripts"):
        return match[0]
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{match[1]}{REPOSITORY}/{kind}/main/{path}{match[3]}"


def _replacement(match: re.Match[str]) -> str:
    if match[1] == "include":
        return _include(match[2])
    kind, _, name = match[2].partition("/")
    return GENERATED[kind](name) if name else GENERATED[kind]()


def _include(name: str) -> str:
    """Read a file of the repository's root, with its links relative to ``docs/about/``."""

    def moved(match: re.Match[str]) -> str:
        if ":" in match[2]:
            return match[0]
        return f"{match[1]}{os.path.relpath(ROOT / match[2], DOCS / 'about')}{match[3]}"

    return LINK.sub(moved, (ROOT / name).read_text(encoding="utf-8"))


def api_page(name: str) -> str:
    """List the names of one page of the API reference for mkdocstrings."""
    parts = []
    for title, names in API[name].items():
        parts.append(f"## {title}")
        parts += [_api_entry(one) for one in names.split() if one not in CONSTANTS]
        rows = [
            f'| <a id="aleazero.{one}"></a>`{one}` | {CONSTANTS[one]} |' for one in names.split() if one in CONSTANTS
        ]
        if rows:
            parts.append("\n".join(["| constant | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _api_entry(name: str) -> str:
    """Return the block of one name; settings are listed in a table, and results have no signature."""
    import aleazero

    entry = f"::: aleazero.{name}"
    value = getattr(aleazero, name)
    settings = hasattr(value, "model_json_schema")
    if settings or name in RESULTS:
        entry += "\n    options:\n      merge_init_into_class: false"
    if settings and name != "RunConfig":
        schema = value.model_json_schema()
        entry += "\n\n" + "\n".join(_table(schema, schema.get("$defs", {}), {}))
    return entry


def api_index() -> str:
    """List all public names with the first line of their documentation."""
    import aleazero

    parts = []
    for page, sections in API.items():
        for title, names in sections.items():
            parts += [f"### {title}\n", "| name | description |", "|---|---|"]
            for name in names.split():
                summary = CONSTANTS.get(name) or _summary(getattr(aleazero, name))
                parts.append(f"| [`{name}`]({page}.md#aleazero.{name}) | {summary} |")
            parts.append("")
    return "\n".join(parts)


def _summary(value: Any) -> str:
    first = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")
    return _cell(first)


def command_line() -> str:
    """Describe all commands from the typer application: panels, usage, arguments and options."""
    import typer

    from aleazero.cli.main import app

    group = typer.main.get_command(app)
    panels: dict[str, list[str]] = {}
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        if command.hidden:
            continue
        panel = getattr(command, "rich_help_panel", None)
        panels.setdefault(panel if isinstance(panel, str) else "Commands", []).append(
            "\n".join(_command(command, ["aleazero", name], 3))
        )
    return "\n".join(f"## {panel}\n\n" + "\n".join(texts) for panel, texts in panels.items())


def _command(command: Any, names: list[str], level: int) -> Iterator[str]:
    yield f"{'#' * level} `{' '.join(names[1:])}`\n"
    children = getattr(command, "commands", None)
    yield _help_text(command.help) + "\n"
    if children:
        for name, child in children.items():
            yield from _command(child, [*names, name], level + 1)
        return
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden and "--help" not in p.opts]
    usage = [*names, *(_metavar(p) if p.required else f"[{_metavar(p)}]" for p in arguments)]
    yield "```text\n" + " ".join([*usage, *(["[OPTIONS]"] if options else [])]) + "\n```\n"
    if arguments or options:
        yield "| option | description |\n|---|---|"
        for p in arguments:
            yield f"| `{_metavar(p)}` | {_describe(p)} |"
        for p in options:
            flags = ", ".join(f"`{flag}`" for flag in (*p.opts, *p.secondary_opts))
            yield f"| {flags}{'' if p.is_flag else f' `{_metavar(p)}`'} | {_describe(p)} |"
        yield ""


def _metavar(parameter: Any) -> str:
    return parameter.metavar or (parameter.name or "").upper()


def _describe(parameter: Any) -> str:
    text = " ".join((parameter.help or "").split())
    default, shown = parameter.default, getattr(parameter, "show_default", True)
    if isinstance(shown, str):
        default = shown
    elif not shown or callable(default) or getattr(parameter, "is_flag", False):
        default = None
    if default not in (None, False, "", (), []) and "[default:" not in text:
        text += f" [default: {default}]"
    return _cell(text)


def _cell(text: str) -> str:
    """Escape pipes for a table, except in code."""
    return "`".join(part if i % 2 else part.replace("|", "\\|") for i, part in enumerate(text.split("`")))


def _help_text(text: str | None) -> str:
    """Return a help text as Markdown; a line of a shell session becomes a block."""
    lines = inspect.cleandoc((text or "").replace("\b", "").replace("\f", "")).splitlines()
    result: list[str] = []
    for line in lines:
        if line.lstrip().startswith(("$ ", "aleazero ")):
            first = not result or not result[-1].startswith("    ")
            result.append(f"{chr(10) if first else ''}    {line.strip()}")
        else:
            result.append(line)
    return "\n".join(result)


def config_file() -> str:
    """Describe all settings of a config file from the pydantic schema, a table per section."""
    from aleazero.runs.config import RunConfig

    schema = RunConfig.model_json_schema()
    return "\n".join(_section(schema, schema["$defs"], "", 2, set()))


def _section(schema: dict[str, Any], defs: dict[str, Any], path: str, level: int, seen: set[str]) -> Iterator[str]:
    links, nested = {}, []
    for name, field in schema["properties"].items():
        refs = _refs(field)
        titles = [path + name + (f" ({ref})" if len(refs) > 1 else "") for ref in refs]
        nested += [(title, ref, f"{path}{name}.") for title, ref in zip(titles, refs, strict=True)]
        if titles:
            links[name] = f"#{_slug(titles[0])}"
    yield from _table(schema, defs, links)
    yield ""
    for title, ref, below in nested:
        yield f"{'#' * level} {title}\n"
        yield " ".join(defs[ref].get("description", "").replace("``", "`").split()) + "\n"
        if ref in seen and defs[ref].get("properties"):
            yield "The keys are those of the section of the same name above.\n"
            continue
        yield from _section(defs[ref], defs, below, level, seen | {ref})


def _table(schema: dict[str, Any], defs: dict[str, Any], links: dict[str, str]) -> Iterator[str]:
    """Describe the settings of one class, a row each."""
    yield "| key | type | default | description |\n|---|---|---|---|"
    for name, field in schema["properties"].items():
        key = f"[`{name}`]({links[name]})" if name in links else f"`{name}`"
        default = "required" if name in schema.get("required", ()) else _default(field)
        description = _cell(field.get("description", ""))
        yield f"| {key} | {_kind(field, defs)} | {default} | {description} |"


def _slug(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _refs(field: dict[str, Any]) -> list[str]:
    parts = [field, *field.get("anyOf", ()), *field.get("allOf", ())]
    return [part["$ref"].rsplit("/", 1)[1] for part in parts if "$ref" in part]


def _kind(field: dict[str, Any], defs: dict[str, Any]) -> str:
    if "enum" in field:
        return " or ".join(f"`{one}`" for one in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_kind(part, defs) for part in field["anyOf"] if part.get("type") != "null"))
    if "$ref" in field:
        return "section"
    if field.get("type") == "array":
        return "list"
    names = {
        "integer": "integer",
        "number": "number",
        "string": "text",
        "boolean": "true or false",
        "object": "mapping",
    }
    return names.get(field.get("type", ""), "section")


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    if value is None or isinstance(value, dict):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`" if value != "" else ""


def request_fields(name: str) -> str:
    """Describe the fields of a kind of request of the engine, those of every request, or the limits."""
    from aleazero.serving.engine import CONTROLS
    from aleazero.serving.requests import REQUESTS, Limits, Request

    every = Request.model_json_schema()
    if name in ("every", "limits"):
        schema = every if name == "every" else Limits.model_json_schema()
    else:
        schema = {**REQUESTS, **CONTROLS}[name].model_json_schema()
        schema["properties"] = {
            key: value for key, value in schema["properties"].items() if key not in every["properties"]
        }
    if not schema["properties"]:
        return "The request has no further fields."
    return "\n".join(_table(schema, schema.get("$defs", {}), {}))


GENERATED: dict[str, Any] = {
    "api": api_page,
    "api-index": api_index,
    "cli": command_line,
    "config": config_file,
    "request": request_fields,
}


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT)
