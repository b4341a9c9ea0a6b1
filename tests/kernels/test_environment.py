"""What is asked of the machine, where the answer can be known without a GPU."""

import pytest

from app.facts.record_schema import parse
from app.kernels.bench import environment
from app.kernels.bench.environment import MissingEnvironmentError
from tests.facts.test_timings import RUN


def test_clocks_are_read_from_a_line_of_nvidia_smi() -> None:
    assert environment.parse_clocks("1980, 3201, 98.31, 34\n") == {
        "sm_mhz": 1980.0,
        "memory_mhz": 3201.0,
        "power_w": 98.31,
        "temperature_c": 34.0,
    }


def test_what_the_gpu_does_not_report_is_minus_one() -> None:
    assert environment.parse_clocks("1980, 3201, [N/A], 34")["power_w"] == -1.0


@pytest.mark.parametrize("text", ["", "1980, 3201\n", "No devices were found"])
def test_another_answer_is_refused(text: str) -> None:
    with pytest.raises(MissingEnvironmentError, match="nvidia-smi answered"):
        environment.parse_clocks(text)


def test_the_commit_is_that_of_the_checkout_or_the_one_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.commit("abc123") == "abc123"
    monkeypatch.setattr(environment, "_output", lambda command: "f00d" if "rev-parse" in command else " M app/x.py")
    assert environment.commit() == "f00d+changes"
    monkeypatch.setattr(environment, "_output", lambda command: "f00d" if "rev-parse" in command else "")
    assert environment.commit() == "f00d"


def test_without_a_checkout_the_commit_must_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_output", lambda command: "")
    with pytest.raises(MissingEnvironmentError, match="--commit"):
        environment.commit()
    with pytest.raises(MissingEnvironmentError, match="driver"):
        environment.driver()


def test_the_date_names_its_time_zone() -> None:
    assert environment.now().endswith("+00:00")


def test_a_run_s_header_is_one_that_a_record_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """And says that the kernels of a case take turns."""
    for name in ("clocks", "gpu", "driver", "versions"):
        known = RUN["clocks"]["before"] if name == "clocks" else RUN[name]
        monkeypatch.setattr(environment, name, lambda known=known: known)
    header = environment.run_header(["exhibit", "bench"], "abc123")
    assert parse({"schema": 1, "run": header, "timings": []}, "one").run.order == "in turns"
