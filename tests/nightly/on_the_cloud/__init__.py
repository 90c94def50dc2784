"""A month of nights on the local cloud: real conductors that are killed, real launchers, real trainings.

story.py    what happens on which night?
books.py    what should come of it, told by the plainest means?
place.py    where does it happen? (data, catalog, code, the schedule, who is told)
life.py     what does a process do there, at which time, and where is it killed?
audit.py    what has really come of it, counted outside?
"""

import pytest

pytest.register_assert_rewrite(f"{__name__}.audit")
