"""The kit in JavaScript: without methods it declares nothing, and it answers each line with one line."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.framing import ENVIRONMENT_VARIABLE

ADAPTERS = Path(__file__).parents[2] / "adapters"
KIT = ADAPTERS / "javascript" / "kit.mjs"
PATIENCE_S = 60
ALL = [pb.Capability.Name(c) for c in pb.Capability.values() if c]

EMPTY = "await serve(new Implementation());"
FILLED = f"""
class Filled extends Implementation {{
  capabilities = {json.dumps(ALL)};
  setClock(nowMs) {{ this.clock = nowMs; }}
  async open({{ participantId, channels, configuration }}) {{
    const seen = {{ history: configuration.causalHistorySize, sdsR: configuration.sdsR }};
    return {{ who: {{ participantId, channels, seen }}, configuration: {{ tMaxMs: 2n ** 64n - 1n, sdsR: false }} }};
  }}
  async close() {{}}
  async send(who, {{ nowMs, content, messageId, retrievalHint }}) {{
    console.log("what an implementation prints by mistake, Ж字🦊");
    process.stdout.write("more of it\\n");
    if (messageId === "thrown") throw new TypeError("no memory");
    if (messageId === "nothing") throw undefined;
    if (messageId === "refused") throw new Rejected("too large");
    if (messageId === "endless") {{ const ring = {{}}; ring.ring = ring; return ring; }}
    const hint = retrievalHint === undefined ? "none" : `${{retrievalHint.length}}`;
    const odd = new Uint8Array([0, ...content, 9]).subarray(1, -1);
    const seen = `${{who.participantId}} ${{JSON.stringify(who.seen)}} ${{nowMs === this.clock}} hint ${{hint}}`;
    return {{ broadcasts: [odd, Buffer.from(content)], messageId: seen }};
  }}
  tick() {{}}
  receive() {{ return {{ messageId: "half a pair \\ud83e" }}; }}
  encode({{ message }}) {{ return {{ wire: Buffer.from(JSON.stringify(message)) }}; }}
  decode() {{ return {{ message: {{ lamportTimestamp: 2n ** 64n - 1n, content: undefined }} }}; }}
}}
await serve(new Filled());
"""


def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed: install Node 20 or newer")
    return found


def started(program: str, *lines: bytes, **variables: str) -> subprocess.CompletedProcess[bytes]:
    source = f"import {{ Implementation, Rejected, serve }} from {json.dumps(KIT.as_uri())};\n{program}"
    return subprocess.run(
        [node(), "--input-type=module", "--eval", source],
        input=b"".join(line + b"\n" for line in lines),
        capture_output=True,
        timeout=PATIENCE_S,
        env={**os.environ, **variables},
        check=False,
    )


def conversation(program: str, *requests: bytes | dict[str, Any]) -> list[dict[str, Any]]:
    """The replies, one for each request."""
    lines = [given if isinstance(given, bytes) else json.dumps(given).encode() for given in requests]
    done = started(program, *lines)
    assert done.returncode == 0, done.stderr
    replies = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    assert len(replies) == len(lines)
    return replies


def asked(command: str, **fields: Any) -> dict[str, Any]:
    return {"id": "1", command: fields}


OPEN = asked("open", nowMs="5", participantId="alice", channels=["c1"])


# ---- The template without changes -----------------------------------------------------------------------------------


def test_every_command_has_a_method_a_type_and_words_on_what_to_do() -> None:
    commands = {field.json_name for field in pb.Request.DESCRIPTOR.oneofs_by_name["command"].fields} - {"hello"}
    text = KIT.read_text("utf-8")
    assert set(re.findall(r'^ {4}todo\("(\w+): ', text, re.MULTILINE)) == commands
    types = KIT.with_suffix(".d.mts").read_text("utf-8")
    assert set(re.findall(r"^ {2}(\w+)\((?:\w+: |$)", types, re.MULTILINE)) == commands | {"setClock"}


def test_it_shakes_hands_and_declares_nothing() -> None:
    (reply,) = conversation(EMPTY, asked("hello", protocolVersion=1))
    assert reply["hello"]["protocolVersion"] == 1
    assert reply["hello"]["name"] == "my-sds"
    assert reply["hello"]["capabilities"] == []


def test_a_method_that_everybody_needs_is_named_when_it_is_not_filled_in() -> None:
    (reply,) = conversation(EMPTY, OPEN)
    assert reply["error"]["message"].startswith("not filled in: open: make a participant")


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        (asked("sendSync"), "SYNC"),
        (asked("queryFilter", bloomErrorRate=0.5), "FILTER_CODEC, FILTER_SIZES"),
        (asked("encode", message={"messageId": "m"}), "MESSAGE_CODEC"),
        (asked("repairTimes", messageId="m"), "REPAIR_TIMES"),
        (asked("open", channels=["c1", "c2"]), "CHANNELS"),
        (asked("open"), "UNNAMED_CHANNEL"),
        (asked("send", messageId="m"), "MESSAGE_ID"),
        (asked("receive", retrievalHint=""), "RETRIEVAL_HINTS"),
        (asked("frobnicate"), "frobnicate"),
        (asked("constructor"), "constructor"),
        (asked("tick", whoKnows=1), "tick.whoKnows"),
        (asked("tick", nowMs="9007199254740992"), "tick.nowMs above 2^53 - 1"),
    ],
    ids=repr,
)
def test_what_is_not_known_or_not_declared_is_unsupported(request_: dict[str, Any], what: str) -> None:
    assert conversation(EMPTY, request_) == [{"id": "1", "unsupported": {"what": what}}]


def test_it_answers_lines_that_are_no_request_and_goes_on() -> None:
    lines = [b"", b"not json", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"id":"4"}', b'{"id":"-1","tick":{}}']
    lines += [b'{"id":"5","tick":{},"close":{}}', b'{"id":"6","tick":[]}', b'{"id":"7","tick":{"handle":"x"}}']
    lines += [
        b'{"id":"18446744073709551615","hello":null}',
        b'{"id":9,"hello":{"harness":"' + b"x" * (4 << 20) + b'"}}',
    ]
    replies = conversation(EMPTY, *lines)
    kinds = [next(kind for kind in reply if kind != "id") for reply in replies]
    assert kinds == ["error"] * 6 + ["unsupported"] + ["error"] * 4 + ["unsupported", "hello"]
    assert [reply["id"] for reply in replies] == ["0"] * 6 + ["4", "0", "5", "6", "7", "18446744073709551615", "9"]


def test_the_last_line_may_lack_its_end() -> None:
    adapter = KIT.with_name("adapter.mjs")
    request = b'{"id":"7","hello":{"protocolVersion":1}}'
    done = subprocess.run([node(), str(adapter)], input=request, capture_output=True, timeout=PATIENCE_S, check=True)
    assert json.loads(done.stdout)["id"] == "7"


def test_it_refuses_the_other_framing_in_words() -> None:
    done = started(EMPTY, **{ENVIRONMENT_VARIABLE: "binary"})
    assert done.returncode == 2
    assert b"JSON lines only" in done.stderr


# ---- The kit with all methods -------------------------------------------------------------------------------------


def test_values_come_as_those_of_javascript_and_leave_as_those_of_the_protocol() -> None:
    content = "Grüße, 世界 🦊".encode()
    opening = asked(
        "open", nowMs=7, participantId="Ж字🦊", channels=["c1"], configuration={"causalHistorySize": 3, "new": 1}
    )
    sending = asked(
        "send", nowMs="7", handle=1, channelId="c1", content=base64.b64encode(content).decode(), retrievalHint=""
    )
    opened, sent, ticked, encoded, decoded, closed, gone = conversation(
        FILLED,
        opening,
        sending,
        asked("tick", handle="1"),
        asked(
            "encode",
            message={"lamportTimestamp": str(2**64 - 1), "causalHistory": [{"messageId": "m"}], "content": None},
        ),
        asked("decode", wire="AA=="),
        asked("close", handle="1"),
        asked("tick", handle="1"),
    )
    assert opened["opened"] == {"handle": "1", "configuration": {"tMaxMs": str(2**64 - 1), "sdsR": False}}
    assert [base64.b64decode(wire) for wire in sent["effects"]["broadcasts"]] == [content, content]
    assert sent["effects"]["messageId"] == 'Ж字🦊 {"history":3} true hint 0'
    assert ticked == {"id": "1", "effects": {}}
    output = json.loads(base64.b64decode(encoded["encoded"]["wire"]))
    assert output["lamportTimestamp"] == str(2**64 - 1)
    assert output["causalHistory"] == [{"messageId": "m"}]
    assert "content" not in output
    assert decoded["decoded"] == {"message": {"lamportTimestamp": str(2**64 - 1)}}
    assert closed == {"id": "1", "effects": {}}
    assert gone["rejected"]["reason"] == "no participant has handle 1"


def test_faults_and_refusals_of_the_implementation_are_distinguished_and_the_process_goes_on() -> None:
    names = ("thrown", "nothing", "refused", "endless", "fine")
    _, thrown, nothing, refused, endless, fine = conversation(
        FILLED, OPEN, *(asked("send", handle="1", messageId=name) for name in names)
    )
    assert thrown["error"]["message"] == "no memory"
    assert nothing["error"]["message"] == "undefined"
    assert refused["rejected"]["reason"] == "too large"
    assert "circular" in endless["error"]["message"]
    assert "effects" in fine


def test_an_adapter_that_was_copied_without_the_kit_says_so(tmp_path: Path) -> None:
    shutil.copy(ADAPTERS / "waku-sds" / "adapter.mjs", tmp_path)
    done = subprocess.run([node(), str(tmp_path / "adapter.mjs")], input=b"", capture_output=True, check=False)
    assert done.returncode == 2
    assert b"the kit is missing: copy the folder javascript of harness/adapters as well" in done.stderr
