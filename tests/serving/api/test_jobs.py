"""Jobs of the HTTP API without a server: ids of searches."""

from __future__ import annotations

import asyncio

from aleazero.serving.api.jobs import Jobs
from aleazero.serving.api.settings import ApiLimits


def test_the_end_of_a_search_does_not_forget_a_later_one_with_its_id():
    async def run():
        jobs = Jobs(1, ApiLimits(), frozenset())
        try:
            first = jobs.start_search("warm", None, None, identity="mine")
            assert (await first.done()).kind == "result"
            second = jobs.start_search("warm", None, None, identity="mine")
            jobs.forget(first)  # its client has read the last line only now
            assert jobs.has("mine")
            assert jobs.cancel("mine")
            assert (await second.done()).kind == "cancelled"
            assert not jobs.has("mine")
        finally:
            await asyncio.to_thread(jobs.close)

    asyncio.run(run())


def test_a_search_whose_client_is_gone_does_not_forget_a_later_one_with_its_id():
    """The client leaves, and a new search has the id before the first one has ended."""

    async def run():
        jobs = Jobs(1, ApiLimits(), frozenset())
        try:
            first = jobs.start_search("warm", None, None, identity="mine")
            jobs.forget(first)
            second = jobs.start_search("warm", None, None, identity="mine")
            await first.done()
            assert jobs.has("mine")
            assert (await second.done()).kind == "result"
            assert not jobs.has("mine")
        finally:
            await asyncio.to_thread(jobs.close)

    asyncio.run(run())
