"""The cart-pole of §5.4 and App. D: tune a state-feedback controller, with B falls to spend.

MuJoCo's inverted pendulum with its damping raised from 1.0 to 1.5. A trial is 800 steps of 0.04 s: the pole
starts near upright from a random state (fixed for each repetition) and is to be stabilised; from step 400 on
the cart is to stand 0.1 m further along. With s = (φ, φ', l, l') (angle, cart position and their rates) the
input is a motor control in [-3, 3],

    a_k = xᵀ(s_k − s*) + 0.01 Σ_{i ≤ k} (l_i − l*)

and the cost J = mean of φ² + φ'² + (l − l*)² + l'². J spans five decades, so the objective is log10 J. The
constraint is max|l| <= 1 m, the rail's end (the paper's max(l) would call a crash to the left safe): beyond
it the emergency stop ends the trial, and the last stage's cost is held to the end.

Needs the extra ``experiments``: MuJoCo, and the model file that comes with Gymnasium.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_discrete_are

from ..errors import InputError
from ._problem import Array, Problem

BOUNDS = np.array([[0.0, 20.0], [0.0, 5.0], [0.0, 3.0], [0.0, 5.0]])
PARAMETER_NAMES = ("angle", "angle rate", "position", "velocity")
STEPS = 800
STEP_TIME = 0.04
STEP_AT = 400
STEP_SIZE = 0.1
RAIL = 1.0
INTEGRATOR = 0.01
DAMPING = 1.5
RESET_NOISE = 0.01
BEST_SEEN = -3.21  # log10 J, just below the best of repetitions 0 to 9 after long local searches


@dataclass(frozen=True, eq=False)
class Rollout:
    """One trial of a controller.

    states: (n, 4) φ, φ', l, l' at the start of each step that was made, in rad, rad/s, m and m/s.
    controls: (n,) what was asked of the motor; it gives at most 3.
    cost: J, with the last stage's cost held after an emergency stop.
    displacement: max|l| in m.
    stopped: the step at which the emergency stop came, None where there was none.
    """

    states: Array
    controls: Array
    cost: float
    displacement: float
    stopped: int | None

    @property
    def safe(self) -> bool:
        """Whether the cart stayed on the rail."""
        return self.stopped is None


@cache
def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise ImportError("the cart-pole needs MuJoCo: pip install -e '.[experiments]'") from error
    return mujoco


def model_file() -> Path:
    """The inverted pendulum that Gymnasium ships; its package is located, not imported."""
    spec = find_spec("gymnasium")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the cart-pole's model comes with Gymnasium: pip install -e '.[experiments]'")
    return Path(spec.submodule_search_locations[0]) / "envs" / "mujoco" / "assets" / "inverted_pendulum.xml"


@cache
def model(damping: float = DAMPING) -> Any:
    """The MuJoCo model, compiled once."""
    compiled = _mujoco().MjModel.from_xml_path(str(model_file()))
    compiled.dof_damping[:] = damping
    return compiled


class CartPole:
    """The plant: set a state, apply a control for 0.04 s, read the state."""

    def __init__(self, damping: float = DAMPING) -> None:
        self._mujoco = _mujoco()
        self._model = model(damping)
        self._data = self._mujoco.MjData(self._model)

    @property
    def state(self) -> Array:
        """(φ, φ', l, l'), the paper's order."""
        (position, angle), (velocity, rate) = self._data.qpos, self._data.qvel
        return np.array([angle, rate, position, velocity])

    @state.setter
    def state(self, value: ArrayLike) -> None:
        angle, rate, position, velocity = np.asarray(value, dtype=np.float64)
        self._mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:] = position, angle
        self._data.qvel[:] = velocity, rate
        self._mujoco.mj_forward(self._model, self._data)

    def advance(self, control: float) -> None:
        """Hold the control for one step (two steps of the simulation)."""
        self._data.ctrl[0] = control
        self._mujoco.mj_step(self._model, self._data, 2)


def initial_state(repetition: int) -> Array:
    """The repetition's start (φ, φ', l, l'), each uniform in ±0.01 as in Gymnasium's reset."""
    return np.random.default_rng([54, repetition]).uniform(-RESET_NOISE, RESET_NOISE, size=4)


def rollout(gains: ArrayLike, start: ArrayLike, *, steps: int = STEPS, damping: float = DAMPING) -> Rollout:
    """Run the controller ``gains`` (4,) from the state ``start`` (4,)."""
    x = np.asarray(gains, dtype=np.float64)
    if x.shape != (4,) or not np.all(np.isfinite(x)):
        raise InputError(
            f"a controller is four finite gains (angle, angle rate, position, velocity); got {gains!r}"
        )
    plant = CartPole(damping)
    plant.state = start
    states, controls = np.zeros((steps, 4)), np.zeros(steps)
    costs, displacement = np.zeros(steps), 0.0
    integral, target = 0.0, np.zeros(4)
    for k in range(steps):
        if k == STEP_AT:
            target[2] = STEP_SIZE
        states[k] = plant.state
        error = states[k] - target
        costs[k] = error @ error
        displacement = max(displacement, abs(states[k, 2]))
        if displacement > RAIL:
            cost = (costs[: k + 1].sum() + (steps - k - 1) * costs[k]) / steps
            return Rollout(states[: k + 1], controls[: k + 1], float(cost), displacement, k)
        integral += error[2]
        controls[k] = x @ error + INTEGRATOR * integral
        plant.advance(controls[k])
    return Rollout(states, controls, float(costs.mean()), displacement, None)


def lqr_gains(input_weight: float = 1.0) -> Array:
    """The linear-quadratic regulator of the plant linearised upright, Q = I, R = ``input_weight``.

    Gains (4,) in the paper's order and sign (a = +xᵀs).
    """
    plant, h = CartPole(), 1e-6

    def after(state: Array, control: float) -> Array:
        plant.state = state
        plant.advance(control)
        return plant.state

    columns = [(after(h * e, 0.0) - after(-h * e, 0.0)) / (2 * h) for e in np.eye(4)]
    a = np.stack(columns, axis=1)
    b = ((after(np.zeros(4), h) - after(np.zeros(4), -h)) / (2 * h))[:, None]
    p = solve_discrete_are(a, b, np.eye(4), np.array([[input_weight]]))
    gain: Array = -np.linalg.solve(input_weight + b.T @ p @ b, b.T @ p @ a)[0]
    return gain


def cartpole(repetition: int = 0) -> Problem:
    """The problem of §5.4 from the start of one repetition: T = 100, B = 15, objective log10 J."""
    start = initial_state(repetition)

    @lru_cache(maxsize=2)
    def run(gains: tuple[float, ...]) -> tuple[float, float]:
        outcome = rollout(gains, start)
        return outcome.cost, outcome.displacement

    return Problem(
        name=f"cartpole:{repetition}",
        bounds=BOUNDS,
        objective=lambda x: float(np.log10(run(tuple(x.tolist()))[0])),
        constraints=lambda x: np.array([run(tuple(x.tolist()))[1] - RAIL]),
        constraint_names=("displacement",),
        parameter_names=PARAMETER_NAMES,
        f_min=BEST_SEEN,
        trials=100,
        failures=15,
        note="A third of the gains are stable; costs span five decades, so the objective is log10 J.",
    )
