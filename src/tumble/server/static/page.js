// The page at the rig.  Every typed value and every request that got no answer is kept on this device until
// the server has it; a request is sent again under the same key, so that nothing is told twice.
"use strict";

(() => {
  const $ = id => document.getElementById(id);
  const short = Figures.short;
  const RETRY = 2000, SILENT = 25000;
  const TOLD = ["safe", "failed", "unmeasured", "no value"];  // outcomes of a trial that was told
  const state = {study: null, status: null, trials: new Map(), best: null, chosen: null, busy: false, mode: null, lostSince: null, last: null, fault: null};

  // -- kept on this device ---------------------------------------------------------------------------------

  const kept = (() => {
    let store;
    try { store = window.localStorage; store.getItem("tumble"); } catch { store = null; }
    const memory = new Map();
    // Another study may stand at the same address later; only the token belongs to the address itself.
    const full = key => `tumble:${location.host}:${key === "token" || !state.study ? "" : `${state.study.name}:`}${key}`;
    return {
      get(key) {
        const text = store ? store.getItem(full(key)) : memory.get(full(key));
        try { return text ? JSON.parse(text) : null; } catch { return null; }
      },
      set(key, value) {
        const text = JSON.stringify(value);
        try { store ? store.setItem(full(key), text) : memory.set(full(key), text); } catch { memory.set(full(key), text); }
      },
      drop(key) { if (store) store.removeItem(full(key)); memory.delete(full(key)); },
    };
  })();

  function takeToken() {
    const found = /^#token=(.+)$/.exec(location.hash);
    if (!found) return;
    kept.set("token", decodeURIComponent(found[1]));
    history.replaceState(null, "", location.pathname);
  }

  function headers(more = {}) {
    const token = kept.get("token");
    return token ? {...more, Authorization: `Bearer ${token}`} : more;
  }

  function newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map(b => b.toString(16).padStart(2, "0")).join("");
  }

  // -- the server ------------------------------------------------------------------------------------------

  class Lost extends Error {}

  async function call(path, options = {}) {
    let answer;
    try {
      answer = await fetch(path, {cache: "no-store", ...options, headers: headers(options.headers)});
    } catch { throw new Lost(); }
    if (answer.status === 401) { askForToken(); throw new Lost(); }
    let table = null;
    try { table = await answer.json(); } catch { throw new Lost(); }
    return {code: answer.status, table};
  }

  async function read(path) {
    const {code, table} = await call(path);
    if (code !== 200) throw new Error(table.error);
    return table;
  }

  // Send a change; it stays in the outbox until the server has answered it.  One that waits there goes first.
  async function send(path, body) {
    if (state.busy) return;
    if (kept.get("outbox")) { await redeliver(); return; }
    const request = {path, body, key: newKey(), draft: kept.get(`draft:${body.trial}`)};
    kept.set("outbox", request);
    await deliver(request);
  }

  async function deliver(request) {
    state.busy = true;
    render();
    try {
      if (state.lostSince) throw new Lost();  // who answers there now is known when the stream is back
      const options = {method: "POST", body: JSON.stringify(request.body), headers: {"Content-Type": "application/json", "Idempotency-Key": request.key}};
      const {code, table} = await call(request.path, options);
      if (code === 503) { say(table.error, "bad"); setTimeout(redeliver, RETRY); return; }
      kept.drop("outbox");
      finish(request, code, table);
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      say("The server did not answer. What you sent is kept on this device and is sent again when the server is back; it is never counted twice.", "bad");
    } finally {
      state.busy = false;
      render();
    }
  }

  async function redeliver() {
    const request = kept.get("outbox");
    if (request && !state.busy) await deliver(request);
  }

  function finish(request, code, table) {
    if (code !== 200) {
      if (table.kind === "Surprising") { state.mode = {kind: "surprise", request, text: table.error}; return; }
      say(sentence(table.error), "bad");
      return;
    }
    state.mode = null;
    if (request.path === "/ask" || request.path === "/try") {
      choose(table.trial);
      say(`Trial ${table.trial}: set the values below, run it, and type what you measured.`);
      state.focus = true;
      return;
    }
    // What was typed after the request was sent stays, and can be used as a correction.
    if (JSON.stringify(kept.get(`draft:${table.trial}`)) === JSON.stringify(request.draft)) kept.drop(`draft:${table.trial}`);
    state.last = {trial: table.trial, path: request.path};
    state.trials.set(table.trial, table);
    if (state.chosen === table.trial) choose(null);
    const words = {"/void": "is taken out", "/skip": "is skipped", "/amend": `is corrected: ${table.outcome}`};
    const results = pairs(table.results);
    const what = words[request.path] || `is told: ${table.outcome}`;
    say([`Trial ${table.trial} ${what}${results && request.path !== "/void" ? ` (${results})` : ""}.`, ...table.warnings].join(" "), table.outcome === "failed" ? "bad" : "good");
  }

  function sentence(text) { return text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : "."); }

  function pairs(values) { return Object.entries(values).map(([k, v]) => `${k} = ${number(v)}`).join(", "); }

  function number(value) {
    if (typeof value !== "number") return value === null || value === undefined ? "–" : String(value);
    const whole = Math.abs(value) < 1e12 ? Math.abs(value).toFixed(0).length : 0;
    return String(Number(value.toPrecision(Math.max(6, whole))));
  }

  // A value of a setting, which a person sets at a machine: with all the digits that matter in its range.
  function setting(name, value) {
    const range = state.study.parameters[name] || {};
    if (typeof value !== "number") return number(value);
    if (typeof range.low !== "number" || range.type !== "float" || range.step) return String(Number(value.toPrecision(12)));
    const more = Math.floor(Math.log10(Math.max(Math.abs(range.low), Math.abs(range.high)) / (range.high - range.low)));
    return String(Number(value.toPrecision(Math.min(17, 6 + Math.max(0, more)))));
  }

  function settings(values) { return Object.entries(values).map(([k, v]) => `${k} = ${setting(k, v)}`).join(", "); }

  // The number that a text says; NaN where it says none, also for 0x10, which the command line refuses.
  function parsed(text) { return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN; }

  function spread(value) { return String(Number(value.toPrecision(2))); }

  function percent(p) {
    if (typeof p !== "number") return "not known";
    return p > 0.9999 ? "over 99.99 %" : `${Number((100 * p).toPrecision(4))} %`;
  }

  // -- the stream of changes -------------------------------------------------------------------------------

  async function follow() {
    for (;;) {
      try { await listen(); } catch { /* the connection is said below */ }
      lost();
      await new Promise(done => setTimeout(done, RETRY));
    }
  }

  async function listen() {
    const stop = new AbortController();
    let timer = setTimeout(() => stop.abort(), SILENT);
    const answer = await fetch("/events", {headers: headers(), signal: stop.signal, cache: "no-store"});
    if (answer.status === 401) { askForToken(); return; }
    if (answer.status !== 200) return;
    await load();
    found();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const {done, value} = await reader.read();
      clearTimeout(timer);
      if (done) return;
      timer = setTimeout(() => stop.abort(), SILENT);
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop();
      blocks.forEach(heard);
    }
  }

  function heard(block) {
    const parts = /^event: (\w+)\ndata: (.*)$/s.exec(block);
    if (!parts) return;
    const data = JSON.parse(parts[2]);
    if (parts[1] === "trial") { state.trials.set(data.trial, data); look(); }
    else if (parts[1] === "status") { state.status = data; over(); read("/study").then(s => { state.study = s; render(); }).catch(() => {}); }
    else if (parts[1] === "error") say(state.fault = sentence(data.error), "bad");
    render();
  }

  function over() {  // the fault that the stream told of; what was said since then stays
    if (state.fault && $("message").textContent === state.fault) say("");
    state.fault = null;
  }

  async function load() {
    const [study, status, trials] = await Promise.all([read("/study"), read("/status"), read("/trials")]);
    if (state.study && state.study.name !== study.name) { location.reload(); throw new Lost(); }  // another study stands here now
    state.study = study; state.status = status;
    state.trials = new Map(trials.map(t => [t.trial, t]));
    state.chosen = kept.get("chosen");
    render();
    look();
  }

  let looking = null;
  function look() {  // the model's part, which may take a while
    if (state.looks) { state.lookAgain = true; return; }
    clearTimeout(looking);
    looking = setTimeout(async () => {
      state.looks = true;
      try {
        state.best = await read("/best");
        renderBest();
        if ($("figures").open) await drawFigures();
      } catch { /* the connection is said elsewhere */ }
      state.looks = false;
      if (state.lookAgain) { state.lookAgain = false; look(); }
    }, 300);
  }

  async function drawFigures() {
    const numbers = await read("/figures");
    if (Object.keys(numbers).length) Figures.draw($("drawn"), numbers);
    else $("drawn").replaceChildren(make("p", {}, "Nothing was told yet: there is nothing to draw."));
  }

  function found() {
    $("connection").textContent = "live";
    $("connection").className = "live";
    $("lost").hidden = true;
    $("token").hidden = true;
    state.lostSince = null;
    redeliver();
  }

  function lost() {
    if (!$("token").hidden) return;
    state.lostSince = state.lostSince || new Date();
    $("connection").textContent = "server not reached";
    $("connection").className = "gone";
    $("lost").hidden = false;
    $("lost").textContent = `The server can't be reached since ${state.lostSince.toLocaleTimeString()}. What you type is kept on this device. The page goes on by itself when the server is back.`;
  }

  function askForToken() {
    $("token").hidden = false;
    $("study").hidden = true;
    $("connection").textContent = "needs its token";
    $("connection").className = "gone";
  }

  // -- what is shown ---------------------------------------------------------------------------------------

  function say(text, kind = "") {
    const place = $("message");
    place.className = `notice ${kind}`;
    place.textContent = text;
    place.hidden = !text;
  }

  function make(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") made.className = value;
      else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value === true) made.setAttribute(key, "");
      else if (value !== false && value !== null) made.setAttribute(key, value);
    }
    made.append(...children.filter(child => child !== null));
    return made;
  }

  function choose(trial) {
    state.chosen = trial;
    if (trial === null) kept.drop("chosen"); else kept.set("chosen", trial);
  }

  function flights() {
    return [...state.trials.values()].filter(t => t.outcome === "running" && Object.keys(t.parameters).length);
  }

  function render() {
    if (!state.study || !state.status) return;
    $("study").hidden = false;
    const {name, objective, maximize, limits, trials, failures} = state.study;
    document.title = `${name} – tumble`;
    $("name").textContent = name;
    $("goal").textContent = `${maximize ? "maximise" : "minimise"} ${objective}${limits.length ? `, with ${limits.join(", ")}` : ""}`;
    $("about").textContent = `tumble ${state.study.version}, seed ${state.study.seed}, at most ${trials} trials` + (failures === null ? "" : ` and ${failures} failures`);
    renderCounts();
    const alarm = state.status.alarm ? `Alarm: ${state.status.alarm}.` : "";
    $("alarm").hidden = !alarm;
    if ($("alarm").textContent !== alarm) $("alarm").textContent = alarm;
    renderSetting();
    renderTable();
    renderOwn();
  }

  function renderCounts() {
    const s = state.status, {trials, failures} = state.study;
    const count = (left, all, what) => make("div", {class: `count${left === 0 ? " spent" : ""}`}, make("b", {}, String(left)), `${what} left${all === null ? "" : ` of ${all}`}`);
    const cards = [count(s.trials_left, trials, "trials")];
    cards.push(failures === null ? make("div", {class: "count"}, make("b", {}, String(s.failures)), "failed; no limit") : count(s.failures_left, failures, "failures"));
    $("counts").replaceChildren(...cards);
  }

  function renderSetting() {
    const place = $("setting"), running = flights();
    let trial = running.find(t => t.trial === state.chosen) || running.find(t => t.by_hand) || null;
    const mine = state.mode && state.mode.kind === "amend" ? state.trials.get(state.mode.trial) : trial;
    $("flights").replaceChildren(...(running.length > 1 ? running.map(t => make("button", {type: "button", "aria-pressed": String(t === trial), onclick: () => { choose(t.trial); state.shown = null; render(); }}, `trial ${t.trial}${t.by_hand ? "" : " (machine)"}`)) : []));
    const shown = JSON.stringify([mine, state.mode, state.busy, state.status.trials_left, state.study, orphan()]);
    if (shown === state.shown) return;  // the fields keep their focus
    state.shown = shown;
    const active = document.activeElement && document.activeElement.id;
    const parts = [];
    const left = orphan();
    if (left) parts.push(orphanNotice(left));
    if (state.mode && state.mode.kind === "surprise") parts.push(surprise());
    else if (state.mode && state.mode.kind === "confirm") parts.push(confirmation());
    if (mine && state.mode && state.mode.kind === "amend") parts.push(...resultForm(mine, true));
    else if (trial) parts.push(...settingParts(trial));
    parts.push(...askParts(trial));
    place.replaceChildren(...parts);
    $("next-title").textContent = trial ? `Trial ${trial.trial}` : "Next setting";
    if (active && $(active)) $(active).focus();
    if (state.focus) { state.focus = false; const first = place.querySelector("input"); if (first) first.focus(); }
  }

  function settingParts(trial) {
    const list = make("dl", {class: "parameters"}, ...Object.entries(trial.parameters).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, setting(name, value)))));
    return [list, ...promise(trial), ...(trial.by_hand ? resultForm(trial, false) : [make("p", {}, "A machine runs this trial; it tells the result itself.")])];
  }

  function promise(trial) {
    const found = [];
    if (typeof trial.mean === "number") found.push(make("p", {class: "promise"}, `${state.study.objective} should be `, make("b", {}, `${short(trial.mean)} ± ${spread(trial.std)}`)));
    if (typeof trial.p_safe === "number") {
      const kind = trial.p_safe < 0.5 ? "low" : trial.p_safe < 0.95 ? "doubtful" : "", bar = make("i", {class: kind});
      bar.style.width = `${100 * trial.p_safe}%`;
      found.push(make("p", {class: "promise"}, "safe with ", make("b", {}, percent(trial.p_safe)), typeof trial.rho === "number" ? ` (asked for: ${percent(trial.rho)})` : ""), make("div", {class: "meter", "aria-hidden": "true"}, bar));
    }
    if (typeof trial.expected_gain === "number") found.push(make("p", {}, `Expected gain of what is left: ${short(trial.expected_gain)}${typeof trial.gain_bound === "number" ? `, at most about ${short(trial.gain_bound)}` : ""}`));
    if (trial.alarm && !state.status.alarm) found.push(make("p", {class: "notice bad"}, trial.alarm));
    found.push(make("p", {class: "why"}, trial.why || ""));
    return found;
  }

  function resultForm(trial, amending) {
    const draft = kept.get(`draft:${trial.trial}`) || (amending ? Object.fromEntries(Object.entries(trial.results).map(([k, v]) => [k, String(v)])) : {});
    const limits = Object.fromEntries(state.study.results.map(name => [name, state.study.limits.filter(text => text.split(" ").includes(name)).join(", ")]));
    const fields = state.study.results.flatMap(name => [
      make("label", {for: `result-${name}`}, name, limits[name] ? make("small", {}, `  must keep ${limits[name]}`) : null),
      make("input", {id: `result-${name}`, "data-name": name, inputmode: "decimal", autocomplete: "off", value: draft[name] || "", oninput: keepDraft}),
      make("p", {class: "error", id: `error-${name}`, role: "alert"}),
    ]);
    const reason = [make("label", {for: "reason"}, "Why it failed or is skipped ", make("small", {}, "(may stay empty)")), make("input", {id: "reason", "data-name": " reason", autocomplete: "off", value: draft[" reason"] || "", oninput: keepDraft})];
    const form = make("form", {novalidate: true, autocomplete: "off", onsubmit: event => { event.preventDefault(); amending ? amend(trial) : tell(trial, false); }});
    form.dataset.trial = trial.trial;
    const button = (text, kind, act) => make("button", {type: "button", class: kind, disabled: state.busy, onclick: act}, text);
    const bottom = amending
      ? [button("Failed", "fail", () => amend(trial, true)), ...(trial.reason.startsWith("crash") ? [button("It did not fail", "", () => amend(trial, false))] : []), button("Leave it as it is", "", () => { kept.drop(`draft:${trial.trial}`); state.mode = null; render(); })]
      : [button("Failed", "fail", () => tell(trial, true)), button("Skip", "", () => send("/skip", {trial: trial.trial, reason: typed().reason}))];
    form.append(...(amending ? [make("h3", {}, `Correct trial ${trial.trial}`)] : []), ...fields, make("button", {type: "submit", class: "big ok", disabled: state.busy}, state.busy ? "sending…" : amending ? "Correct it" : "OK"), ...reason, make("div", {class: "buttons"}, ...bottom));
    return [form];
  }

  function keepDraft(event) {
    const form = event.target.form;
    kept.set(`draft:${form.dataset.trial}`, fieldsOf(form));
    event.target.removeAttribute("aria-invalid");
  }

  // The text of every field by its name.  A field has no `name` of its own: "length" would hide one of the form's.
  function fieldsOf(form) { return Object.fromEntries([...form.querySelectorAll("[data-name]")].map(f => [f.dataset.name, f.value])); }

  // What stands in the fields: numbers, the reason, and whether every field that has text has a number.
  function typed() {
    const results = {};
    let right = true;
    for (const name of state.study.results) {
      const field = $(`result-${name}`), text = field.value.trim().replace(",", ".");
      const value = parsed(text), wrong = text !== "" && !Number.isFinite(value);
      field.setAttribute("aria-invalid", String(wrong));
      $(`error-${name}`).textContent = wrong ? `${field.value} is no number` : "";
      if (wrong && right) field.focus();
      right = right && !wrong;
      if (text !== "" && !wrong) results[name] = value;
    }
    if (!right) say("");  // an older sentence would stand beside that of the field
    return {results, right, reason: $("reason").value.trim()};
  }

  function tell(trial, failed) {
    const {results, right, reason} = typed();
    if (!right) return;
    if (!failed && !Object.keys(results).length) { say("Type what you measured first. If the trial gave nothing, press Failed or Skip.", "bad"); return; }
    const body = {trial: trial.trial, results, if_surprising: "refuse"};
    if (failed) body.failed = reason || true;
    send("/tell", body);
  }

  // Whether it failed is said with true or false; left out, it stays as it was told.
  function amend(trial, failed) {
    const {results, right, reason} = typed();
    if (!right) return;
    send("/amend", {trial: trial.trial, results, ...(failed === undefined ? {} : {failed: failed && (reason || true)})});
  }

  function surprise() {
    const {request, text} = state.mode;
    return make("div", {class: "notice bad", role: "alert"}, make("p", {}, sentence(text)), make("div", {class: "buttons"},
      make("button", {type: "button", onclick: () => { state.mode = null; send("/tell", {...request.body, if_surprising: "record"}); }}, "Yes, record it"),
      make("button", {type: "button", onclick: () => { state.mode = null; render(); }}, "No, I correct it")));
  }

  function confirmation() {
    const trial = state.mode.trial;
    return make("div", {class: "notice bad", role: "alert"}, make("p", {}, `Take trial ${trial} out? It teaches nothing any more, and gives back its trial and its failure.`), make("div", {class: "buttons"},
      make("button", {type: "button", class: "fail", onclick: () => send("/void", {trial, reason: "taken out on the page"})}, "Take it out"),
      make("button", {type: "button", onclick: () => { state.mode = null; render(); }}, "Keep it")));
  }

  // A trial with typed values that is over: somebody else told or skipped it.
  function orphan() {
    for (const trial of state.trials.values()) {
      const draft = trial.outcome !== "running" && !(state.mode && state.mode.trial === trial.trial) && kept.get(`draft:${trial.trial}`);
      if (draft && Object.values(draft).some(Boolean)) return {trial: trial.trial, outcome: trial.outcome, draft};
    }
    return null;
  }

  function orphanNotice({trial, outcome, draft}) {
    const values = Object.entries(draft).filter(([, v]) => v).map(([k, v]) => `${k.trim()} = ${v}`).join(", ");
    const buttons = [make("button", {type: "button", onclick: () => { kept.drop(`draft:${trial}`); state.shown = null; render(); }}, "Forget them")];
    if (TOLD.includes(outcome)) buttons.unshift(make("button", {type: "button", onclick: () => { state.mode = {kind: "amend", trial}; render(); }}, "Use them as a correction"));
    return make("div", {class: "notice"}, make("p", {}, `Trial ${trial} is over already (${outcome}). You had typed ${values}, which it does not have.`), make("div", {class: "buttons"}, ...buttons));
  }

  function askParts(trial) {
    const found = [];
    if (state.last && state.last.path !== "/void" && state.last.path !== "/skip" && !(state.mode && state.mode.kind === "amend")) {
      const last = state.last.trial;
      found.push(make("div", {class: "buttons"},
        make("button", {type: "button", id: "undo", onclick: () => { state.mode = {kind: "confirm", trial: last}; render(); }}, `Undo trial ${last}`),
        make("button", {type: "button", onclick: () => { state.mode = {kind: "amend", trial: last}; render(); }}, `Correct trial ${last}`)));
    }
    const spent = state.status.trials_left === 0;
    if (spent && !trial) found.unshift(make("p", {class: "notice"}, `All ${state.study.trials} trials are used. The setting to use stands below; raise trials in the study file to go on.`));
    if (!spent) found.unshift(make("button", {type: "button", class: trial ? "" : "big ok", disabled: state.busy, id: "ask", onclick: () => send("/ask", {})}, state.busy ? "one moment…" : trial ? "Another setting meanwhile" : "Next setting"));
    return found;
  }

  function renderBest() {
    const place = $("best-body"), {best, recommended} = state.best || {};
    if (!best && !recommended) { place.replaceChildren(make("p", {}, "Nothing safe was seen yet.")); return; }
    const parts = [];
    if (best) parts.push(make("p", {}, make("b", {}, `${state.study.objective} = ${number(best.value)}`), ` in trial ${best.trial}: ${settings(best.parameters)}`));
    if (recommended) parts.push(make("p", {}, make("b", {}, "Recommended: "), `${settings(recommended.parameters)}; ${state.study.objective} = ${short(recommended.mean)} ± ${spread(recommended.std)} expected, safe with ${percent(recommended.p_safe)}${recommended.reached ? "" : ", which is less than asked for: the safest setting known"}`));
    if (typeof state.status.expected_gain === "number") parts.push(make("p", {}, `Expected gain of the trials left: ${short(state.status.expected_gain)}`));
    place.replaceChildren(...parts);
  }

  function renderTable() {
    if (!$("table").open) return;
    const {parameters, results} = state.study, names = Object.keys(parameters);
    const head = ["trial", "outcome", ...names, ...results, "P(safe)", "why", ""];
    const rows = [...state.trials.values()].reverse().map(t => make("tr", {},
      make("th", {scope: "row"}, String(t.trial)),
      make("td", {class: `outcome-${t.outcome}`}, t.outcome + (!t.billed && (TOLD.includes(t.outcome) || t.outcome === "never") ? ", evidence" : "") + (t.amended ? ", amended" : "")),
      ...names.map(n => make("td", {class: String(t.parameters[n]).includes(" ") ? "long" : ""}, setting(n, t.parameters[n]))), ...results.map(n => make("td", {}, number(t.results[n]))),
      make("td", {}, percent(t.p_safe)), make("td", {class: "why"}, [t.why, t.reason, ...t.changes].filter(Boolean).join(" ")),
      make("td", {}, ...(TOLD.includes(t.outcome) && t.billed ? [
        make("button", {class: "small", type: "button", "aria-label": `correct trial ${t.trial}`, onclick: () => { state.mode = {kind: "amend", trial: t.trial}; render(); $("next").focus(); }}, "correct"),
        make("button", {class: "small", type: "button", "aria-label": `take trial ${t.trial} out`, onclick: () => { state.mode = {kind: "confirm", trial: t.trial}; render(); $("next").focus(); }}, "take out")] : []))));
    $("trials").replaceChildren(make("thead", {}, make("tr", {}, ...head.map(text => make("th", {scope: "col"}, text)))), make("tbody", {}, ...rows));
  }

  function renderOwn() {
    const form = $("own-form"), shown = JSON.stringify(state.study.parameters);
    if (state.ownShown === shown) return;  // the file may be edited while the study runs
    state.ownShown = shown;
    form.replaceChildren();
    const draft = kept.get("draft:own") || {};
    for (const [name, p] of Object.entries(state.study.parameters)) {
      if (p.type === "fixed") continue;
      const id = `own-${name}`;
      const range = p.choices ? "" : `${setting(name, p.low)} to ${setting(name, p.high)}`;
      const field = p.choices
        ? make("select", {id, "data-name": name}, ...p.choices.map((c, i) => make("option", {value: String(i), selected: draft[name] === String(i)}, String(c))))
        : make("input", {id, "data-name": name, inputmode: "decimal", autocomplete: "off", value: draft[name] || ""});
      field.addEventListener("input", () => kept.set("draft:own", fieldsOf(form)));
      form.append(make("label", {for: id}, name, range ? make("small", {}, `  ${range}`) : null), field);
    }
    form.append(make("button", {type: "submit", class: "big"}, "Try it"));
    form.onsubmit = event => { event.preventDefault(); tryOwn(form); };
  }

  function tryOwn(form) {
    const parameters = {}, typed = fieldsOf(form);
    for (const [name, p] of Object.entries(state.study.parameters)) {
      if (p.type === "fixed") { parameters[name] = p.value; continue; }
      const text = typed[name].trim().replace(",", ".");
      if (!p.choices && !Number.isFinite(parsed(text))) { say(`${name} needs a number.`, "bad"); $(`own-${name}`).focus(); return; }
      parameters[name] = p.choices ? p.choices[Number(text)] : parsed(text);
    }
    send("/try", {parameters});
  }

  // -- start -----------------------------------------------------------------------------------------------

  $("token-form").addEventListener("submit", event => {
    event.preventDefault();
    kept.set("token", $("token-field").value.trim());
    $("token").hidden = true;
    $("connection").textContent = "connecting…";
  });
  if (window.matchMedia("(min-width: 62rem)").matches) $("figures").open = true;
  $("figures").addEventListener("toggle", look);
  $("table").addEventListener("toggle", render);
  window.addEventListener("hashchange", () => { takeToken(); });
  takeToken();
  follow();
})();
