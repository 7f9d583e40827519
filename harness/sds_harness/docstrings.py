"""Reads docstrings of functions, also where Python has dropped them.

Users see the docstrings of scenarios, checks, passages and commands. Python drops docstrings under `python -OO` and
PYTHONOPTIMIZE=2; then they are read from the source code.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def docstring(function: Callable[..., Any]) -> str:
    """The docstring without its indentation; "" if there is none."""
    function = inspect.unwrap(function)
    if function.__doc__ is not None:
        return inspect.cleandoc(function.__doc__)
    with suppress(OSError, TypeError, SyntaxError):  # without the source there is nothing to read
        definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return ast.get_docstring(definition) or ""
    return ""


def first_line(function: Callable[..., Any]) -> str:
    """The first line of the docstring; "" if there is none."""
    return docstring(function).partition("\n")[0]
