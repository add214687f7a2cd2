"""Doors that need the extras `botorch` and `ax`."""

from __future__ import annotations

from benchmarks.fingerprint.problems import drill
from benchmarks.fingerprint.rows import Door, Row, row


def botorch(seed: int) -> list[Row]:
    """Samples of f*, both acquisitions at fixed points, and their maxima in both modes."""
    import torch
    from botorch.models import ModelListGP

    from tumble.integrations import botorch as door

    torch.set_num_threads(1)
    steps = torch.arange(1, 13, dtype=torch.float64)[:, None]
    X = (steps * torch.tensor([0.7548776662466927, 0.5698402909980532], dtype=torch.float64)) % 1.0
    bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    f = ((X - 0.6) ** 2).sum(-1, keepdim=True) + 0.1 * torch.sin(7.0 * X[:, :1])
    models = [door.excursion_model(X, y, bounds) for y in (f, X[:, :1] - 0.5)]
    both = ModelListGP(*models)
    minima = [door.sample_minima(model, bounds, seed=seed) for model in (models[0], both)]
    acquisitions: list[door.LogExcursionSearch | door.FailureAwareExcursionSearch] = [
        door.LogExcursionSearch(models[0], minima[0]),
        *(
            door.FailureAwareExcursionSearch(both, door.budget_state(20, failures, failed), minima[1])
            for failures, failed in ((6, [False, True]), (1, [True, False]))
        ),
    ]
    rows = [row(samples.numpy()) for samples in minima]
    for acquisition in acquisitions:
        with torch.no_grad():
            rows.append(row(acquisition(((X + 0.05) % 1.0)[:, None, :]).numpy()))
        found = door.optimize_excursion(acquisition, bounds, num_restarts=3, raw_samples=64, seed=seed)
        rows.append(row(found.x.numpy(), found.rho, found.p_safe, found.value))
    return rows


def ax(seed: int) -> list[Row]:
    """A client with parameters of three kinds, two limits and a trial that fails."""
    from ax.api.client import Client
    from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

    from tumble.integrations import ax as door

    client = Client()
    client.configure_experiment(
        [
            RangeParameterConfig(name="speed", bounds=(0.2, 2.0), parameter_type="float"),
            RangeParameterConfig(name="rate", bounds=(1e-4, 1.0), parameter_type="float", scaling="log"),
            RangeParameterConfig(name="flutes", bounds=(2, 7), parameter_type="int"),
            ChoiceParameterConfig(name="bit", values=["hss", "carbide", "cobalt"], parameter_type="str"),
        ],
        name="drill",
    )
    client.configure_optimization(objective="-cost", outcome_constraints=["torque <= 0", "heat <= 0"])
    client.set_generation_strategy(door.generation_strategy(14, 4, seed=seed))
    rows = []
    for k in range(10):
        for index, setting in client.get_next_trials(max_trials=1).items():
            s = door.suggestion(client._experiment.trials[index])
            assert s is not None
            rows.append(row(dict(sorted(setting.items())), s.rho, s.p_safe, s.mean, s.std))
            value, constraints = drill(setting)
            assert value is not None
            assert constraints is not None
            if k == 4:
                client.mark_trial_failed(index)
            else:
                data = {"cost": value, "torque": constraints[0], "heat": constraints[1]}
                client.complete_trial(index, raw_data=data)
    return rows


DOORS: dict[str, Door] = {"botorch": botorch, "ax": ax}
