import pytest

from recloak._core import errors
from recloak._core.errors import InputError, InternalError, RecloakError, RefusedError, SourceError


def tree(root: type[RecloakError]) -> list[type[RecloakError]]:
    children: list[type[RecloakError]] = root.__subclasses__()
    return [root, *(below for child in children for below in tree(child))]


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    drawn = {word for word in (errors.__doc__ or "").split() if word.endswith("Error")}
    assert drawn == {kind.__name__ for kind in tree(RecloakError)}


@pytest.mark.parametrize("kind", tree(InputError))
def test_the_callers_mistake_leaves_with_2(kind):
    assert kind.exit_code == 2


def test_a_broken_promise_leaves_with_1_and_our_bug_with_3():
    assert (RefusedError.exit_code, InternalError.exit_code) == (1, 3)


def test_a_bad_row_names_file_line_rule_and_value():
    error = SourceError("a rating must be a finite number", file="r.csv", line=7, value="nan")
    assert str(error) == "r.csv, line 7: a rating must be a finite number, got 'nan'"


def test_a_bad_file_has_no_line():
    assert str(SourceError("the file is empty", file="r.csv")) == "r.csv: the file is empty"


def test_a_bad_table_has_no_file():
    assert str(SourceError("there are no ratings")) == "there are no ratings"
