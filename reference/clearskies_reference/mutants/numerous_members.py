"""Faults with hundreds of members or records, with numbers of 63 bits, and with members that have similar names."""

from __future__ import annotations

import json
from dataclasses import replace

from ..effects import Effects
from ..errors import MalformedMessageError
from ..framing import Message
from ..messages import GetUpdates
from ..peer import ClubLink, Peer
from ..record import Record
from .registry import fault, mutant, register_faults
from .restarts import KnowsRestarts


@register_faults
class _Numerous(Peer):
    @fault(Peer.apply_update, "12", "keeps only the first 64 numbers of a vector clock")
    def keeps_64_numbers(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        clock = dict(list(incoming.vector_clock.items())[:64])
        super().apply_update(replace(incoming, vector_clock=clock), signed, source, effects)

    @fault(Peer.answer, "59", "reads only the first fifty members of a request")
    def reads_fifty_members(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        super().answer(link, replace(request, since=dict(list(request.since.items())[:50])), effects)

    @fault(Peer.answer, "59", "reads only the low 32 bits of the revisions in a request")
    def reads_32_bits(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        since = {peer_id: revision % (1 << 32) for peer_id, revision in request.since.items()}
        super().answer(link, replace(request, since=since), effects)

    @fault(Peer.apply_update, "41", "refuses updates with a number of at least 2^63-1 in their vector clocks")
    def refuses_largest_numbers(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if max(incoming.vector_clock.values(), default=0) >= (1 << 63) - 1:
            raise MalformedMessageError("the number is too large")
        super().apply_update(incoming, signed, source, effects)

    @fault(Peer.apply_update, "25", "refuses updates with a revision of at least 2^63-1")
    def refuses_the_largest_revision(
        self, incoming: Record, signed: Message | None, source: int, effects: Effects
    ) -> None:
        if incoming.last_updated_rev >= (1 << 63) - 1:
            raise MalformedMessageError("the revision is too large")
        super().apply_update(incoming, signed, source, effects)

    @fault(Peer.apply_update, "07", "keeps only the first 1,023 bytes of a key")
    def keeps_1023_bytes(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        key = incoming.key.encode("utf-8", "surrogatepass")[:1_023].decode("utf-8", "ignore")
        super().apply_update(replace(incoming, key=key), signed, source, effects)

    @fault(Peer.read_body, "02", "ignores upper and lower case in the names of members")
    def reads_names_in_any_case(self, body: bytes) -> Record | GetUpdates | None:
        members = {name.lower(): value for name, value in json.loads(body).items()}
        return super().read_body(json.dumps(members, ensure_ascii=False).encode("utf-8", "surrogatepass"))


@mutant("29", "forgets the known revisions in a restart if it has more than a hundred records")
class ForgetsManyKnownRevisions(KnowsRestarts):
    def known(self) -> dict[str, int]:
        many = self.was_restarted and sum(1 for _ in self.store) > 100
        return {} if many else super().known()
