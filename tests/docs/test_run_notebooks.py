import nbformat
import pytest

from docs import comparing, run_notebooks


@pytest.mark.filterwarnings("ignore")  # of what runs kernels
@pytest.mark.parametrize("path", run_notebooks.notebooks(), ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_what_it_shows(path):
    stored = nbformat.read(path, as_version=4)
    assert run_notebooks.differences(stored, run_notebooks.run(path)) == []


def test_there_are_three():
    assert [path.stem for path in run_notebooks.notebooks()] == ["comparison", "first-study", "rig-by-hand"]


@pytest.mark.parametrize("path", run_notebooks.notebooks(), ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs(path):
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert sum(bool(cell.outputs) for cell in code) >= 3


def test_a_cell_that_prints_something_else_is_named():
    cell = nbformat.v4.new_code_cell(
        "print(1)", outputs=[nbformat.v4.new_output("stream", text="cost 1.0\n")]
    )
    other = nbformat.v4.new_code_cell(
        "print(1)", outputs=[nbformat.v4.new_output("stream", text="gain 1.0\n")]
    )
    stored, found = (nbformat.v4.new_notebook(cells=[one]) for one in (cell, other))
    assert run_notebooks.differences(stored, stored) == []
    if comparing.arithmetic() != comparing.COMPUTED_WITH:
        pytest.skip("this machine rounds otherwise: outputs are compared on another")
    assert run_notebooks.differences(stored, found) == ["cell 0 printed:\ngain 1.0\n"]
