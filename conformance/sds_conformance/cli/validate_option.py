"""``--validate``: checks each message of a conversation against its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from sds_harness.language import Language
from sds_harness.link import Link
from sds_harness.validation import MessageOrigin, SchemaComplaint, Validator
from sds_testee.framing import Framing

from ..judging.formats import format_count
from ..presentation.story import print_labelled
from .documentation import PAGES
from .driving import DrivenImplementation


class Validation:
    """Validates the messages of the driven implementation, and prints the complaints."""

    def __init__(self, language: Language, driven: DrivenImplementation) -> None:
        self._driven = driven
        package = language.request.DESCRIPTOR.file.package.partition(".")[0]
        self._page_name = f"{package}-protocol" if f"{package}-protocol" in PAGES else "protocol"
        self._validator = Validator(
            language, Framing.JSON if driven.transport == Framing.JSON.value else Framing.BINARY
        )
        self._heard = True

    def connect(self, variables: Mapping[str, str]) -> Link:
        """Connect like ``driven``, and validate every message of the connection."""
        link: Link = self._driven.connect(variables)
        self._heard = link.listen(self._validator)
        return link

    def show(self, out: Console, *, wrong_only: bool = False) -> bool:
        """Print the complaints. Return True if there are none; then ``wrong_only`` prevents any output."""
        validator = self._validator
        if wrong_only and not validator.complaints:
            return True
        if not self._heard:
            out.print(Text("  Not validated: the bytes of this conversation cannot be observed.\n", "yellow"))
            return True
        for complaint in validator.complaints:
            _show(out, complaint, self._page_name)
        if validator.dropped:
            out.print(f"  and {format_count(validator.dropped, 'complaint')} more\n")
        if not validator.complaints:
            of = f"{format_count(validator.requests, 'request')} and as many replies"
            text = "match the schemas"
            if validator.framing is Framing.BINARY:
                text = "have no unknown fields (protobuf messages contain no names that could be misspelt)"
            print_labelled(out, "Valid", Text(f"{of}, {text}.", "green"))
            out.print()
        return not validator.complaints


def _show(out: Console, complaint: SchemaComplaint, page_name: str) -> None:
    adapter = complaint.side is MessageOrigin.ADAPTER
    message = "reply" if adapter else "request"
    what = f" ({complaint.message_kind})" if complaint.message_kind else ""
    where = f"the {message} {'to request ' if adapter else ''}{complaint.number}{what}"
    out.print(Text.assemble(("INVALID", "bold red"), (f"  {complaint.side.value}", "bold"), f", in {where}"))
    print_labelled(out, "Field", Text(complaint.path or "the whole message", "bold"))
    print_labelled(out, "Wrong", complaint.message)
    if complaint.more:
        print_labelled(out, "", Text(f"and {complaint.more} more of this kind", "dim"))
    page = PAGES[page_name].file
    mend = f"See {page} for the fields." if adapter else "This is a fault of the suite: please report it."
    print_labelled(out, "Hint", mend)
    out.print()
