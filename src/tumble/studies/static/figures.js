// The figures of a study, drawn as SVG from their numbers: the same program in the page and in the report.
// Colours are classes, so that a page chooses them for light, dark and paper; every figure scales with its place.
"use strict";

const Figures = (() => {
  const NS = "http://www.w3.org/2000/svg";
  const W = 520, H = 320, WIDE = 860;
  const M = {left: 66, right: 20, top: 16, bottom: 46};
  const FAR = 1e5;  // as far out as a line is drawn before it is cut: SVG knows no longer ones

  function element(name, attributes = {}, text = null) {
    const made = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  }

  function short(value) {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
    return String(Number(value.toPrecision(4)));
  }

  const isNumber = value => typeof value === "number" && Number.isFinite(value);

  // -- axes ------------------------------------------------------------------------------------------------

  function steps(low, high, count = 5) {
    const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(f => f * power).find(s => (high - low) / s <= count) || 10 * power;
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(Number((i * step).toPrecision(12)));
    return found;
  }

  function logSteps(low, high) {
    const found = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
      for (const f of [1, 2, 5]) if (f * 10 ** p >= low * 0.999 && f * 10 ** p <= high * 1.001) found.push(f * 10 ** p);
    return found.length > 7 ? found.filter((_, i) => i % 3 === 0) : found;
  }

  // The labels of ticks: every digit that tells one from the next, as powers of ten where those are shorter.
  function tickLabels(ticks) {
    const exact = ticks.map(tick => Number(tick.toPrecision(12)));
    const plain = exact.map(String), powers = exact.map(v => v === 0 ? "0" : v.toExponential().replace("e+", "e"));
    const longest = texts => Math.max(...texts.map(text => text.length));
    return longest(plain) > 7 && longest(powers) < longest(plain) ? powers : plain;
  }

  // The ends of a range, with four digits, or with as many as tell them apart.
  function endLabels(low, high) {
    let digits = 4;
    while (digits < 12 && low !== high && low.toPrecision(digits) === high.toPrecision(digits)) digits++;
    return [low, high].map(v => String(Number(v.toPrecision(digits))));
  }

  // About how wide a label is: it is not on the page yet, where it could be measured.
  const widthOf = text => [...text].reduce((sum, letter) => sum + (".-".includes(letter) ? 5 : 8.4), 0);

  function span(values, {zero = false, pad = 0.06} = {}) {
    const known = values.filter(isNumber);
    let low = Math.min(...known), high = Math.max(...known);
    if (!known.length) [low, high] = [0, 1];
    if (zero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
    if (low === high) [low, high] = [low - (Math.abs(low) * 0.1 || 1), high + (Math.abs(high) * 0.1 || 1)];
    const room = (high - low) * pad;
    return [low - room, high + room];
  }

  // The middle of the values where a few of them lie very far off: the others stay visible.  Those are marked by `point`.
  function robustSpan(values, options) {
    const known = values.filter(isNumber).sort((a, b) => a - b);
    if (known.length < 8) return span(known, options);
    const q = p => known[Math.round(p * (known.length - 1))];
    const reach = 6 * (q(0.75) - q(0.25));
    const inside = reach > 0 ? known.filter(v => v >= q(0.25) - reach && v <= q(0.75) + reach) : known;
    return span(inside, options);
  }

  // No numbers stand at an axis whose values nobody has seen.
  const unseen = values => values.some(isNumber) ? {} : {ticks: []};

  // A text of at most so many characters.
  const clipped = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;

  class Plot {
    constructor(title, {width = W, height = H, margin = M} = {}) {
      this.w = width; this.h = height; this.m = margin;
      this.svg = element("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, class: "plot"});
      this.svg.append(element("title", {}, title));
      this.marks = element("g", {});
      this.svg.append(this.marks);
      this.outside = new Map();
    }

    // After `y`, which widens the margin where its labels need it.
    x([low, high], label, {log = false, ticks = null, labels = null} = {}) {
      const to = v => log ? Math.log10(v) : v, a = to(low), b = to(high);
      this.px = v => this.m.left + (to(v) - a) / (b - a) * (this.w - this.m.left - this.m.right);
      const base = this.h - this.m.bottom;
      this.line(this.m.left, base, this.w - this.m.right, base, "axis");
      const marks = ticks || (log ? logSteps(low, high) : steps(low, high)), texts = labels || tickLabels(marks);
      let free = -Infinity;
      marks.forEach((tick, i) => {
        const at = this.px(tick), half = widthOf(texts[i]) / 2, place = Math.min(at, this.w - half - 1);
        if (at < this.m.left - 1 || at > this.w - this.m.right + 1) return;
        this.line(at, base, at, base + 5, "axis");
        if (place - half < free && !labels) return;
        free = place + half + 8;
        this.text(place, base + 19, texts[i], "tick", "middle");
      });
      this.text((this.m.left + this.w - this.m.right) / 2, this.h - 8, label, "label", "middle");
      return this;
    }

    y([low, high], label, {right = false, log = false, ticks = null} = {}) {
      const to = v => log ? Math.log10(v) : v, a = to(low), b = to(high);
      const marks = ticks || (log ? logSteps(low, high) : steps(low, high)), texts = tickLabels(marks);
      if (!right) this.m = {...this.m, left: Math.max(this.m.left, 32 + Math.max(...texts.map(widthOf)))};
      const scale = v => this.h - this.m.bottom - (to(v) - a) / (b - a) * (this.h - this.m.top - this.m.bottom);
      if (right) this.py2 = scale; else this.py = scale;
      const at = right ? this.w - this.m.right : this.m.left;
      marks.forEach((tick, i) => {
        const place = scale(tick);
        if (!right) this.line(this.m.left, place, this.w - this.m.right, place, "grid");
        this.text(at + (right ? 7 : -7), place + 4, texts[i], "tick", right ? "start" : "end");
      });
      const turn = right ? this.w - 15 : 15, middle = (this.m.top + this.h - this.m.bottom) / 2;
      const text = this.text(turn, middle, clipped(label, Math.floor(2 * Math.min(middle, this.h - middle) / 8.8)), "label", "middle");
      text.append(element("title", {}, label));
      text.setAttribute("transform", `rotate(${right ? 90 : -90} ${turn} ${middle})`);
      return this;
    }

    text(x, y, text, kind, anchor = "start") {
      const made = element("text", {x, y, class: kind, "text-anchor": anchor}, text);
      this.svg.append(made);
      return made;
    }

    line(x1, y1, x2, y2, kind) { this.marks.append(element("line", {x1, y1, x2, y2, class: kind})); }

    // What is drawn in it is cut at the frame of the axes.
    cut() {
      const [x, y] = [this.m.left, this.m.top], [width, height] = [this.w - x - this.m.right, this.h - y - this.m.bottom];
      const made = element("svg", {x, y, width, height, viewBox: `${x} ${y} ${width} ${height}`});
      this.marks.append(made);
      return made;
    }

    path(points, kind, {close = false, step = false, place = this.marks} = {}) {
      let text = "", open = false, last = null;
      for (const point of points) {
        if (!point || !isNumber(point[0]) || !isNumber(point[1])) { open = false; continue; }
        const x = point[0], y = Math.min(Math.max(point[1], -FAR), FAR);
        if (!open) text += `M${x.toFixed(1)} ${y.toFixed(1)}`;
        else text += (step ? `H${x.toFixed(1)}` : "") + `L${x.toFixed(1)} ${y.toFixed(1)}`;
        open = true; last = point;
      }
      if (last) place.append(element("path", {d: text + (close ? "Z" : ""), class: kind}));
    }

    dot(x, y, kind, title, r = 4.5) {
      const shape = kind.includes("failed")
        ? element("path", {d: `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`, class: `cross ${kind}`})
        : element("circle", {cx: x, cy: y, r, class: `dot ${kind}`});
      shape.append(element("title", {}, title));
      this.marks.append(shape);
    }

    rect(x, y, width, height, kind, title = null) {
      const made = element("rect", {x, y, width: Math.max(width, 0), height: Math.max(height, 0), class: kind});
      if (title) made.append(element("title", {}, title));
      this.marks.append(made);
      return made;
    }

    // A dot at its value; where that lies outside the axis, a triangle at the edge points to it.
    point(x, value, kind, title) {
      if (!this.beyond(x, value, kind, title)) this.dot(x, this.py(value), kind, title);
    }

    beyond(x, value, kind, title, what = "value") {
      const y = this.py(value), [top, bottom] = [this.m.top, this.h - this.m.bottom];
      if (y >= top && y <= bottom) return false;
      const [tip, way] = y < top ? [top, 1] : [bottom, -1];
      const made = element("path", {d: `M${x} ${tip}L${x + 6} ${tip + way * 10}H${x - 6}Z`, class: `beyond ${kind}`});
      made.append(element("title", {}, `${title}, outside the axis`));
      this.marks.append(made);
      this.outside.set(what, (this.outside.get(what) || 0) + 1);
      return true;
    }

    // The items of the legend that say how many values, and how many predictions, lie outside; none where all lie inside.
    get left() {
      const found = ["value", "prediction"].filter(what => this.outside.has(what)).map(what => [what, this.outside.get(what)]);
      return found.map(([what, n]) => [`beyond ${what === "value" ? "neutral" : "guess"}`, n === 1 ? `1 ${what} lies outside` : `${n} ${what}s lie outside`]);
    }
  }

  function legend(items) {
    const list = document.createElement("ul");
    list.className = "legend";
    for (const [kind, text] of items) {
      const item = document.createElement("li"), sample = element("svg", {viewBox: "0 0 24 12", class: "sample", "aria-hidden": "true"});
      if (kind.startsWith("dot")) sample.append(element("circle", {cx: 12, cy: 6, r: 4.5, class: kind}));
      else if (kind.startsWith("cross")) sample.append(element("path", {d: "M8 2L16 10M8 10L16 2", class: kind}));
      else if (kind.startsWith("beyond")) sample.append(element("path", {d: "M12 1L18 11H6Z", class: kind}));
      else if (kind === "recommended") sample.append(element("path", {d: "M12 1L17 6L12 11L7 6Z", class: kind}));
      else if (kind.startsWith("area")) sample.append(element("rect", {x: 2, y: 1, width: 20, height: 10, class: kind}));
      else sample.append(element("path", {d: "M1 6H23", class: kind}));
      item.append(sample, text);
      list.append(item);
    }
    return list;
  }

  // -- the figures -----------------------------------------------------------------------------------------

  function progress(n) {
    const d = n.progress, plot = new Plot("Best safe value over trials");
    plot.y(robustSpan([...d.value, ...d.best]), n.objective, unseen(d.value)).x(numbers(d.number), "trial");
    d.number.forEach((number, i) => {
      if (d.value[i] === null) {
        if (d.failed[i]) plot.line(plot.px(number), plot.m.top, plot.px(number), plot.h - plot.m.bottom, "crash");
        return;
      }
      const what = `trial ${number}: ${short(d.value[i])}${d.failed[i] ? ", failed" : ""}`;
      plot.point(plot.px(number), d.value[i], d.failed[i] ? "failed" : "safe", what);
    });
    plot.path(d.number.map((number, i) => d.best[i] === null ? null : [plot.px(number), plot.py(d.best[i])]), "best", {step: true, place: plot.cut()});
    return [plot.svg, legend([["dot safe", "safe"], ["cross failed", "failed"], ["best", "best safe so far"], ["crash", "failed without a value"], ...plot.left])];
  }

  function numbers(list) {
    const low = Math.min(...list), high = Math.max(...list);
    return [low - 0.5, Math.max(high, low + 1) + 0.5];
  }

  function margins(n) {
    return n.margins.flatMap(d => {
      const title = `Margin of ${d.name} over trials`, plot = new Plot(title, {height: 260});
      plot.y(robustSpan([...d.margin, ...d.predicted.filter((_, i) => d.margin[i] !== null)], {zero: true}), `margin of ${d.name}`);
      plot.x(numbers(d.number), "trial");
      const zero = plot.py(0), bottom = plot.h - plot.m.bottom;
      plot.rect(plot.m.left, zero, plot.w - plot.m.left - plot.m.right, bottom - zero, "area broken");
      plot.line(plot.m.left, zero, plot.w - plot.m.right, zero, "limit");
      const place = plot.cut();
      d.number.forEach((number, i) => {
        const x = plot.px(number);
        if (isNumber(d.predicted[i]) && isNumber(d.std[i])) {
          const [top, middle, low] = [2, 0, -2].map(k => plot.py(d.predicted[i] + k * d.std[i]));
          plot.path([[x, top], [x, low]], "whisker", {place});
          plot.path([[x - 4, middle], [x + 4, middle]], "whisker", {place});
          plot.beyond(x, d.predicted[i], "guess", `trial ${number}: margin ${short(d.predicted[i])} predicted`, "prediction");
        }
        if (d.margin[i] !== null) plot.point(x, d.margin[i], d.margin[i] < 0 ? "failed" : "safe", `trial ${number}: margin ${short(d.margin[i])}`);
      });
      const items = [["dot safe", "kept"], ["cross failed", "broken"], ["whisker", "predicted, ± 2 standard deviations"], ["limit", "the limit"], ...plot.left];
      return [heading(`${d.name}: distance from its limit`), plot.svg, legend(items)];
    });
  }

  function heading(text) {
    const made = document.createElement("h4");
    made.textContent = text;
    return made;
  }

  function budget(n) {
    const d = n.budget, plot = new Plot("Failures left and the P(safe) that was asked for", {margin: {...M, right: 62}});
    const most = Math.max(...d.failures_left, 1);
    plot.y([0, most * 1.08], "failures left", {ticks: steps(0, most).filter(Number.isInteger)});
    plot.y([0, 1.04], "P(safe) asked for, ρ", {right: true, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1]});
    plot.x(numbers(d.number), "trial");
    plot.path(d.number.map((number, i) => [plot.px(number), plot.py(d.failures_left[i])]), "left", {step: true});
    plot.path(d.number.map((number, i) => [plot.px(number), plot.py2(d.rho[i])]), "asked");
    return [plot.svg, legend([["left", "failures left, ΔB"], ["asked", "P(safe) asked for, ρ"]])];
  }

  function forecast(n) {
    const d = n.forecast, plot = new Plot("P(safe) predicted, and what happened");
    plot.y([-0.05, 1.12], "share that was safe", {ticks: [0, 0.2, 0.4, 0.6, 0.8, 1]}).x([-0.03, 1.03], "P(safe) predicted");
    plot.path([[plot.px(0), plot.py(0)], [plot.px(1), plot.py(1)]], "even");
    d.predicted.forEach((p, i) => {
      const x = plot.px(p), y = plot.py(d.happened[i]), r = 4 + 2 * Math.sqrt(d.count[i]);
      plot.dot(x, y, "safe", `${d.count[i]} trials: predicted ${short(p)}, happened ${short(d.happened[i])}`, r);
      plot.text(x, y - r - 4, String(d.count[i]), "tick", "middle");
    });
    return [plot.svg, legend([["dot safe", "trials, with their number"], ["even", "as predicted"]])];
  }

  function gain(n) {
    const d = n.gain;
    if (!d.number.length) return [];
    const plot = new Plot("Expected gain of what is left", {height: 260});
    plot.y(robustSpan([...d.expected, ...d.bound], {zero: true}), `gain in ${n.objective}`).x(numbers(d.number), "trial");
    const place = plot.cut();
    const draw = (values, kind, mark, what) => {
      plot.path(d.number.map((number, i) => isNumber(values[i]) ? [plot.px(number), plot.py(values[i])] : null), kind, {place});
      d.number.forEach((number, i) => { if (isNumber(values[i])) plot.beyond(plot.px(number), values[i], mark, `trial ${number}: ${what} ${short(values[i])}`); });
    };
    draw(d.bound, "even", "guess", "bound of the gain");
    draw(d.expected, "best", "neutral", "expected gain");
    return [plot.svg, legend([["best", "expected gain"], ["even", "a bound of it"], ...plot.left])];
  }

  function importance(n) {
    const d = n.importance, row = 44, height = row * d.name.length + 56;
    const plot = new Plot("How much hangs on each parameter", {height, margin: {left: 130, right: 60, top: 8, bottom: 46}});
    plot.x([0, 1], "share of the variance over the whole space");
    d.name.forEach((name, i) => {
      const y = plot.m.top + i * row + 6, reach = v => plot.px(v) - plot.m.left;
      plot.text(plot.m.left - 8, y + 20, clipped(name, 14), "tick", "end").append(element("title", {}, name));
      plot.rect(plot.m.left, y, reach(d.value[i]), 14, "bar value", `${name}, value: ${short(d.value[i])}`);
      plot.rect(plot.m.left, y + 16, reach(d.p_safe[i]), 14, "bar p-safe", `${name}, P(safe): ${short(d.p_safe[i])}`);
      plot.text(plot.px(d.value[i]) + 5, y + 11, d.value[i].toFixed(2), "tick");
      plot.text(plot.px(d.p_safe[i]) + 5, y + 27, d.p_safe[i].toFixed(2), "tick");
    });
    return [plot.svg, legend([["area bar value", `of ${n.objective}`], ["area bar p-safe", "of P(safe)"]])];
  }

  // Where a grid crosses a level: marching squares, each cell by itself.
  function edge(x, y, z, level) {
    const pieces = [];
    const cross = (a, b, za, zb) => a + (b - a) * (level - za) / (zb - za);
    for (let j = 0; j + 1 < y.length; j++) for (let i = 0; i + 1 < x.length; i++) {
      const [a, b, c, d] = [z[j][i], z[j][i + 1], z[j + 1][i + 1], z[j + 1][i]], found = [];
      if ((a >= level) !== (b >= level)) found.push([cross(x[i], x[i + 1], a, b), y[j]]);
      if ((b >= level) !== (c >= level)) found.push([x[i + 1], cross(y[j], y[j + 1], b, c)]);
      if ((d >= level) !== (c >= level)) found.push([cross(x[i], x[i + 1], d, c), y[j + 1]]);
      if ((a >= level) !== (d >= level)) found.push([x[i], cross(y[j], y[j + 1], a, d)]);
      for (let k = 0; k + 1 < found.length; k += 2) pieces.push([found[k], found[k + 1]]);
    }
    return pieces;
  }

  function surface(n) {
    const d = n.surface;
    if (!d) return [];
    const plot = new Plot(`${n.objective} over ${d.names[0]} and ${d.names[1]}, with the edge of safety`, {width: WIDE, height: 440});
    plot.y([d.y[0], d.y[d.y.length - 1]], d.names[1], {log: d.log[1]});
    plot.x([d.x[0], d.x[d.x.length - 1]], d.names[0], {log: d.log[0]});
    const px = d.x.map(plot.px), py = d.y.map(plot.py), flat = d.mean.flat();
    const sorted = [...flat].sort((a, b) => a - b), q = p => sorted[Math.round(p * (sorted.length - 1))];
    const low = q(0), high = q(0.95) > q(0) ? q(0.95) : q(1);
    const half = (list, i, way) => (list[i] + list[Math.min(Math.max(i + way, 0), list.length - 1)]) / 2;
    const seen = flat.every(isNumber);
    if (seen) d.y.forEach((b, j) => d.x.forEach((a, i) => {
      const [left, right] = [half(px, i, -1), half(px, i, 1)], [top, bottom] = [half(py, j, 1), half(py, j, -1)];
      const share = high > low ? Math.min((d.mean[j][i] - low) / (high - low), 1) : 0;
      const cell = plot.rect(left, top, right - left, bottom - top, "cell");
      cell.setAttribute("fill-opacity", (0.06 + 0.72 * (1 - share)).toFixed(3));
    }));
    for (const [a, b] of edge(px, py, d.p_safe, d.level)) plot.path([a, b], "edge");
    for (const [a, b] of edge(px, py, d.p_safe, 0.5)) plot.path([a, b], "edge half");
    d.number.forEach((number, i) =>
      plot.dot(plot.px(d.tried_x[i]), plot.py(d.tried_y[i]), d.failed[i] ? "failed" : "safe", `trial ${number}`));
    const [x, y] = [plot.px(d.at[0]), plot.py(d.at[1])];
    const star = element("path", {d: `M${x} ${y - 9}L${x + 9} ${y}L${x} ${y + 9}L${x - 9} ${y}Z`, class: "recommended"});
    star.append(element("title", {}, "recommended"));
    plot.marks.append(star);
    const cells = seen ? [["area cell", `${n.objective}, the darker the lower`]] : [];
    return [plot.svg, legend([...cells, ["edge", `P(safe) = ${d.level}`], ["edge half", "P(safe) = 0.5"],
      ["dot safe", "safe"], ["cross failed", "failed"], ["recommended", "recommended"]])];
  }

  function slices(n) {
    const wrap = document.createElement("div");
    wrap.className = "slices";
    for (const d of n.slices) wrap.append(slice(n, d));
    const seen = n.slices.some(d => d.mean.every(isNumber)) ? [["mean", "predicted"], ["area band", "± 2 standard deviations"]] : [];
    return n.slices.length ? [wrap, legend([...seen, ["area safe", `P(safe) reaches ${n.level}`], ["even", "recommended"]])] : [];
  }

  function slice(n, d) {
    const words = !d.values.every(isNumber);
    const x = words ? d.values.map((_, i) => i) : d.values, last = x[x.length - 1];
    const plot = new Plot(`${n.objective} along ${d.name}`, {width: 400, height: 260, margin: {...M, left: 58, right: 14}});
    const seen = d.mean.every(isNumber);
    const ends = seen ? [-2, 2].flatMap(k => d.mean.map((m, i) => m + k * d.std[i])) : [];
    plot.y(span(ends), n.objective, unseen(d.mean));
    plot.x(words ? [-0.5, last + 0.5] : [x[0], last], d.name, {log: d.log, ...(words ? {ticks: x, labels: d.values.map(v => clipped(String(v), 10))} : {})});
    const half = i => words ? [plot.px(x[i] - 0.5), plot.px(x[i] + 0.5)] :
      [plot.px(x[i]) - (i ? (plot.px(x[i]) - plot.px(x[i - 1])) / 2 : 0), plot.px(x[i]) + (i + 1 < x.length ? (plot.px(x[i + 1]) - plot.px(x[i])) / 2 : 0)];
    d.p_safe.forEach((p, i) => {
      if (p < n.level) return;
      const [left, right] = half(i);
      plot.rect(left, plot.m.top, right - left + 0.3, plot.h - plot.m.top - plot.m.bottom, "area safe");
    });
    if (seen && words) d.mean.forEach((m, i) => {
      plot.line(plot.px(i), plot.py(m - 2 * d.std[i]), plot.px(i), plot.py(m + 2 * d.std[i]), "whisker");
      plot.dot(plot.px(i), plot.py(m), "neutral", `${d.values[i]}: ${short(m)} ± ${short(2 * d.std[i])}, P(safe) ${short(d.p_safe[i])}`);
    }); else if (seen) {
      const up = x.map((v, i) => [plot.px(v), plot.py(d.mean[i] + 2 * d.std[i])]);
      const down = x.map((v, i) => [plot.px(v), plot.py(d.mean[i] - 2 * d.std[i])]).reverse();
      plot.path([...up, ...down], "area band", {close: true});
      plot.path(x.map((v, i) => [plot.px(v), plot.py(d.mean[i])]), "mean");
    }
    const at = plot.px(words ? d.values.indexOf(d.at) : d.at);
    plot.line(at, plot.m.top, at, plot.h - plot.m.bottom, "even");
    return plot.svg;
  }

  function coordinates(n) {
    const d = n.coordinates, axes = d.names.length + 1;
    const known = d.value.filter(isNumber), [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
    const ends = endLabels(low, high), right = Math.max(70, 12 + Math.max(...ends.map(widthOf)));
    const width = Math.max(WIDE, 110 * axes), plot = new Plot("Every trial through its parameters", {width, height: 340, margin: {left: 60, right, top: 40, bottom: 20}});
    const x = i => plot.m.left + i * (plot.w - plot.m.left - plot.m.right) / Math.max(axes - 1, 1);
    const y = v => plot.h - plot.m.bottom - v * (plot.h - plot.m.top - plot.m.bottom);
    const height = v => v === null ? 1.06 : high > low ? (v - low) / (high - low) : 0.5;
    d.number.forEach((number, j) => {
      const points = [...d.columns.map((column, i) => [x(i), y(column[j])]), [x(axes - 1), y(height(d.value[j]))]];
      const kind = d.crashed[j] ? "crashed" : d.failed[j] ? "failed" : "safe";
      plot.path(points, `trace ${kind}`);
      plot.marks.lastChild.append(element("title", {}, `trial ${number}: ${kind}, ${short(d.value[j])}`));
    });
    [...d.names, n.objective].forEach((name, i) => {
      plot.line(x(i), y(0), x(i), y(1), "axis");
      plot.text(x(i), 22, clipped(name, 14), "label", "middle");
      const values = known.length ? [[0, ends[0]], [1, ends[1]]] : [];
      const ticks = i < d.names.length ? d.ticks[i].map(([place, text]) => [place, clipped(String(text), Number.isFinite(Number(text)) ? 13 : 9)]) : values;
      for (const [place, text] of ticks) plot.text(x(i) + 6, y(place) + 4, text, "tick");
    });
    return [plot.svg, legend([["trace safe", "safe"], ["trace failed", "failed"], ["trace crashed", "crashed, ends above the values"]])];
  }

  const ALL = [
    ["best-safe-value", "Best safe value over trials", progress],
    ["margins", "Limits and margins over trials", margins],
    ["budget", "The budget of failures, and the safety it asks for", budget],
    ["surface", "Where it is good, and the edge of safety", surface],
    ["slices", "Through the recommendation, parameter by parameter", slices],
    ["expected-gain", "Expected gain of what is left", gain],
    ["importance", "How much hangs on each parameter", importance],
    ["predicted-and-happened", "P(safe) predicted, and what happened", forecast],
    ["parallel-coordinates", "Every trial through its parameters", coordinates],
  ];

  // Draw every figure that has numbers into a place; returns their names.
  function draw(place, numbers) {
    place.replaceChildren();
    const drawn = [];
    for (const [name, title, make] of ALL) {
      const parts = make(numbers);
      if (!parts.length) continue;
      const figure = document.createElement("figure"), caption = document.createElement("figcaption");
      figure.id = name;
      caption.textContent = title;
      figure.append(caption, ...parts);
      place.append(figure);
      drawn.push(name);
    }
    return drawn;
  }

  return {draw, short};
})();
