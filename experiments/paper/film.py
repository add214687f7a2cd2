"""A strip of two cart-pole controllers, one that stands and one that falls, drawn by MuJoCo without a screen.

    MUJOCO_GL=egl python -m experiments.paper.film [--out out/cartpole.png]

Where no OpenGL is to be had, the cart-pole is drawn from its states instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tumble.problems.cartpole import (
    RAIL,
    STEP_AT,
    STEP_SIZE,
    STEP_TIME,
    Rollout,
    initial_state,
    model_file,
    rollout,
)

STANDS = (17.73, 3.63, 2.20, 3.96)
FALLS = (9.87, 0.02, 2.01, 2.78)
HEIGHT, WIDTH = 240, 420
POLE = 0.6

Picture = NDArray[np.uint8]


def pictures(states: NDArray[np.float64]) -> list[Picture]:
    """One picture (HEIGHT, WIDTH, 3) for each state (φ, φ', l, l'), on white."""
    import mujoco

    plant = mujoco.MjModel.from_xml_path(str(model_file()))
    plant.vis.headlight.ambient[:] = plant.vis.headlight.diffuse[:] = 0.5
    data, camera = mujoco.MjData(plant), mujoco.MjvCamera()
    camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = (0.0, 0.0, 0.25), 2.15, 90.0, -8.0
    drawn = []
    with mujoco.Renderer(plant, HEIGHT, WIDTH) as renderer:
        for angle, _, position, _ in states:
            data.qpos[:] = position, angle
            mujoco.mj_forward(plant, data)
            renderer.update_scene(data, camera)
            picture = renderer.render()
            picture[picture.max(axis=2) == 0] = 255
            drawn.append(picture)
    return drawn


def strip(runs: Sequence[tuple[str, Rollout]], path: Path, n: int = 6) -> None:
    """Snapshots of each run, evenly through its interesting part, above the cart's path."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 1.3 * len(runs) + 2.6), layout="constrained")
    grid = figure.add_gridspec(len(runs) + 1, n, height_ratios=[1.0] * len(runs) + [1.8])
    for row, (title, run) in enumerate(runs):
        moments = _moments(run, n)
        for column, (k, picture) in enumerate(zip(moments, _pictures(run.states[moments]), strict=True)):
            axes = figure.add_subplot(grid[row, column])
            _show(axes, picture, run.states[k])
            axes.set_title(f"{k * STEP_TIME:.2f} s", fontsize=9)
            if column == 0:
                axes.set_ylabel(title, fontsize=10)
    _paths(figure.add_subplot(grid[-1, :]), runs)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _moments(run: Rollout, n: int) -> NDArray[np.int64]:
    """The fall to its end; else the start and the three seconds after the step."""
    if run.stopped is not None:
        return np.linspace(0, run.stopped, n).round().astype(np.int64)
    after = np.linspace(STEP_AT, STEP_AT + 80, n - 1).round().astype(np.int64)
    return np.append(np.int64(0), after)


def _pictures(states: NDArray[np.float64]) -> list[Picture | None]:
    try:
        return list(pictures(states))
    except (ImportError, RuntimeError, AttributeError) as error:  # what MuJoCo raises without OpenGL
        print(f"no OpenGL ({error}); drawing from the states", file=sys.stderr)
        return [None] * len(states)


def _show(axes: Any, picture: Picture | None, state: NDArray[np.float64]) -> None:
    if picture is None:
        angle, _, position, _ = state
        axes.plot([-RAIL, RAIL], [0, 0], color="0.5", lw=2)
        axes.plot(
            [position, position + POLE * np.sin(angle)], [0, POLE * np.cos(angle)], color="#1b9e9e", lw=5
        )
        axes.plot(position, 0, marker="s", color="#c9a400", ms=11)
        axes.set(xlim=(-1.2, 1.2), ylim=(-0.3, 0.8), aspect="equal")
    else:
        axes.imshow(picture)
    axes.set(xticks=[], yticks=[])


def _paths(axes: Any, runs: Sequence[tuple[str, Rollout]]) -> None:
    colours = ("#2a6f4e", "#b5452c")
    for (title, run), colour in zip(runs, colours, strict=True):
        time = np.arange(len(run.states)) * STEP_TIME
        axes.plot(time, run.states[:, 2], color=colour, label=f"{title}: J = {run.cost:.2g}")
        if run.stopped is not None:
            axes.plot(time[-1], run.states[-1, 2], "x", color=colour, ms=10, mew=2.5)
    axes.step(
        [0, STEP_AT * STEP_TIME, 32], [0, STEP_SIZE, STEP_SIZE], where="post", color="0.3", lw=1, ls="--"
    )
    axes.axhspan(RAIL, RAIL + 0.2, color="#b5452c", alpha=0.12, lw=0)
    axes.axhspan(-RAIL - 0.2, -RAIL, color="#b5452c", alpha=0.12, lw=0)
    axes.set(xlabel="time (s)", ylabel="cart position (m)", ylim=(-RAIL - 0.2, RAIL + 0.2), xlim=(0, 32))
    axes.legend(loc="lower right", frameon=False)


def main(arguments: list[str] | None = None) -> int:
    """Draw the strip."""
    parser = argparse.ArgumentParser(prog="python -m experiments.paper.film", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/cartpole.png"), help="the file to write")
    parser.add_argument("--repetition", type=int, default=0, help="whose initial state")
    options = parser.parse_args(arguments)
    start = initial_state(options.repetition)
    strip([("stands", rollout(STANDS, start)), ("falls", rollout(FALLS, start))], options.out)
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
