"""Regenerate the documentation of the testee protocols: ``python reference/generate_protocol.py [OUT]``.

For each protocol, writes the JSON Schemas ``request.schema.json`` and ``reply.schema.json`` next to the generated code,
and a page in ``harness/adapters``, from the .proto file and its comments. Run ``generate_proto.py`` first. OUT is the
folder that receives them instead of this repository. Needs grpcio-tools, which contains protoc.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_tools import protoc  # type: ignore[import-untyped]

import protocol_examples
from sds_testee.json_schema import scalar_of, schema_of

REPOSITORY = Path(__file__).resolve().parents[1]
PROTO = REPOSITORY / "proto"


@dataclass(frozen=True)
class TesteeProtocol:
    """The files that are generated for one protocol, and the texts that they need."""

    title: str
    source: str
    """Path of the .proto file below ``proto``."""
    schemas: str
    """Path of the schemas below the repository, with the name of the message left out."""
    page: str
    """Path of the page below the repository."""
    schema_pages: tuple[str, str]
    """The names of the schemas of requests and replies in ``sds-conformance docs``."""
    revision: str
    """The options of a command that select the revision."""
    examples: list[tuple[str, str, str, str]]


PROTOCOLS = [
    TesteeProtocol(
        "The testee protocol of SDS, message by message",
        "sds/testee/v1/testee.proto",
        "reference/sds_proto/testee/v1/{}.schema.json",
        "harness/adapters/PROTOCOL.md",
        ("request-schema", "reply-schema"),
        "",
        list(protocol_examples.of_sds()),
    ),
    TesteeProtocol(
        "The testee protocol of the ClearSkies database extension, message by message",
        "clearskies/testee/v1/testee.proto",
        "reference/clearskies_proto/testee/v1/{}.schema.json",
        "harness/adapters/PROTOCOL-CLEARSKIES.md",
        ("clearskies-request", "clearskies-reply"),
        " --revision clearskies-database",
        list(protocol_examples.of_clearskies(REPOSITORY / "vectors" / "clearskies")),
    ),
]

# Field numbers of descriptor.proto, which make up the paths to comments.
_MESSAGE, _ENUM, _SERVICE, _SYNTAX = 4, 5, 6, 12
_PART = 2
"""The number in descriptor.proto of three lists: the fields of a message, the values of an enum, and the methods of a
service."""


class Source:
    """The .proto file with its comments."""

    def __init__(self, path: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "set")
            code = protoc.main(
                ["protoc", f"--proto_path={PROTO}", "--include_source_info", f"--descriptor_set_out={out}", path]
            )
            if code:
                raise SystemExit(f"protoc failed with exit code {code}: see its message above, then correct the .proto")
            files = FileDescriptorSet.FromString(out.read_bytes())
        pool = DescriptorPool()
        (parsed,) = files.file
        pool.AddSerializedFile(parsed.SerializeToString())
        self.file: FileDescriptor = pool.FindFileByName(path)
        places = {tuple(place.path): place for place in parsed.source_code_info.location}
        self.head = _text(places[_SYNTAX,].leading_comments)
        self.comments: dict[str, str] = {}
        self.sections: dict[str, str] = {}
        """The title before each message or enum, by the name of the message or enum."""
        self.order: list[tuple[int, str]] = []
        described: list[tuple[int, int, str, list[str]]] = []
        for number, message in enumerate(parsed.message_type):
            if any(not nested.options.map_entry for nested in message.nested_type):
                raise SystemExit(
                    f"{message.name} contains nested messages, which {Path(__file__).name} cannot document: "
                    "move them to the top level"
                )
            described.append((_MESSAGE, number, message.name, [field.name for field in message.field]))
        for number, enum in enumerate(parsed.enum_type):
            described.append((_ENUM, number, enum.name, [value.name for value in enum.value]))
        for number, service in enumerate(parsed.service):
            described.append((_SERVICE, number, service.name, [method.name for method in service.method]))
        for kind, number, name, parts in described:
            place = places[kind, number]
            self.order.append((place.span[0], name))
            self.comments[f"{parsed.package}.{name}"] = _text(place.leading_comments)
            for detached in place.leading_detached_comments:
                if title := re.search(r"---- (.+?) --", detached):
                    self.sections[name] = title.group(1)
            for index, part in enumerate(parts):
                # Protobuf puts the names of values into the scope around the enum; here they belong to the enum.
                comment = places[kind, number, _PART, index].leading_comments
                self.comments[f"{parsed.package}.{name}.{part}"] = _text(comment)
        self.comments = {name: text for name, text in self.comments.items() if text}
        self.order.sort()

    def comment_of(self, name: str) -> str:
        return self.comments.get(f"{self.file.package}.{name}", "")


def _text(comment: str) -> str:
    """A comment with a line for each paragraph, and for each entry of a list."""
    lines: list[str] = []
    listed = False
    for line in comment.strip("\n").splitlines():
        entry = re.match(r"  +(\w+)  +(.+)", line)
        numbered = re.match(r" *\d\. ", line)
        ends = listed and not line.startswith("  ")
        before = "\n- " if entry else "\n" if numbered else "\n\n" if ends else ""
        listed = bool(entry) or (listed and not ends)
        text = f"`{entry[1]}`: {entry[2]}" if entry else line.strip()
        lines.append(f"{before}{text}" if text else "\n\n")
    return re.sub(r" *(\n+) *", r"\1", " ".join(lines)).strip()


def generate(out: Path) -> list[Path]:
    """Write the schemas and the pages below ``out``; return the paths written."""
    texts = {}
    for protocol in PROTOCOLS:
        source = Source(protocol.source)
        texts[protocol.page] = "\n".join(_page(protocol, source)) + "\n"
        for name in ("Request", "Reply"):
            schema = schema_of(source.file.message_types_by_name[name], source.comments)
            texts[protocol.schemas.format(name.lower())] = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
    for place, text in texts.items():
        (out / place).parent.mkdir(parents=True, exist_ok=True)
        (out / place).write_text(text, "utf-8")
    return sorted(out / place for place in texts)


# ---- The page ------------------------------------------------------------------------------------------------------


def _page(protocol: TesteeProtocol, source: Source) -> Iterator[str]:
    yield f"# {protocol.title}"
    yield ""
    yield (
        f"<!-- Written by `python reference/generate_protocol.py` from {protocol.source}: "
        "change that file, not this one. -->"
    )
    yield ""
    yield _linked(protocol, source.head)
    yield ""
    schemas = " and ".join(f"`sds-conformance docs {name}`" for name in protocol.schema_pages)
    yield "In JSON lines, the default framing, each message is one line. 64-bit numbers are strings (numbers are also"
    yield "accepted), bytes are base64, and enums are names. A field with its default may be left out or be `null`."
    yield "If a table says that a field may be *unset*, leaving it out differs from setting it to an empty value."
    yield f"{schemas} print the JSON Schemas (draft 2020-12)."
    yield f"`sds-conformance smoke --validate{protocol.revision}` checks a conversation against them."
    yield ""
    yield "In the examples, `>` precedes what the harness sends, and `<` a reply of the reference model."
    printed: list[tuple[str, str, str, str]] = []
    for _, name in source.order:
        if name in source.sections:
            yield f"\n## {source.sections[name]}"
        message = source.file.message_types_by_name.get(name)
        service = source.file.services_by_name.get(name)
        yield f"\n### {name}\n"
        if comment := source.comment_of(name):
            yield f"{_linked(protocol, comment)}\n"
        if service is not None:
            yield from _methods(source, service)
            continue
        if message is None:
            yield from _enum(source, name)
            continue
        yield from _fields(source, message)
        yield from _examples(source, message, protocol.examples, printed)


def _linked(protocol: TesteeProtocol, text: str) -> str:
    """Return ``text`` with the paths of other .proto files as links to their pages."""
    for other in PROTOCOLS:
        if other is not protocol:
            page = Path(other.page).name
            text = text.replace(other.source, f"[{page}]({page})")
    return text


def _enum(source: Source, name: str) -> Iterator[str]:
    yield "| value | number | |"
    yield "| --- | --- | --- |"
    for value in source.file.enum_types_by_name[name].values:
        yield f"| `{value.name}` | {value.number} | {_cell(source.comment_of(f'{name}.{value.name}'))} |"


def _methods(source: Source, service: ServiceDescriptor) -> Iterator[str]:
    yield "| method | request | reply | |"
    yield "| --- | --- | --- | --- |"
    for method in service.methods:
        ends = ((method.input_type, method.client_streaming), (method.output_type, method.server_streaming))
        takes, gives = (f"{'stream of ' if many else ''}[{m.name}](#{m.name.lower()})" for m, many in ends)
        comment = _cell(source.comment_of(f"{service.name}.{method.name}"))
        yield f"| `{service.full_name}/{method.name}` | {takes} | {gives} | {comment} |"


def _fields(source: Source, message: Descriptor) -> Iterator[str]:
    yield "| field | number | in JSON | presence | |"
    yield "| --- | --- | --- | --- | --- |"
    for field in message.fields:
        comment = _cell(source.comment_of(f"{message.name}.{field.name}"))
        yield f"| `{field.json_name}` | {field.number} | {_json_type(field)} | {_presence(field)} | {comment} |"


_IN_JSON = {
    "bool": "boolean",
    "bytes": "string, base64",
    "double": "number",
    "int32": "signed 32-bit number",
    "int64": "string, a signed 64-bit number",
    "string": "string",
    "uint32": "unsigned 32-bit number",
    "uint64": "string, an unsigned 64-bit number",
}


def _json_type(field: FieldDescriptor) -> str:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return f"object with values: {_json_type(field.message_type.fields_by_name['value'])}"
    named = field.message_type or field.enum_type
    one = f"[{named.name}](#{named.name.lower()})" if named is not None else _IN_JSON[scalar_of(field)]
    return f"list of {one}" if field.is_repeated else one


def _presence(field: FieldDescriptor) -> str:
    oneof = field.containing_oneof
    if oneof is not None and not oneof.name.startswith("_"):
        return f"one of these {oneof.name}s"
    if field.is_repeated:
        return "may be empty"
    if field.has_presence:
        return "may be unset"
    return "always" if field.name == "id" else "may be left out"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _examples(
    source: Source,
    message: Descriptor,
    examples: list[tuple[str, str, str, str]],
    printed: list[tuple[str, str, str, str]],
) -> Iterator[str]:
    """Yield the example lines of a message: all examples of a request, or the first example of a reply.

    If another message has already printed an example (``printed``), yield only its reply.
    """
    request, reply = (source.file.message_types_by_name[name] for name in ("Request", "Reply"))
    commands = {field.name for field in request.fields if field.message_type is message}
    answers = {field.name for field in reply.fields if field.message_type is message}
    mine = [example for example in examples if example[0] in commands and example[1] != "error"]
    mine += [example for example in examples if example[1] in answers and example not in mine][: 0 if mine else 1]
    if mine:
        yield "\n```"
        for example in mine:
            if example in printed:
                yield f"< {example[3]}"
            else:
                yield from (f"> {example[2]}", f"< {example[3]}")
        yield "```"
        printed += mine


if __name__ == "__main__":
    for path in generate(Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY):
        print(path)
