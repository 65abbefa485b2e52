"""The base of every record."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen record that refuses unknown keys.

    Its validator is built when it is first used: `list` and `lint` import many records and make few.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
