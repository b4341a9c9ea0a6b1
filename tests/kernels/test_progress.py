"""What is seen while the bench runs: a bar that is redrawn on a terminal, a line each tenth of the way in a log."""

import io

from app.kernels.bench.progress import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_one_bar_is_redrawn_and_ends_its_line() -> None:
    stream = Terminal()
    progress = Progress("timing", 2, stream)
    progress.step("fa2_triton")
    progress.step("sdpa_flash")
    first, second = stream.getvalue().split("\r\x1b[K")[1:]
    assert first == "timing ████████████············ 1/2 fa2_triton"
    assert second == "timing ████████████████████████ 2/2 sdpa_flash\n"


def test_in_a_log_each_tenth_of_the_way_is_a_line() -> None:
    stream = io.StringIO()
    progress = Progress("timing", 100, stream)
    for step in range(100):
        progress.step(str(step))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 11  # the first step, then every tenth
    assert lines[0].startswith("timing 1/100 after 0 s: 0")
    assert lines[-1].startswith("timing 100/100")
