"""Every constant of the method, frozen, with the paper's own beside the product's."""

import math
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from .. import checks
from ..errors import InputError
from .deprecation import renamed_fields
from .process.crashes import DRAWS
from .process.kernels import Kernel
from .process.priors import Gamma, LogNormal, Normal, ParetoTail, Prior, Priors, Uniform

MinimumLaw = Literal["joint", "frechet", "gumbel"]
Incumbent = Literal["mean", "observed", "all"]
Relearn = Literal["settled", "always"]
DefaultSearch = Literal["improvement", "excursion"]
MOST = 100_000  # samples, points or starts
SMALLEST = 1e-6  # width and power of a law with a tail; the largest ones are 1 / SMALLEST
BOLDNESS = {"rho_0": (0.99, 0.1), "rho_only": (0.99, 0.1), "rho_risk": (0.9, 0.01)}  # at 0 and at 1
EARLY = 40  # trials: they decide which basin is found, and a suggestion takes its time
MANY = 400  # trials: with more of them a suggestion looks at fewer points
SWITCHES = (
    "standardize", "warp", "cap_minima", "band", "descend", "safety_first", "keep_last_failure", "soften_phi",
    "calibrate", "alarm", "bound_risk", "descend_safely", "allowed_minima", "keep_rho", "admissible",
    "share_failures", "doubt_safety", "integrate", "widen_at_end", "stepping_stones",
    "weigh_noise", "less_violation",
)  # fmt: skip
LOWEST = {"gap": 0.0, "surprise": 0.0, "safest_odds": 1.0, "pi_margin": 0.0, "ucb_beta": 0.0}  # or None
RETIRED = ("temper", "look_elsewhere")  # keys of older files that no setting has any more
PRIORS: dict[str, type[Prior]] = {p.__name__: p for p in (Uniform, Gamma, Normal, LogNormal, ParetoTail)}


# These priors were chosen on seeds 0-39 of Hartmann 6D, Michalewicz 10D and in-model draws. What lengthscales
# have in common was chosen on tuning seeds of the proving ground, by how well the next trials are predicted.
# Those of a constraint have nothing in common: a parameter that was hardly tried is not taken for harmless.
# But many limits depend on a few parameters only: with a tail, a few trials show which others do nothing.
# A constraint may be noisier than an objective: a fit that underrates the noise takes it for steep slopes.
DEFAULT_PRIORS = Priors(
    LogNormal(0.55, 0.7, common=1.0), LogNormal(1.0, 1.0), LogNormal(1e-3, 1.0),
    additive=(-1.0, 1.5), mean_std=1.0,
)  # fmt: skip
LIMIT_PRIORS = replace(DEFAULT_PRIORS, lengthscale=ParetoTail(0.55, 0.7, 1.0), noise=LogNormal(1e-3, 1.5))


@renamed_fields(temper="soften_phi")
@dataclass(frozen=True)
class Settings:
    """How the search behaves. `Settings()` is the product's default, `Settings.paper()` the paper's.

    Parameters
    ----------
    rho_safe
        The P(safe) towards which the controller of §4.2 moves after a failure, and which a recommendation
        must reach.
    rho_risk
        The P(safe) towards which the controller moves while trials pass and failures are left.
    rho_0
        The P(safe) that is asked of the first trial.
    rho_only
        The same where B = 1 and every parameter is continuous: after the only failure little can be learned.
        None for `rho_0`. So it is with choices or steps: nothing is known of a choice before it is tried.
    reserve
        How many failures are kept for careful trials where there are choices: while more are left, no more
        than `rho_0` is asked for. Careful trials go step by step from what is known to be safe, and no step
        leads to another choice. None where ρ follows (14) alone. So it is without choices.
    boldness
        From 0, cautious, to 1: how much risk is taken while failures are left. On the scale of Φ^-1 it sets
        `rho_0` and `rho_only` to 0.99 at 0 and to 0.1 at 1, and `rho_risk` to 0.9 and 0.01. None for all as
        given.
    rho_b
        The search is bold while the controller asks for a P(safe) up to this one, and careful above it.
    delta
        The probability of one failure or more that is allowed in all trials after the last failure is spent.
        None for the paper's rule: `rho_safe` for each of them.
    bound_risk
        Whether the search ends where no setting is safe enough for `delta` after the last failure. If False,
        it goes on where it is safest, as in 0.1.0.
    kernel
        "matern52" or "se", the squared exponential.
    objective
        Priors of the process of the objective.
    constraint
        Priors of the processes of the constraints.
    standardize
        Whether the processes see results in units of their spread. Constraints are scaled, never shifted.
    warp
        Whether outputs that span decades are compressed far from the best value, or from the limit, where the
        process then predicts better (`core.process.warps`).
    relearn
        When hyperparameters are learned again: "always", after every trial; or "settled", after every trial
        up to ten for each parameter (at least 40, at most 100), then when there are a quarter more of them.
    search
        What the method None stands for: "improvement", expected improvement under the controller ("tumble");
        or "excursion", the paper's method ("xsf", "xs").
    minima
        The law of f*, the minimum. "joint" draws the process at `grid` candidates, those most likely to hold
        the minimum. "frechet" and "gumbel" fit that law to `grid` points all over the cube.
    n_minima
        Samples of f*.
    grid
        Points that the law of f* is computed from.
    cap_minima
        Whether no sample of the Fréchet law may lie below the 0.1 % quantile of what the law is fitted to.
    gap
        Each sample of f* lies at least this far below η, in model units; None for the samples as drawn.
    optimism
        Each sample of f* lies below η by at least this share of the mean of η - f* over all samples.
    band
        Whether Xs counts crossings of a band of levels as wide as σ(x) in place of one level.
    restarts
        Local searches for each suggestion. They start from the best candidates.
    raw_samples
        Candidates all over the cube. A quarter as many are added around the best trials.
    descend
        Whether a point downhill from each of the best trials is a candidate too.
    descend_safely
        Whether the points where the mean is lowest under a P(safe) of 0.5, 0.9, 0.99 and ρ are candidates:
        of methods that sample f*, of the recommendation, and wherever there are two limits or more.
    allowed_minima
        Whether f* is, in the careful mode, the minimum over what reaches ρ.
    keep_rho
        Whether the bold mode, too, keeps to points that reach ρ.
    survey
        While at most so many trials are known for each failure that is left, and for every two trials left, a
        bold trial of the default search goes where nothing was tried (`core.search.survey`), up to the sixth.
        It does so, too, while no trial has a value although not all failed: each was pruned. And while
        no more trials are known than are left, a bold or careful one turns what no trial has turned: a
        choice, or a number with steps of 5 % of its range or more. 0 for never.
    stepping_stones
        Whether the default search, where it is careful, may make a trial that teaches of a better setting
        which is not sure enough yet (`core.search.stones`).
    weigh_noise
        Whether the default search, where values are noisy, counts how much of a gain one trial can show
        (`core.improvement`). If False, it measures the best settings again and again.
    admissible
        Whether the search moves among the settings that can be run: integers and choices by steps. If False,
        it moves in the unit cube and the settings nearest to what it finds are compared.
    safety_first
        Whether half of the failures are kept while no trial was safe: the search is bold with the first half
        only, and then goes as `less_violation` says.
    less_violation
        Whether a search that knows no safe trial looks where the worst violation is expected to fall the
        most (`core.violation`), once no setting reaches ρ or `safety_first` says so. If False, it looks where
        it is safest: with few failures that is one corner after the other.
    keep_last_failure
        Whether the last failure is kept once two trials have crashed, as in 0.1.0: at least `rho_safe` is
        asked from then on. `tumble plan` does not know of it.
    share_failures
        Whether trials in flight share the failures that are left by their P(safe): see `core.budget.share`.
        If False, each that is less safe than `rho_safe` holds one whole failure until it is told.
    safest_odds
        What is taken where no point reaches the P(safe) asked for: the most promising of the points whose
        odds of a failure are at most this many times those of the safest point. None for the safest point.
    soften_phi
        Whether φ counts less in (15) while nothing has failed: see `core.budget.phi_exponent`.
    calibrate
        Whether P(safe) is about what a trial will measure, noise included, and is corrected by how earlier
        predictions turned out (`core.calibration`). If False, P(safe) is about the constraint itself, as in
        the paper.
    widen_at_end
        Whether P(safe) is corrected only once no failure is left. While one is left, a correction that errs
        on the safe side costs more than it saves. If False, P(safe) is always corrected, as in 0.1.0.
    integrate
        Whether P(safe) counts that hyperparameters are uncertain (`core.process.uncertainty`). If False, they
        are taken as known, as in the paper: with few trials P(safe) then claims too much.
    surprise
        With `calibrate`, once a limit is broken by this many standard deviations more than was predicted,
        whatever breaks it teaches like a crash, too; None for crashes alone.
    alarm
        Whether a search that is not bold stays near what was observed to be safe, once the alarm rings that
        P(safe) claims too much (`core.alarm`).
    crash_draws
        How many draws of the process of crashes P(safe) is averaged over (`core.process.crashes`). 0 for
        normal pseudo-observations in their place, as in 0.1.0: P(safe) then stays low amid safe trials.
    doubt_safety
        Whether nothing but trials says that a setting is safe. Where a crash is the only way to fail, or
        while every trial crashed, P(safe) is 50 % before the first trial, and counts crashes at once; with a
        budget that affords no crash it is 82 %. Where limits are measured, one safe trial says nothing of
        settings far away, because it was chosen to be safe. If False, crashes count after the first one, and
        are taken to be rarer, one safe trial makes far settings likely to be safe, and a limit may be broken
        by surprise (`surprise`) before any trial was safe.
    incumbent
        How η, the best so far, is read: "mean" is the smallest posterior mean at a safe trial, "observed" the
        smallest value of a safe trial, and "all" the smallest value of any trial (§3.1).
    pi_margin
        How far below η the method "pi" aims, in model units; None for one standard deviation of the noise.
    ucb_beta
        How many standard deviations the method "ucb" goes below the mean; None for GP-UCB's schedule.
    draws
        Posterior draws of the method "pesc".

    Raises
    ------
    InputError
        If a setting is out of its range.

    Examples
    --------
    >>> Settings(rho_safe=0.999, delta=0.005).rho_safe
    0.999
    """

    rho_safe: float = 0.99
    rho_risk: float = 0.01
    rho_0: float = 0.1
    rho_only: float | None = 0.99
    reserve: int | None = 1
    boldness: float | None = None
    rho_b: float = 0.5
    delta: float | None = 0.02
    bound_risk: bool = True
    kernel: Kernel = "matern52"
    objective: Priors = field(default=DEFAULT_PRIORS)
    constraint: Priors = field(default=LIMIT_PRIORS)
    standardize: bool = True
    warp: bool = True
    relearn: Relearn = "settled"
    search: DefaultSearch = "improvement"
    minima: MinimumLaw = "joint"
    n_minima: int = 20
    grid: int = 96
    cap_minima: bool = True
    gap: float | None = 1e-3
    optimism: float = 0.3
    band: bool = True
    restarts: int = 8
    raw_samples: int = 128
    descend: bool = True
    descend_safely: bool = True
    allowed_minima: bool = True
    keep_rho: bool = True
    survey: float = 0.5
    stepping_stones: bool = True
    weigh_noise: bool = True
    less_violation: bool = True
    admissible: bool = True
    safety_first: bool = True
    keep_last_failure: bool = False
    share_failures: bool = True
    safest_odds: float | None = 1.25
    soften_phi: bool = True
    calibrate: bool = True
    widen_at_end: bool = True
    integrate: bool = True
    surprise: float | None = 6.0
    alarm: bool = True
    crash_draws: int = DRAWS
    doubt_safety: bool = True
    incumbent: Incumbent = "mean"
    pi_margin: float | None = 0.01
    ucb_beta: float | None = 2.0
    draws: int = 10

    def __post_init__(self) -> None:
        if self.boldness is not None:
            self._keep("boldness", checks.within(self.boldness, "boldness", 0.0, 1.0))
            for name, (cautious, bold) in BOLDNESS.items():
                z = (1.0 - self.boldness) * ndtri(cautious) + self.boldness * ndtri(bold)
                self._keep(name, min(float(ndtr(z)), self.rho_safe))
        for name in ("rho_safe", "rho_risk", "rho_0", "rho_b"):
            self._keep(name, checks.between(getattr(self, name), f"settings.{name}", 0.0, 1.0))
        if not self.rho_risk <= self.rho_0 <= self.rho_safe:
            raise InputError(
                "settings need rho_risk <= rho_0 <= rho_safe, "
                f"not {self.rho_risk}, {self.rho_0}, {self.rho_safe}"
            )
        for name in ("rho_only", "delta"):
            if getattr(self, name) is not None:
                self._keep(name, checks.between(getattr(self, name), f"settings.{name}", 0.0, 1.0))
        for name, words in (
            ("kernel", Kernel),
            ("minima", MinimumLaw),
            ("incumbent", Incumbent),
            ("relearn", Relearn),
            ("search", DefaultSearch),
        ):
            checks.one_of(getattr(self, name), f"settings.{name}", get_args(words))
        for name in ("objective", "constraint"):
            value = getattr(self, name)
            if not isinstance(value, Priors):
                raise InputError(
                    f"settings.{name} must be a tumble.core.process.priors.Priors, not {value!r}"
                )
            _check_priors(name, value)
        for name in ("n_minima", "grid", "restarts", "raw_samples", "draws"):
            self._keep(name, checks.whole(getattr(self, name), f"settings.{name}", 1, MOST))
        if self.reserve is not None:
            self._keep("reserve", checks.whole(self.reserve, "settings.reserve", 0, MOST))
        self._keep("crash_draws", checks.whole(self.crash_draws, "settings.crash_draws", 0, MOST))
        for name in SWITCHES:
            self._keep(name, checks.truth(getattr(self, name), f"settings.{name}"))
        self._keep("optimism", checks.within(self.optimism, "settings.optimism", 0.0, 1.0))
        self._keep("survey", checks.at_least(self.survey, "settings.survey", 0.0))
        for name, low in LOWEST.items():
            if getattr(self, name) is not None:
                self._keep(name, checks.at_least(getattr(self, name), f"settings.{name}", low))

    def _keep(self, name: str, value: float) -> None:
        """Store a checked value as Python's own number, so that JSON can be written."""
        object.__setattr__(self, name, value)

    @staticmethod
    def paper(objective: Priors | None = None, constraint: Priors | None = None) -> "Settings":
        """As printed (§3.1, §5.1, App. D); where that is silent, the authors' scripts (S = 20, 1000 points).

        Parameters
        ----------
        objective
            Priors of the objective's process; None for Table 2's for Hartmann 6D.
        constraint
            Priors of the constraints' processes; None for those of the objective.
        """
        hartmann = Priors(Gamma(1.0, 5.0), Normal(0.5, 0.25), 0.01)
        return Settings(
            delta=None,
            kernel="se",
            objective=objective or hartmann,
            constraint=constraint or objective or hartmann,
            standardize=False,
            warp=False,
            relearn="always",
            search="excursion",
            minima="frechet",
            grid=1000,
            cap_minima=False,
            gap=None,
            optimism=0.0,
            band=False,
            descend_safely=False,
            allowed_minima=False,
            keep_rho=False,
            survey=0.0,
            stepping_stones=False,
            weigh_noise=False,
            less_violation=False,
            restarts=10,
            raw_samples=512,
            descend=False,
            safety_first=False,
            rho_only=None,
            reserve=None,
            keep_last_failure=False,
            safest_odds=None,
            soften_phi=False,
            calibrate=False,
            widen_at_end=False,
            integrate=False,
            surprise=None,
            alarm=False,
            incumbent="all",
            pi_margin=None,
            ucb_beta=None,
        )

    def for_history(self, n: int, *, samples_minima: bool) -> "Settings":
        """With fewer candidates and local searches, where n trials make each of them dear.

        Beyond EARLY half of the local searches are left: they find as much. All are left where the
        acquisition has samples of f* (`samples_minima`), and where hyperparameters are learned after each
        trial, which takes most of the time anyway.

        Beyond MANY a third of candidates and searches are left. No descent under P(safe) is made, and no
        stepping stone looked for: the best of so many trials lie low.
        """
        if n > MANY:
            return _lightest(self)
        return self if n <= EARLY or samples_minima or self.relearn == "always" else _lighter(self)

    def for_space(self, *, continuous: bool, choices: bool) -> "Settings":
        """As they are in a space: `rho_only` is for continuous ones, and `reserve` for those with choices."""
        only, reserve = self.rho_only if continuous else None, self.reserve if choices else None
        same = only == self.rho_only and reserve == self.reserve
        return self if same else replace(self, rho_only=only, reserve=reserve)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready. A setting that 0.1.0 had keeps its key."""
        plain = asdict(self)
        plain["temper"] = plain.pop("soften_phi")
        return {**plain, "objective": _dump(self.objective), "constraint": _dump(self.constraint)}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> "Settings":
        """Inverse of `to_dict`."""
        if not isinstance(data, dict):
            raise InputError(f"settings must be what to_dict gave, not {data!r}")
        softened = checks.truth(data.get("temper", False), "settings.temper (now soften_phi)")
        data = {"soften_phi": softened, **data}
        data = {name: value for name, value in data.items() if name not in RETIRED}
        data = {**_as_in_0_1_0(data), **data}
        unknown = set(data) - {f.name for f in fields(Settings)}
        if unknown:
            raise InputError(f"unknown settings: {', '.join(sorted(unknown))}")
        laws = {name: _load(name, data[name]) for name in ("objective", "constraint")}
        return Settings(**{**data, **laws})


@lru_cache(maxsize=16)
def _lighter(settings: Settings) -> Settings:
    """With half of the local searches."""
    return replace(settings, restarts=-(-settings.restarts // 2))


@lru_cache(maxsize=16)
def _lightest(settings: Settings) -> Settings:
    """With a third of the candidates and of the local searches, and nothing else that is dear."""
    third = {name: -(-getattr(settings, name) // 3) for name in ("raw_samples", "restarts")}
    return replace(settings, **third, descend_safely=False, stepping_stones=False)


def _as_in_0_1_0(data: dict[str, Any]) -> dict[str, Any]:
    """The switches that 0.1.0 did not have, as it behaved: three of them followed `standardize`."""
    ours = data.get("standardize", True) is not False
    later = (
        "warp", "descend_safely", "allowed_minima", "keep_rho", "admissible", "alarm", "bound_risk",
        "doubt_safety", "integrate", "share_failures", "widen_at_end", "stepping_stones",
        "weigh_noise", "less_violation",
    )  # fmt: skip
    return {
        "band": ours, "gap": 1e-3 if ours else None, "optimism": 0.3 if ours else 0.0, "relearn": "settled",
        "cap_minima": True, "descend": True, "keep_last_failure": True, "safest_odds": 1.25, "surprise": 6.0,
        "search": "excursion", **dict.fromkeys(later, False), "crash_draws": 0,
        "survey": 0.0, "rho_only": None, "reserve": None,
    }  # fmt: skip


def _check_priors(name: str, priors: Priors) -> None:
    known = priors.noise
    if isinstance(known, int | float | np.number) and not (
        isinstance(known, float) and _is_finite(known) and known > 0.0
    ):
        raise InputError(f"settings.{name}: a known noise must be a float above 0, not {known!r}")
    laws = {"lengthscale": priors.lengthscale, "variance": priors.variance}
    if not isinstance(known, float):
        laws["noise"] = known
    for part, law in laws.items():
        if not isinstance(law, Prior) or not all(map(_is_finite, astuple(law))) or not _is_spread(law):
            raise InputError(f"settings.{name}: {part} needs a law with a spread above 0, not {law!r}")
    additive = priors.additive
    pair = isinstance(additive, tuple) and len(additive) == 2 and all(map(_is_finite, additive))
    if additive is not None and not (pair and additive[1] > 0.0):
        raise InputError(f"settings.{name}: additive needs a mean and a spread above 0, not {additive!r}")
    _check_mean(f"settings.{name}: mean_std", priors.mean_std)


def _check_mean(name: str, spread: object) -> None:
    """Refuse what is no standard deviation of a mean, under the name that it was given by."""
    if spread is not None and not (_is_finite(spread) and 1e-6 <= spread <= 1e6):  # type: ignore[operator]
        raise InputError(f"{name} must lie from 1e-6 to 1e6, or be None, not {spread!r}")


def _is_spread(law: Prior) -> bool:
    with np.errstate(all="ignore"):
        low, high = law.support
    known = isinstance(law, Uniform) and low == high  # Uniform(v, v) fixes a value
    if isinstance(law, LogNormal) and not (law.sigma > 0.0 and law.common >= 0.0):
        return False
    if isinstance(law, ParetoTail) and not all(
        SMALLEST <= v <= 1.0 / SMALLEST for v in (law.sigma, law.power)
    ):
        return False
    return 0.0 < high < math.inf and (low < high or known) and law.start > 0.0


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _dump(priors: Priors) -> dict[str, Any]:
    def one(prior: Prior | float) -> Any:
        return prior if isinstance(prior, float) else {"law": type(prior).__name__, **asdict(prior)}

    laws = {n: one(getattr(priors, n)) for n in ("lengthscale", "variance", "noise")}
    additive = None if priors.additive is None else list(priors.additive)
    return {**laws, "additive": additive, "mean": priors.mean_std}


def _load(name: str, data: dict[str, Any]) -> Priors:
    def one(value: Any) -> Any:
        if isinstance(value, float):
            return value
        return PRIORS[value["law"]](**{k: v for k, v in value.items() if k != "law"})

    laws = {n: one(data[n]) for n in ("lengthscale", "variance", "noise")}
    additive = None if data["additive"] is None else (data["additive"][0], data["additive"][1])
    key = "mean_std" if "mean_std" in data else "mean"
    _check_mean(f"settings.{name}: {key}", data.get(key))
    return Priors(**laws, additive=additive, mean_std=data.get(key))
