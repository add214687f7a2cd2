"""A drill in twenty-five trials, of which four may fail.

The torque must stay below its limit. Far above the limit the bit breaks: such a trial has no
value, and it counts as a failure, too.
"""

import optuna
import optunahub
import tumble


def objective(trial: optuna.Trial) -> float:
    """Return the cost of a hole; the torque is a constraint, and it may break the bit."""
    speed = trial.suggest_float("speed", 0.5, 4.0)
    feed = trial.suggest_float("feed", 0.05, 1.0, log=True)
    torque = 4.0 * feed + 0.5 * speed
    trial.set_constraint("torque", torque - 3.0)  # safe where it is <= 0
    if torque > 4.0:
        raise tumble.Failure("bit broke")
    return 1.0 / (speed * feed) + 0.3 * speed


if __name__ == "__main__":
    module = optunahub.load_module(package="samplers/tumble")
    sampler = module.TumbleSampler(trials=25, failures=4, seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=25, catch=tumble.Failure)
    print(study.best_trial.params, study.best_value)
    print(sampler.recommend(study))
