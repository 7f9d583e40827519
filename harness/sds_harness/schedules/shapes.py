"""The types of the fields of operations, with the bounds that their values have in a file.

The JSON Schema of schedules is generated from them, see ``harness/generate_schedule_schemas.py``.
"""

from __future__ import annotations

from typing import Annotated, Any


class Bounds:
    """The JSON Schema of the value of a field."""

    def __init__(self, name: str = "", **keywords: Any) -> None:
        """``name`` is the name of the type in the JSON Schema; "" for none. ``keywords`` are keywords of JSON
        Schema."""
        self.name = name
        self.keywords = keywords


LONGEST_NAME = 200
"""Maximum length of a name in characters. A public key in hexadecimal digits, which a participant may use as its ID,
has 132."""
LONGEST_LABEL = 220
"""Maximum length of a label in characters: a label may be the name of a participant and a number."""
Name = Annotated[str, Bounds("name", minLength=1, maxLength=LONGEST_NAME)]
"""The name of a participant or a scripted peer."""
OptionalName = Annotated[str, Bounds("optional_name", maxLength=LONGEST_NAME)]
Label = Annotated[str, Bounds("label", minLength=1, maxLength=LONGEST_LABEL)]
"""The label of a message."""
OptionalLabel = Annotated[str, Bounds("optional_label", maxLength=LONGEST_LABEL)]
ShortText = Annotated[str, Bounds(maxLength=200)]
Text = Annotated[str, Bounds(maxLength=100_000)]
LongText = Annotated[str, Bounds(maxLength=1_000_000)]
Expression = Annotated[str, Bounds("expression", maxLength=200)]
"""An expression over the configuration in force, see ``expressions``."""
Hexadecimal = Annotated[str, Bounds("hexadecimal", pattern="^([0-9a-f]{2})*$", maxLength=1_000_000)]
Ms = Annotated[int, Bounds("ms", minimum=0, maximum=10**12)]
SignedMs = Annotated[int, Bounds("signed_ms", minimum=-(10**12), maximum=10**12)]
Percent = Annotated[int, Bounds("percent", minimum=0, maximum=100)]
Uint64 = Annotated[int, Bounds("uint64", minimum=0, maximum=1 << 64)]
"""An integer from 0 to 2^64. The maximum does not fit in 64 bits, so that schedules can test an overflow."""
Bytes = Annotated[int, Bounds("bytes", minimum=0, maximum=4 << 20)]
Channel = Annotated[int, Bounds("channel", minimum=0, maximum=63)]
