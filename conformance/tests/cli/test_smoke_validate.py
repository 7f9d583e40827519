"""``smoke --validate``: whose fault it is, in which field, and what was expected there."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from run_helpers import REPOSITORY, odd_adapter, reference_command
from suite_terminal import controls, too_wide, typed, words

pytestmark = pytest.mark.exhaustive

ADAPTERS = Path(__file__).parents[1] / "misspelling_adapters.py"


def misspelling(name: str) -> list[str]:
    return [sys.executable, str(ADAPTERS), name]


@pytest.mark.parametrize(
    ("name", "code", "field", "said"),
    [
        (
            "misspells-a-field",
            1,
            "effects.events[1].delivered.mesageId",
            "unknown field: did you mean messageId?",
        ),
        ("misspells-an-answer", 1, "open", "unknown field: did you mean opened?"),
        (
            "abbreviates-a-capability",
            3,
            "hello.capabilities[0]",
            '"VIRTUAL_CLOCK" is not a value of this enum: did you mean CAPABILITY_VIRTUAL_CLOCK?',
        ),
        ("echoes-no-id", 3, "id", "is missing: a reply echoes the id of its request"),
        ("writes-odd-base64", 1, "effects.broadcasts[0]", "at character 5 is not base64"),
    ],
)
def test_the_adapter_is_blamed_for_a_field_of_its_replies(name: str, code: int, field: str, said: str) -> None:
    result = typed("smoke", "--validate", "--", *misspelling(name))
    text = words(result.stdout + result.stderr)
    assert "INVALID the adapter, in the reply to request" in text
    assert f"Field {field}" in text
    assert said in text
    assert "please report it" not in text
    assert result.exit_code == code
    assert controls(result.stdout + result.stderr) == set()
    assert too_wide(result.stdout) == []


KITS = REPOSITORY / "harness" / "adapters"


@pytest.mark.parametrize(
    "adapter",
    [
        reference_command(),
        misspelling("writes-as-one-may"),
        [sys.executable, str(KITS / "python" / "adapter.py")],
        ["node", str(KITS / "javascript" / "adapter.mjs")],
    ],
    ids=["reference", "as one may", "python kit", "javascript kit"],
)
def test_what_is_allowed_is_valid(adapter: list[str]) -> None:
    if shutil.which(adapter[0]) is None:
        pytest.skip(f"there is no {adapter[0]}")
    result = typed("smoke", "--validate", "--", *adapter)
    assert result.exit_code == 0
    assert "requests and as many replies match the schemas." in words(result.stdout)
    assert "INVALID" not in result.stdout


@pytest.mark.parametrize(
    ("name", "said", "hint"),
    [
        ("refuses-participants", "opening participant 'alice' was refused: I do not like it.", "Open must accept"),
        ("broadcasts-nothing", "send at step 2 broadcast nothing.", "sds-conformance docs adapter"),
    ],
)
def test_an_adapter_whose_conversations_stop_does_not_work_yet(name: str, said: str, hint: str) -> None:
    result = typed("smoke", "--", *odd_adapter(name))
    assert result.exit_code == 1
    assert f"The adapter answers, but it does not work yet: {said}" in words(result.stdout)
    assert hint in words(result.stdout)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("misspells-a-field", "effects.events[1].delivered.mesageId: unknown field: did you mean messageId?"),
        ("misspells-an-answer", "open: unknown field: did you mean opened?"),
        (
            "abbreviates-a-capability",
            'hello.capabilities[0]: "VIRTUAL_CLOCK" is not a value of this enum: did you mean',
        ),
    ],
)
def test_the_hint_of_a_breakdown_names_the_wrong_field(name: str, hint: str) -> None:
    text = words(typed("smoke", "--", *misspelling(name)).output)
    assert f"Hint {hint}" in text
    assert "`sds-conformance smoke --validate` checks each field." in text
    assert "Does something print to stdout?" not in text


def test_an_adapter_that_sends_requests_back_learns_this() -> None:
    text = words(
        typed("smoke", "--", sys.executable, "-c", "for line in open(0): print(line, end='', flush=True)").output
    )
    assert "Hint The adapter sends back the request" in text
