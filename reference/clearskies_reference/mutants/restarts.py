"""Peers that detect a restart or the end of a killed process. Mutants in other modules inherit from them."""

from __future__ import annotations

from typing import Any

from ..peer import Peer
from ..sqlite_store import SqliteStore


class KnowsRestarts(Peer):
    """Knows whether the peer was restarted: only then does the store contain records at the start."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.was_restarted = any(True for _ in self.store)


class LosesDataWhenKilled(Peer):
    """Loses data at the start if the previous process was killed before it closed the store."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        if isinstance(self.store, SqliteStore):
            self._begin(self.store)

    def _begin(self, store: SqliteStore) -> None:
        if store._fact("closed", "yes") == "no":
            self.lose(store)
        close = store.close

        def record_and_close() -> None:
            store._execute("UPDATE facts SET value = 'yes' WHERE name = 'closed'")
            store.commit()
            close()

        store._execute("UPDATE facts SET value = 'no' WHERE name = 'closed'")
        store.commit()
        store.close = record_and_close  # type: ignore[method-assign]

    def lose(self, store: SqliteStore) -> None:
        """Remove or change data in the store."""
        raise NotImplementedError
