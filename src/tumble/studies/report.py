"""One self-contained page for a study: its figures (Plotly), what to use, and every trial with its why."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from plotly.subplots import make_subplots

from tumble import plots
from tumble.optimizer import Optimizer
from tumble.plots import CRASHED, FAILED, NEUTRAL, SAFE
from tumble.studies.config import StudyConfig
from tumble.studies.records import Entry, Status
from tumble.studies.whole_files import write_whole
from tumble.trials import Recommended

if TYPE_CHECKING:
    from tumble.studies.ledger import Ledger

LAYOUT = {"template": "plotly_white", "margin": {"l": 70, "r": 70, "t": 60, "b": 60}}

TENTHS = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
OUTCOMES = {"safe": SAFE, "failed": FAILED, "crashed": CRASHED}


def figures(ledger: Ledger) -> dict[str, go.Figure]:
    """The figures of a study, by names that can be ids in HTML; empty before anything was told."""
    opt = ledger.optimizer()
    if not any(t.status == "told" for t in opt.trials):
        return {}
    label, sign = ledger.config.objective, ledger.config.sign
    return {
        "best-safe-value": progress_figure(plots.progress_data(opt, sign), label),
        "budget": budget_figure(plots.budget_data(opt)),
        "predicted-and-happened": forecast_figure(plots.forecast_data(opt)),
        "parallel-coordinates": coordinates_figure(plots.coordinates_data(opt, sign), label),
        "slices": slices_figure(opt, label, sign),
    }


def write_report(ledger: Ledger, path: Path) -> None:
    """Write the page of a study to a file."""
    write_whole(path, page(ledger))


def page(ledger: Ledger) -> str:
    """The page as HTML; a browser needs no network to show it."""
    drawn = "\n".join(_section(name, figure) for name, figure in figures(ledger).items())
    return PAGE.format(
        title=escape(ledger.config.name),
        summary=_summary(ledger),
        figures=drawn or "<p>Nothing was told yet: there is nothing to draw.</p>",
        table=_table(ledger),
        drawing=DRAWING.format(plotly=_packed_plotly()) if drawn else "",
    )


def _section(name: str, figure: go.Figure) -> str:
    """The place of a figure, with its numbers; "<" is escaped so that no text ends the script element."""
    numbers = figure.to_json().replace("<", "\\u003c")
    return f'<section class="figure" id="{name}"><script type="application/json">{numbers}</script></section>'


def _packed_plotly() -> str:
    """Plotly's program, compressed to two fifths of its size; it is nearly all of a page."""
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode()


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
    return figure.update_layout(title="Every trial through its parameters, in the colour of its outcome")


def _value_axis(values: list[float | None], label: str) -> dict[str, Any]:
    """The values, and above them a place for the trials that have none, if there are any."""
    known = [v for v in values if v is not None] or [0.0]
    low, high = min(known), max(known)
    ticks = {f"{tick:.4g}": tick for tick in np.unique(np.linspace(low, high, 5)).tolist()}
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


def slices_figure(opt: Optimizer, label: str, sign: float) -> go.Figure:
    """Objective and P(safe) along each parameter through the recommendation; where it is safe is shaded."""
    slices = plots.slices_data(opt, sign=sign)
    figure = make_subplots(
        rows=2, cols=len(slices), shared_xaxes=True, vertical_spacing=0.08, row_heights=[0.65, 0.35]
    )
    for column, data in enumerate(slices, start=1):
        _add_slice(figure, data, column, opt.settings.rho_safe)
        figure.update_xaxes(title_text=data.name, type=_axis(data), row=2, col=column)
        figure.update_xaxes(type=_axis(data), row=1, col=column)
    figure.update_yaxes(title_text=label, row=1, col=1)
    figure.update_yaxes(title_text="P(safe)", row=2, col=1)
    figure.update_yaxes(range=[0, 1.02], row=2)
    figure.update_xaxes(nticks=5)
    title = f"Through the recommendation (green: P(safe) reaches {opt.settings.rho_safe:g})"
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


def _dress(figure: go.Figure, title: str, x: str, y: str | None) -> go.Figure:
    figure.update_layout(
        **LAYOUT, title=title, legend={"orientation": "h", "y": 1.08, "x": 1, "xanchor": "right"}
    )
    figure.update_xaxes(title_text=x)
    return figure if y is None else figure.update_yaxes(title_text=y)


def _summary(ledger: Ledger) -> str:
    config, status = ledger.config, ledger.status()
    budget = "no limit" if config.failures is None else f"{status.failures_left} left of {config.failures}"
    best = "nothing safe was seen yet"
    if status.best is not None:
        values = ", ".join(f"{k} = {_short(v)}" for k, v in status.best.parameters.items())
        best = f"{config.objective} = {_short(status.best.value)} in trial {status.best.trial}: {values}"
    rows = {
        "objective": f"{'maximise' if config.maximize else 'minimise'} {config.objective}",
        "limits": ", ".join(map(str, config.limits)) or "none",
        "trials": f"{status.trials} told, {status.pending} in flight, "
        f"{status.trials_left} left of {config.trials}",
        "failures": f"{status.failures}, {budget}",
        **({"changed": f"{status.voided} voided, {status.amended} amended"} if _is_changed(status) else {}),
        "best": best,
        "recommended": _recommended(ledger.recommend(), config),
    }
    lines = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows.items())
    return f'<table class="summary">{lines}</table>'


def _is_changed(status: Status) -> bool:
    return bool(status.voided or status.amended)


def _recommended(found: Recommended | None, config: StudyConfig) -> str:
    if found is None:
        return "nothing yet"
    values = ", ".join(f"{name} = {_short(value)}" for name, value in found.x.items())
    sure = "" if found.reached else ", the safest point known"
    value = f"{config.objective} = {found.mean:.5g} ± {found.std:.2g}"
    return f"{values} (P(safe) = {found.p_safe:.4g}{sure}; {value})"


def _table(ledger: Ledger) -> str:
    config = ledger.config
    results = config.result_names
    head = ["trial", "outcome", *config.space.names, *results, "mode", "ρ", "P(safe)", "why"]
    cells = "".join(f"<th>{escape(title)}</th>" for title in head)
    rows = "".join(_row(entry, config, results) for entry in ledger.entries())
    return f'<table class="trials"><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table>'


def _row(entry: Entry, config: StudyConfig, results: Sequence[str]) -> str:
    note = entry.decision
    values = [
        str(entry.trial),
        f"{entry.outcome}{'' if entry.reading.billed else ', evidence'}{', amended' * entry.is_amended}",
        *(_short(entry.parameters.get(name)) for name in config.space.names),
        *(_short(entry.results.get(name)) for name in results),
        *(_short(note.get(key)) for key in ("mode", "rho", "p_safe")),
        " ".join(filter(None, [str(note.get("why", "")), entry.reason(config), *map(str, entry.changes)])),
    ]
    cells = "".join(f"<td>{escape(value)}</td>" for value in values)
    return f'<tr class="{escape(entry.outcome.replace(" ", "-"))}">{cells}</tr>'


def _short(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1200px; padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; }}
h2 {{ font-size: 1.15rem; margin-top: 2rem; }}
table {{ border-collapse: collapse; }}
th, td {{ text-align: left; padding: .25rem .6rem; vertical-align: top; border-bottom: 1px solid #e4e4e4; }}
.trials {{ font-size: 13px; display: block; overflow-x: auto; }}
.trials th, .trials td {{ white-space: nowrap; }}
.trials td:last-child {{ white-space: normal; min-width: 24rem; }}
.failed td:nth-child(2) {{ color: #c0392b; font-weight: 600; }}
.safe td:nth-child(2) {{ color: #2a7f62; }}
.figure {{ margin: 1.5rem 0; }}
</style>
</head>
<body>
<h1>{title}</h1>
{summary}
{figures}
<h2>Trials</h2>
{table}
{drawing}
</body>
</html>
"""

DRAWING = """<script type="text/plain" id="plotly">{plotly}</script>
<script type="module">
const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), c => c.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const program = document.createElement("script");
program.textContent = await new Response(unpacked).text();
document.head.append(program);
for (const place of document.querySelectorAll(".figure")) {{
  const {{data, layout}} = JSON.parse(place.querySelector("script").textContent);
  Plotly.newPlot(place, data, layout, {{responsive: true}});
}}
</script>"""
