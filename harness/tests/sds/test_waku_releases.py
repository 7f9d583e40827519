"""The adapter of @waku/sds works unchanged with each release that its package.json pins."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from waku_adapter import FOLDER, waku_command

NOW = 1_800_000_000_000
OLD = ("0.0.7-4d5c152.0", "0.0.7")
RELEASES = (*OLD, "0.0.8")


def answers(release: str, *commands: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers of a release to these commands, in its own process."""
    lines = "".join(json.dumps({"id": str(number), **command}) + "\n" for number, command in enumerate(commands, 1))
    asked = [*waku_command(), "--release", release]
    done = subprocess.run(asked, input=lines, capture_output=True, text=True, timeout=60, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def refused(*arguments: str) -> str:
    """The message about invalid arguments."""
    done = subprocess.run([*waku_command(), *arguments], input="", capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout == ""
    return done.stderr


def opened(**more: Any) -> dict[str, Any]:
    return {"open": {"nowMs": str(NOW), "participantId": "alice", "channels": ["c1"], **more}}


def on(command: str, **fields: Any) -> dict[str, Any]:
    return {command: {"nowMs": str(NOW), "handle": "1", **fields}}


HELLO = {"hello": {"protocolVersion": 1, "revision": "sds-2026-01"}}
SEND = on("send", channelId="c1", content="b25l")
OBSERVE = on("observe", channelId="c1")


@pytest.mark.parametrize("release", RELEASES)
def test_each_release_says_who_it_is_and_declares_what_it_has(release: str) -> None:
    (reply,) = answers(release, HELLO)
    hello = reply["hello"]
    assert (hello["name"], hello["version"]) == ("@waku/sds", release)
    repairs = {"CAPABILITY_SDS_R", "CAPABILITY_REPAIR_TIMES"}
    assert repairs & set(hello["capabilities"]) == (set() if release in OLD else repairs)
    assert ("hash" in hello["profiles"]) == (release not in OLD)


@pytest.mark.parametrize("release", RELEASES)
def test_all_that_is_pinned_is_asked_here(release: str) -> None:
    pinned = json.loads((FOLDER / "package.json").read_text("utf-8"))["dependencies"].values()
    assert {version.removeprefix("npm:@waku/sds@") for version in pinned} == set(RELEASES)
    lock = json.loads((FOLDER / "package-lock.json").read_text("utf-8"))["packages"]
    folder = "@waku/sds" if release not in OLD else f"waku-sds-{release}"
    assert lock[f"node_modules/{folder}"]["version"] == release


@pytest.mark.parametrize(
    ("release", "kept", "sent"),
    [
        ("0.0.7-4d5c152.0", 1, 1),
        ("0.0.7", NOW + 1, (NOW + 1) % 2**32),
        ("0.0.8", NOW + 1, NOW + 1),
    ],
)
def test_a_state_has_the_timestamps_that_the_release_keeps(release: str, kept: int, sent: int) -> None:
    _, effects, state = answers(release, opened(), SEND, OBSERVE)
    assert int(state["state"]["lamportTimestamp"]) == kept
    assert [int(entry["lamportTimestamp"]) for entry in state["state"]["log"]["entries"]] == [kept]
    (wire,) = effects["effects"]["broadcasts"]
    asked = {"decode": {"wire": wire}}
    decoded = answers(release, asked)[0]["decoded"]["message"]
    assert int(decoded["lamportTimestamp"]) == sent


@pytest.mark.parametrize("release", OLD)
def test_settings_of_what_a_release_lacks_are_not_in_force(release: str) -> None:
    (reply,) = answers(release, opened(configuration={"sdsR": True, "tMinMs": "5", "numParticipants": 300}))
    in_force = reply["opened"]["configuration"]
    assert not in_force.get("sdsR")
    assert not {"tMinMs", "numParticipants", "maxRepairRequests"} & set(in_force)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--release", "0.1"), "there is no release 0.1 of @waku/sds here: give one of 0.0.8, 0.0.7, 0.0.7-4d5c152.0"),
        (("--release",), "--release needs a version: give one of"),
        (("--verbose",), "unknown argument --verbose: the only option is --release VERSION"),
        (("--release", "0.0.7", "0.0.8"), "unknown argument 0.0.8"),
    ],
)
def test_what_is_wrong_with_the_arguments_is_said_with_what_to_give(arguments: tuple[str, ...], says: str) -> None:
    assert says in refused(*arguments)
