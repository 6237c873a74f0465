from recloak._core import progress


class Ear:
    def __init__(self) -> None:
        self.heard: list[tuple[str, object]] = []

    def start(self, label, total):
        self.heard.append((label, total))
        return (lambda n: self.heard.append(("advance", n))), (lambda: self.heard.append(("end", label)))


def test_without_a_listener_work_is_silent(capfd):
    with progress.task("padding", 2) as advance:
        advance(1)
    assert capfd.readouterr() == ("", "")


def test_a_listener_hears_start_advance_and_end():
    ear = Ear()
    with progress.listening(ear), progress.task("padding", 2) as advance:
        advance(1)
    assert ear.heard == [("padding", 2), ("advance", 1), ("end", "padding")]


def test_a_task_ends_even_when_its_work_fails():
    ear = Ear()
    try:
        with progress.listening(ear), progress.task("padding"):
            raise KeyError
    except KeyError:
        pass
    assert ear.heard[-1] == ("end", "padding")


def test_off_a_terminal_nothing_is_shown(capfd):
    with progress.progress(), progress.task("padding", 1) as advance:
        advance(1)
    assert capfd.readouterr() == ("", "")


def test_on_a_terminal_a_bar_is_shown(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with progress.progress(), progress.task("padding", 1) as advance:
        advance(1)
    assert "padding" in capfd.readouterr().err
