"""Messages on a stream, written and read (core protocol, "Framing"). The bytes are written by hand.

The core protocol is no part of the text that is judged. Whoever frames messages otherwise exchanges none, so what is
violated are the requirements that messages are what they are, and that none is skipped.
"""

from __future__ import annotations

from base64 import b64encode

from sds_harness.clearskies.trace import Text

from ....vectors.model import REJECTED, Note, Outcome, Vector, vector
from .register import group

READ = ("CSDB-37",)
"""Of readers: "it is imperative that records are sent and processed in order, with no records skipped"."""

NOTES = {
    "Plain": Note("`m`, the length of the body in bytes, and the body.", ("CSDB-37",)),
    "Signed": Note(
        "`s`, the lengths of body and signature, the body, and the signature in base64 between two newlines.",
        ("CSDB-16", "CSDB-18"),
    ),
    "Attachment": Note("`!` and `$`: pieces follow, each with its length; one of length 0 ends them.", ("CSDB-37",)),
    "Incomplete": Note(
        "The end is of a message that is not whole yet: `rest` bytes, which are waited for.", ("CSDB-37",)
    ),
    "Broken": Note(
        "No message begins there. To refuse the stream is to close the link: what was missed is asked for on the "
        "next one. Where the end of what is wrong can be found, it may be skipped, or handed on to be refused there.",
        ("CSDB-37",),
    ),
    "Length": Note("Lengths are decimal, and of a body at most 16,777,216.", ("CSDB-37",)),
    "Strict": Note("Nothing says how strict a reader is: other readings are listed.", ("CSDB-37",)),
}

EMPTY = b"{}"
EXAMPLE = b'{"type":"foo","arg":"bar"}'
"""That of the core protocol, which says 27 of it: it has 26 bytes."""
PING = b'{"type":"core.ping","timeout":60}'
SIGNATURE = bytes(range(48))
"""48 bytes are 64 characters of base64, as in the example of the core protocol."""
_BASE64 = b64encode(SIGNATURE)


def taken(*messages: bytes | tuple[bytes, bytes], rest: int = 0) -> Outcome:
    """What is read: bodies, and signatures of those that are signed."""
    read = [
        {"body": each.hex()} if isinstance(each, bytes) else {"body": each[0].hex(), "signature": each[1].hex()}
        for each in messages
    ]
    return {"messages": read, "rest": rest}


def _read(slug: str, comment: str, flags: str, stream: bytes, *outcomes: Outcome) -> Vector:
    return vector(slug, comment, flags, READ, {"stream": stream.hex()}, *outcomes)


@group("framing-read", "unframe", "Bytes of a link, and the messages in them.", NOTES)
def read(revision: Text) -> list[Vector]:
    """Streams."""
    return [*_whole(), *_signed(), *_attachments(), *_incomplete(), *_broken(), *_lengths(), *_strictness()]


def _whole() -> list[Vector]:
    accented = '{"key":"clé"}'.encode()
    inside = b'{"a":"m2{}s2:4{}"}'
    return [
        _read("plain", "A message.", "Plain", b'm26{"type":"foo","arg":"bar"}', taken(EXAMPLE)),
        _read("empty-object", "The smallest body.", "Plain", b"m2{}", taken(EMPTY)),
        _read("nothing", "No bytes are no message.", "Plain", b"", taken()),
        _read("two", "Nothing stands between two messages.", "Plain", b"m2{}m26" + EXAMPLE, taken(EMPTY, EXAMPLE)),
        _read(
            "bytes-not-characters",
            "The length counts bytes: 14, in 13 characters.",
            "Plain",
            b"m14" + accented,
            taken(accented),
        ),
        _read(
            "heads-inside",
            "What looks like a head within a body is part of it.",
            "Plain",
            b"m18" + inside + b"m2{}",
            taken(inside, EMPTY),
        ),
        _read(
            "newlines-inside",
            "Blanks and newlines of a body count.",
            "Plain",
            b'm13{\n "a" :\t1 }\nm2{}',
            taken(b'{\n "a" :\t1 }\n', EMPTY),
        ),
        _read(
            "braces-in-a-string",
            "Where a body ends says its length, not its braces.",
            "Plain",
            b'm9{"a":"}"}m2{}',
            taken(b'{"a":"}"}', EMPTY),
        ),
        _read(
            "unknown-type",
            "A message of a type that nobody knows is a message.",
            "Plain",
            b"m33" + PING + b'm13{"type":"x-"}',
            taken(PING, b'{"type":"x-"}'),
        ),
        _read(
            "longer-than-16-bits",
            "70,000 bytes.",
            "Plain Length",
            b'm70000{"a":"' + b"x" * 69_992 + b'"}',
            taken(b'{"a":"' + b"x" * 69_992 + b'"}'),
        ),
    ]


def _signed() -> list[Vector]:
    whole = b"s26:64" + EXAMPLE + b"\n" + _BASE64 + b"\n"
    return [
        _read("signed", "A signed message.", "Signed", whole, taken((EXAMPLE, SIGNATURE))),
        _read(
            "signed-and-plain",
            "The newline behind the signature is part of the message.",
            "Signed Plain",
            whole + b"m2{}" + whole,
            taken((EXAMPLE, SIGNATURE), EMPTY, (EXAMPLE, SIGNATURE)),
        ),
        _read(
            "signed-with-newlines-inside",
            "A newline within the body does not end it.",
            "Signed",
            b's9:4{\n"a":1\n}\nQUJD\n',
            taken((b'{\n"a":1\n}', b"ABC")),
        ),
        _read(
            "signed-padded",
            "Base64 ends with =, which count in its length.",
            "Signed",
            b"s2:4{}\nQQ==\n",
            taken((EMPTY, b"A")),
        ),
        _read(
            "signed-plus-and-slash",
            "Base64 has + and /.",
            "Signed",
            b"s2:4{}\n+/+/\n",
            taken((EMPTY, bytes.fromhex("fbffbf"))),
        ),
    ]


def _attachments() -> list[Vector]:
    return [
        _read(
            "attachment",
            "Two pieces, and the end of them. What is attached is no part of the message.",
            "Attachment",
            b"!2{}3\nabc10\n0123456789" + b"0\nm26" + EXAMPLE,
            taken(EMPTY, EXAMPLE),
        ),
        _read("attachment-of-nothing", "No piece but the last.", "Attachment", b"!2{}0\nm2{}", taken(EMPTY, EMPTY)),
        _read(
            "attachment-like-a-message",
            "A piece may look like a message.",
            "Attachment",
            b"!2{}4\nm2{}0\nm26" + EXAMPLE,
            taken(EMPTY, EXAMPLE),
        ),
        _read(
            "signed-attachment",
            "A signed message with a piece attached.",
            "Attachment Signed",
            b"$2:4{}\nQUJD\n3\nabc0\nm2{}",
            taken((EMPTY, b"ABC"), EMPTY),
        ),
    ]


def _incomplete() -> list[Vector]:
    """A link can break anywhere, and a stream comes in any pieces."""
    cuts = {
        "letter": b"m",
        "length": b"m26",
        "half-a-body": b'm26{"type":"foo"',
        "all-but-a-byte": b"m26" + EXAMPLE[:-1],
        "signed-letter": b"s",
        "signed-lengths": b"s26:6",
        "body-without-signature": b"s2:4{}",
        "half-a-signature": b"s2:4{}\nQU",
        "signature-without-newline": b"s2:4{}\nQUJD",
        "attachment-without-pieces": b"!2{}",
        "half-a-piece": b"!2{}3\nab",
        "attachment-without-end": b"!2{}3\nabc",
        "end-without-newline": b"!2{}3\nabc0",
    }
    return [
        _read(
            f"cut-in-{name}",
            "A message, and one that is not whole.",
            "Incomplete",
            b"m2{}" + end,
            taken(EMPTY, rest=len(end)),
        )
        for name, end in cuts.items()
    ]


def _broken() -> list[Vector]:
    """What begins no message. Nobody can tell where the next one begins, so the stream has to be refused."""
    firsts = {
        "unknown-letter": b"x2{}",
        "upper-case": b"M2{}",
        "no-letter": b"2{}",
        "a-body-alone": b"{}",
        "no-length": b"m{}",
        "negative-length": b"m-2{}",
        "length-in-hex": b"m0x2{}",
        "length-in-letters": b"mtwo{}",
        "length-of-a-fraction": b"m2.0{}",
        "signed-without-second-length": b"s2{}\nQUJD\n",
        "signed-without-lengths": b"s:{}\n\n",
        "plain-with-two-lengths": b"m2:4{}\nQUJD\n",
        "text-of-the-web": b"GET / HTTP/1.1\r\n\r\n",
        "binary": bytes.fromhex("160301020001000001fc0303"),
    }
    return [
        *(
            _read(f"begins-with-{name}", "No message begins so.", "Broken", stream, REJECTED)
            for name, stream in firsts.items()
        ),
        _read("a-message-and-then-none", "Behind a message nothing that begins one.", "Broken", b"m2{}x2{}", REJECTED),
        _read(
            "body-shorter-than-told",
            "A body that is shorter takes from the next message, and what is left begins none.",
            "Broken",
            b"m3{}m2{}",
            REJECTED,
        ),
        _read(
            "body-longer-than-told",
            "A body that is longer leaves a brace behind, which begins no message.",
            "Broken",
            b"m2{ }m2{}",
            REJECTED,
        ),
        _read("piece-without-length", "A piece has a length.", "Broken Attachment", b"!2{}\nabc0\n", REJECTED),
        _read(
            "piece-with-a-negative-length",
            "Lengths of pieces are digits, too.",
            "Broken Attachment",
            b"!2{}-3\nabc0\n",
            REJECTED,
        ),
    ]


def _lengths() -> list[Vector]:
    """Lengths that no message has. Who waits for so many bytes has not taken them for a message either."""

    def never(slug: str, comment: str, stream: bytes) -> Vector:
        return _read(slug, comment, "Length Strict", stream, REJECTED, taken(rest=len(stream)))

    return [
        _read(
            "largest-length",
            "The largest body there can be, of which the first bytes have come.",
            "Length Incomplete",
            b"m16777216{",
            taken(rest=10),
        ),
        never("length-too-large", "One byte more than the largest body has.", b"m16777217{}"),
        never("length-2-32-and-2", "It is no 2, in however few bits it is kept.", b"m4294967298{}"),
        never("length-2-64-and-2", "Nor is this.", b"m18446744073709551618{}"),
        never("length-of-forty-digits", "A length of forty digits.", b"m" + b"9" * 40 + b"{}"),
        never("length-without-end", "Digits, and nothing else.", b"m" + b"1" * 2_000),
        never("signature-2-64-and-4", "The length of a signature, too.", b"s2:18446744073709551620{}\nQUJD\n"),
    ]


def _strictness() -> list[Vector]:
    """Whose end can be found, or what can be read in another way."""

    def skipped(slug: str, comment: str, body: bytes, more: str = "") -> Vector:
        """A body that is invalid, with a message behind it: refused, skipped, or handed on as it is."""
        stream = b"m%d%s" % (len(body), body) + b"m2{}"
        return _read(slug, comment, f"Broken {more}".strip(), stream, REJECTED, taken(EMPTY), taken(body, EMPTY))

    zeros = taken(EMPTY)
    return [
        skipped("body-of-a-list", "A body that does not begin with a brace is invalid.", b"[1]"),
        skipped("body-of-a-string", "A string is no body.", b'"{}"'),
        skipped("body-after-a-blank", "Blanks are allowed, and yet a body begins with a brace.", b" {}"),
        _read(
            "body-of-no-bytes",
            "A body of no bytes has no brace.",
            "Broken",
            b"m0m2{}",
            REJECTED,
            taken(EMPTY),
            taken(b"", EMPTY),
        ),
        _read(
            "body-that-is-no-json",
            "It begins with a brace, and is no JSON: whoever reads bodies refuses it.",
            "Strict",
            b'm5{"a":m2{}',
            taken(b'{"a":', EMPTY),
            REJECTED,
            taken(EMPTY),
        ),
        _read("zeros-before-a-length", "Digits are digits.", "Strict Length", b"m002{}", zeros, REJECTED),
        _read(
            "length-with-a-sign",
            "Digits have no sign, and some readers take one.",
            "Strict Length",
            b"m+2{}",
            REJECTED,
            zeros,
        ),
        _read(
            "newline-between",
            "A newline belongs to signed messages alone. It can be skipped.",
            "Strict",
            b"m2{}\nm2{}",
            REJECTED,
            taken(EMPTY, EMPTY),
        ),
        _read(
            "signature-after-a-blank",
            "Between body and signature stands a newline. A reader that does not look "
            "finds the signature in its place.",
            "Strict Signed",
            b"s2:4{} QUJD\n",
            REJECTED,
            taken((EMPTY, b"ABC")),
            taken(),
        ),
        _read(
            "signature-without-its-newline",
            "The signature is where the newline should be, and a byte is missing "
            "behind it: a reader that does not look waits for it.",
            "Strict Signed",
            b"s2:4{}QUJD\n",
            REJECTED,
            taken(rest=11),
        ),
        _read(
            "signature-in-no-base64",
            "No base64: refused, skipped, or read without a signature.",
            "Strict Signed",
            b"s2:4{}\n!!!!\nm2{}",
            REJECTED,
            taken(EMPTY),
            taken((EMPTY, b""), EMPTY),
        ),
        _read(
            "signature-without-padding",
            "Base64 without = at its end.",
            "Strict Signed",
            b"s2:2{}\nQQ\n",
            REJECTED,
            taken((EMPTY, b"A")),
            taken(),
            taken((EMPTY, b"")),
        ),
        _read(
            "signature-of-nothing",
            "A signature of no bytes is none.",
            "Strict Signed",
            b"s2:0{}\n\nm2{}",
            taken((EMPTY, b""), EMPTY),
            REJECTED,
            taken(EMPTY),
        ),
    ]
