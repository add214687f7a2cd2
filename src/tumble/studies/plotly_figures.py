"""The figures of a study for Optuna's dashboard, drawn with Plotly from the numbers of `figures`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from tumble import plots
from tumble.plots import CRASHED, FAILED, NEUTRAL, SAFE
from tumble.shown import told_apart
from tumble.studies.figures import numbers

if TYPE_CHECKING:
    from tumble.studies.ledger import Ledger

FAINT = "#8a97a3"
# The dashboard lays Plotly's toolbar over the title and the legend, so it is left out.
BUTTONS = ("zoom", "pan", "select", "lasso", "zoomIn", "zoomOut", "autoScale", "resetScale", "toImage")
LAYOUT = {
    "template": "plotly_white",
    "margin": {"l": 70, "r": 70, "t": 60, "b": 60},
    "modebar": {"remove": list(BUTTONS)},
}

TENTHS = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
OUTCOMES = {"safe": SAFE, "failed": FAILED, "crashed": CRASHED}


def figures(ledger: Ledger) -> dict[str, go.Figure]:
    """The figures of a study, by names that can be ids in HTML; empty before anything was told."""
    found = numbers(ledger)
    if found is None:
        return {}
    label = found.objective
    drawn = {"best-safe-value": progress_figure(found.progress, label)}
    if found.margins:
        drawn["margins"] = margins_figure(found.margins)
    drawn["budget"] = budget_figure(found.budget)
    if found.surface is not None:
        drawn["surface"] = surface_figure(found.surface, label)
    drawn["slices"] = slices_figure(found.slices, label, found.level)
    if found.gain.is_line:
        drawn["expected-gain"] = gain_figure(found.gain, label)
    drawn["importance"] = importance_figure(found.importance, label)
    drawn["predicted-and-happened"] = forecast_figure(found.forecast)
    drawn["parallel-coordinates"] = coordinates_figure(found.coordinates, label)
    return drawn


def progress_figure(data: plots.Progress, label: str) -> go.Figure:
    """Best safe value over trials, with every trial that has a value."""
    figure = go.Figure()
    for failed, colour, symbol in ((False, SAFE, "circle"), (True, FAILED, "x")):
        chosen = [i for i, f in enumerate(data.failed) if f == failed and data.value[i] is not None]
        figure.add_scatter(
            x=[data.number[i] for i in chosen],
            y=[data.value[i] for i in chosen],
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 8},
            name="failed" if failed else "safe",
        )
    crashed = [n for n, v, f in zip(data.number, data.value, data.failed, strict=True) if f and v is None]
    for number in crashed:
        figure.add_vline(x=number, line={"color": FAILED, "width": 1, "dash": "dot"})
    figure.add_scatter(
        x=data.number, y=data.best, mode="lines", line={"color": NEUTRAL, "shape": "hv"}, name="best safe"
    )
    note = " (dotted: crashed without a value)" if crashed else ""
    return _dress(figure, f"Best safe value over trials{note}", "trial", label)


def budget_figure(data: plots.BudgetPath) -> go.Figure:
    """ΔB and ρ over trials."""
    figure = make_subplots(specs=[[{"secondary_y": True}]])
    left = go.Scatter(
        x=data.number, y=data.failures_left, line={"color": FAILED, "shape": "hv"}, name="failures left, ΔB"
    )
    asked = go.Scatter(x=data.number, y=data.rho, line={"color": NEUTRAL}, name="P(safe) asked for, ρ")
    figure.add_trace(left, secondary_y=False)
    figure.add_trace(asked, secondary_y=True)
    figure.update_yaxes(title_text="failures left, ΔB", rangemode="tozero", secondary_y=False)
    figure.update_yaxes(
        title_text="P(safe) asked for, ρ", range=[0, 1.02], tickvals=TENTHS, showgrid=False, secondary_y=True
    )
    return _dress(figure, "The budget of failures, and the safety it asks for", "trial", None)


def margins_figure(margins: list[plots.Margins]) -> go.Figure:
    """How far each trial stayed from each limit, and what was predicted."""
    figure = make_subplots(rows=len(margins), cols=1, shared_xaxes=True, vertical_spacing=0.06)
    for row, data in enumerate(margins, start=1):
        errors = {"type": "data", "array": [None if s is None else 2 * s for s in data.std], "color": FAINT}
        figure.add_scatter(
            x=data.number, y=data.predicted, error_y=errors, mode="markers", name="predicted",
            marker={"color": FAINT, "symbol": "line-ew-open"}, showlegend=row == 1, row=row, col=1,
        )  # fmt: skip
        colours = [FAILED if m is not None and m < 0 else SAFE for m in data.margin]
        figure.add_scatter(
            x=data.number, y=data.margin, mode="markers", name="measured",
            marker={"color": colours, "size": 8}, showlegend=row == 1, row=row, col=1,
        )  # fmt: skip
        figure.add_hline(y=0.0, line={"color": FAILED, "width": 1.5}, row=row, col=1)
        figure.update_yaxes(title_text=f"margin of {data.name}", row=row, col=1)
    figure = _dress(figure, "Limits and margins over trials (below 0: broken)", None, None)
    figure.update_xaxes(title_text="trial", row=len(margins), col=1)
    return figure.update_layout(height=max(450, 230 * len(margins)))


def surface_figure(data: plots.Surface, label: str) -> go.Figure:
    """The objective over two parameters, with the edge of safety."""
    figure = go.Figure()
    figure.add_contour(
        x=data.x, y=data.y, z=data.mean, colorscale="Blues_r", contours={"showlines": False},
        colorbar={"title": {"text": label}}, name=label,
    )  # fmt: skip
    for level, dash in ((data.level, "solid"), (0.5, "dot")):
        figure.add_contour(
            x=data.x, y=data.y, z=data.p_safe, showscale=False, showlegend=True, name=f"P(safe) = {level:g}",
            contours={"type": "constraint", "operation": "=", "value": level},
            line={"color": SAFE, "width": 3, "dash": dash},
        )  # fmt: skip
    for failed, colour, symbol in ((False, SAFE, "circle"), (True, FAILED, "x")):
        chosen = [i for i, f in enumerate(data.failed) if f == failed]
        figure.add_scatter(
            x=[data.tried_x[i] for i in chosen], y=[data.tried_y[i] for i in chosen], mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 9}, name="failed" if failed else "safe",
        )  # fmt: skip
    figure.add_scatter(
        x=[data.at[0]], y=[data.at[1]], mode="markers", name="recommended",
        marker={"color": "white", "symbol": "diamond", "size": 14, "line": {"color": "black", "width": 2}},
    )  # fmt: skip
    figure = _dress(figure, "Where it is good, and the edge of safety", *data.names)
    kinds = ["log" if log else "linear" for log in data.log]
    return figure.update_xaxes(type=kinds[0]).update_yaxes(type=kinds[1])


def gain_figure(data: plots.GainPath, label: str) -> go.Figure:
    """What was expected of the trials that were left."""
    figure = go.Figure()
    figure.add_scatter(x=data.number, y=data.expected, line={"color": NEUTRAL}, name="expected gain")
    figure.add_scatter(
        x=data.number, y=data.bound, line={"color": FAINT, "dash": "dot"}, name="a bound of it"
    )
    return _dress(figure, "Expected gain of what is left", "trial", f"gain in {label}")


def importance_figure(data: plots.Importance, label: str) -> go.Figure:
    """How much hangs on each parameter."""
    figure = go.Figure()
    figure.add_bar(y=data.name, x=data.value, orientation="h", marker={"color": NEUTRAL}, name=f"of {label}")
    figure.add_bar(y=data.name, x=data.p_safe, orientation="h", marker={"color": SAFE}, name="of P(safe)")
    figure = _dress(figure, "How much hangs on each parameter", "share of the variance", None)
    return figure.update_xaxes(range=[0, 1.02]).update_yaxes(autorange="reversed")


def forecast_figure(data: plots.Forecast) -> go.Figure:
    """Predicted P(safe) against what happened."""
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": NEUTRAL, "dash": "dot"}, name="as predicted"
    )
    figure.add_scatter(
        x=data.predicted,
        y=data.happened,
        mode="markers+text",
        text=[str(n) for n in data.count],
        textposition="top center",
        marker={"color": SAFE, "size": [8 + 2 * n**0.5 for n in data.count]},
        name="trials (their number)",
    )
    figure = _dress(figure, "P(safe) predicted, and what happened", "predicted", "share that was safe")
    figure.update_xaxes(range=[-0.05, 1.05])
    return figure.update_yaxes(range=[-0.05, 1.15])


def coordinates_figure(data: plots.Coordinates, label: str) -> go.Figure:
    """Every trial as a line through the parameters, coloured by what came of it."""
    dimensions: list[dict[str, Any]] = []
    for name, column, ticks in zip(data.names, data.columns, data.ticks, strict=True):
        dimensions.append(
            {
                "label": name,
                "values": column,
                "range": [0, 1],
                "tickvals": [place for place, _ in ticks],
                "ticktext": [text for _, text in ticks],
            }
        )
    dimensions.append(_value_axis(data.value, label))
    outcome = [int(failed) + int(crashed) for failed, crashed in zip(data.failed, data.crashed, strict=True)]
    axis = {"label": "outcome", "range": [0, 2], "tickvals": [0, 1, 2], "ticktext": list(OUTCOMES)}
    dimensions.append({**axis, "values": outcome})
    figure = go.Figure(go.Parcoords(dimensions=dimensions, line={"color": outcome, **_outcome_colours()}))
    figure.update_layout(**{**LAYOUT, "margin": {"l": 90, "r": 90, "t": 110, "b": 40}})
    return figure.update_layout(title="Every trial through its parameters")


def _value_axis(values: list[float | None], label: str) -> dict[str, Any]:
    """The values, and above them a place for the trials that have none, if there are any."""
    known = [v for v in values if v is not None] or [0.0]
    low, high = min(known), max(known)
    marks = np.unique(np.linspace(low, high, 5)).tolist()
    ticks = dict(zip(told_apart(marks), marks, strict=True))
    nowhere = high + 0.15 * ((high - low) or 1.0)
    if None in values:
        ticks["none"] = nowhere
    top = nowhere if None in values or low == high else high
    return {
        "label": label,
        "values": [nowhere if v is None else v for v in values],
        "range": [low, top],
        "tickvals": list(ticks.values()),
        "ticktext": list(ticks),
    }


def _outcome_colours() -> dict[str, Any]:
    """A colour for each outcome 0, 1, 2, and a colour bar, which is the only legend these lines can have."""
    count = len(OUTCOMES)
    steps = [[(i + end) / count, colour] for i, colour in enumerate(OUTCOMES.values()) for end in (0, 1)]
    legend = {"tickvals": list(range(count)), "ticktext": list(OUTCOMES), "len": 0.5, "thickness": 16}
    return {"colorscale": steps, "cmin": -0.5, "cmax": count - 0.5, "showscale": True, "colorbar": legend}


def slices_figure(slices: list[plots.Slice], label: str, level: float) -> go.Figure:
    """Objective and P(safe) along each parameter through the recommendation; where it is safe is shaded."""
    figure = make_subplots(
        rows=2, cols=len(slices), shared_xaxes=True, vertical_spacing=0.08, row_heights=[0.65, 0.35]
    )
    for column, data in enumerate(slices, start=1):
        _add_slice(figure, data, column, level)
        figure.update_xaxes(title_text=data.name, type=_axis(data), row=2, col=column)
        figure.update_xaxes(type=_axis(data), row=1, col=column)
    figure.update_yaxes(title_text=label, row=1, col=1)
    figure.update_yaxes(title_text="P(safe)", row=2, col=1)
    figure.update_yaxes(range=[0, 1.02], row=2)
    figure.update_xaxes(nticks=5)
    title = f"Through the recommendation (green: P(safe) reaches {level:g})"
    return figure.update_layout(**LAYOUT, title=title, showlegend=False, height=560)


def _add_slice(figure: go.Figure, data: plots.Slice, column: int, level: float) -> None:
    band = [m + 2 * s for m, s in zip(data.mean, data.std, strict=True)]
    band += [m - 2 * s for m, s in reversed(list(zip(data.mean, data.std, strict=True)))]
    figure.add_scatter(
        x=data.values + data.values[::-1], y=band, fill="toself", mode="none",
        fillcolor="rgba(52, 73, 94, 0.2)", hoverinfo="skip", row=1, col=column,
    )  # fmt: skip
    style = {"mode": "lines+markers"} if _axis(data) == "category" else {"mode": "lines"}
    figure.add_scatter(
        x=data.values, y=data.mean, line={"color": NEUTRAL}, name=data.name, row=1, col=column, **style
    )
    figure.add_scatter(x=data.values, y=data.p_safe, line={"color": SAFE}, row=2, col=column, **style)
    for row in (1, 2):
        figure.add_vline(
            x=data.values.index(data.at) if _axis(data) == "category" else data.at,
            line={"color": NEUTRAL, "dash": "dot", "width": 1}, row=row, col=column,
        )  # fmt: skip
        for low, high in plots.safe_ranges(_places(data), data.p_safe, level):
            figure.add_vrect(x0=low, x1=high, fillcolor=SAFE, opacity=0.12, line_width=0, row=row, col=column)


def _places(data: plots.Slice) -> list[Any]:
    return list(range(len(data.values))) if _axis(data) == "category" else data.values


def _axis(data: plots.Slice) -> str:
    numeric = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in data.values)
    return "log" if data.log else "linear" if numeric else "category"


def _dress(figure: go.Figure, title: str, x: str | None, y: str | None) -> go.Figure:
    figure.update_layout(**LAYOUT, title=title, legend={"orientation": "h", "y": -0.2, "x": 0})
    if x is not None:
        figure.update_xaxes(title_text=x)
    return figure if y is None else figure.update_yaxes(title_text=y)
