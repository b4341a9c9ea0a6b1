"""The schedules the browser's tests read are what the API answers today."""

from tests.golden import schedules


def test_the_golden_schedules_are_what_the_api_answers() -> None:
    assert schedules.FILE.read_text(encoding="utf-8") == schedules.text(), "run `python -m tests.golden.schedules`"
