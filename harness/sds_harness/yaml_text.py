"""Reads YAML files of users as JSON values, with the line of each value.

Only what JSON can express is accepted: aliases, tags of other types and keys that are not text are rejected. So a small
file cannot become a large value. ruamel.yaml takes several seconds for a megabyte, so callers bound the size.
"""

from __future__ import annotations

import math
from typing import Any

from .declaration import printable

DEEPEST = 20
"""Maximum number of levels of nesting. No format of the suite is nested more deeply."""
Path = tuple[str | int, ...]
"""The keys and indices that lead to a value."""
_TAG = "tag:yaml.org,2002:"


class YamlError(ValueError):
    """A text is not valid YAML, or uses features of YAML that JSON cannot express."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line
        """The number of the line with the error, from 1; 0 if unknown."""


def refuse_unbounded(text: str) -> None:
    """Raises YamlError for aliases and for deep nesting, which take more memory than the text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        line = event.start_mark.line + 1
        if isinstance(event, AliasEvent):
            raise YamlError(f"aliases such as *{printable(event.anchor, 40)} are not allowed", line)
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            raise YamlError(f"nested deeper than {DEEPEST} levels", line)


def parse(text: str) -> tuple[Any, dict[Path, int]]:
    """Parse YAML. Returns the value, and the line of each value within it, by path.

    A value in a mapping has the line of its key. Raises YamlError.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        refuse_unbounded(text)
        yaml = YAML(typ="safe", pure=True)
        root = yaml.compose(text)
    except YamlError:
        raise
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise YamlError(printable(str(problem), 200), mark.line + 1 if mark is not None else 0) from None
    except (ValueError, RecursionError) as error:
        raise YamlError(printable(str(error), 200)) from None
    lines: dict[Path, int] = {}
    return _value(yaml.constructor, root, (), lines) if root is not None else None, lines


def _value(constructor: Any, node: Any, path: Path, lines: dict[Path, int]) -> Any:
    from ruamel.yaml.nodes import MappingNode, SequenceNode

    line = node.start_mark.line + 1
    lines.setdefault(path, line)
    tag = str(node.tag)
    if isinstance(node, SequenceNode) and tag == f"{_TAG}seq":
        return [_value(constructor, item, (*path, index), lines) for index, item in enumerate(node.value)]
    if isinstance(node, MappingNode) and tag == f"{_TAG}map":
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key, key_line = key_node.value, key_node.start_mark.line + 1
            if not isinstance(key, str):
                raise YamlError("a key is not text", key_line)
            if key in out:
                raise YamlError(f"the key {printable(key, 60)!r} is duplicated", key_line)
            lines[(*path, key)] = key_line
            out[key] = _value(constructor, value_node, (*path, key), lines)
        return out
    return _scalar(constructor, node, tag, line)


def _scalar(constructor: Any, node: Any, tag: str, line: int) -> Any:
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.nodes import ScalarNode

    if not isinstance(node, ScalarNode):
        raise YamlError(f"the tag {printable(tag, 60)} is not accepted for a list or a mapping", line)
    if tag in (f"{_TAG}str", f"{_TAG}timestamp"):
        return str(node.value)
    if tag not in (f"{_TAG}null", f"{_TAG}bool", f"{_TAG}int", f"{_TAG}float"):
        raise YamlError(f"the tag {printable(tag, 60)} is not accepted", line)
    try:
        value = constructor.construct_object(node)
    except (ValueError, LookupError, ArithmeticError, AttributeError, YAMLError) as error:
        # The tag does not fit the value, as in "!!int x" or "!!bool 2".
        kind = tag.removeprefix(_TAG)
        text = f"{printable(str(node.value), 40)} is not {'an' if kind == 'int' else 'a'} {kind}"
        raise YamlError(f"{text}: {printable(str(error), 120)}", line) from None
    if isinstance(value, float):
        if not math.isfinite(value):
            raise YamlError(f"{printable(str(node.value), 20)} is not a number of JSON", line)
        return int(value) if value.is_integer() else float(value)
    return value
