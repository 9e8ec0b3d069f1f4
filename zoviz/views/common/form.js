// The form's own widgets. Each draws `spec`, which Python alone changes; what a person does is one message
// {seq, ...}, answered by a spec with that number as its `ack` (zoviz/views/common/form_widget.py).

const h = (tag, props = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child != null));
  return element;
};
let made = 0;

// Messages to Python: one of a drag is on its way at a time, and the latest place waits for its answer.
function messages(model) {
  let last = model.spec.ack, waiting = null;
  return {
    post(message, drag = false) {
      if (drag && this.open()) { waiting = message; return; }
      waiting = null;
      model.send_msg({...message, seq: ++last});
    },
    open: () => model.spec.ack < last || waiting !== null,
    answered() {
      if (model.spec.ack < last) return;
      last = model.spec.ack;
      if (waiting) this.post(waiting);
    },
  };
}

// A list. The text field is the search: it has the focus before the list opens. Where several can be chosen it stays
// open, and those that are stand below it, each with a button that takes it away.
function list(el, model) {
  const key = `zoviz-list-${++made}`, talk = messages(model);
  let spec = model.spec, titles = [], at = -1, chosen = null, sought = "";
  const name = title => spec.names[title] ?? title;
  const isOpen = () => pop.matches(":popover-open");

  const pop = h("div", {class: "pop", popover: "manual", role: "listbox", id: `${key}-list`});
  pop.addEventListener("mousedown", event => {  // the search keeps the focus
    event.preventDefault();
    const option = event.target.closest("[data-title]");
    if (option) choose(option.dataset.title);
  });
  const input = h("input", {
    type: "text", id: key, role: "combobox", autocomplete: "off", spellcheck: "false", "aria-autocomplete": "list",
    "aria-expanded": "false", "aria-controls": `${key}-list`, "aria-describedby": `${key}-help`,
    on: {click: () => isOpen() || open(), input: () => { if (!isOpen()) open(false); draw(input.value); },
         blur: () => close(), keydown: press},
  });
  const label = h("label", {class: "label", for: key}), say = h("div", {class: "say", role: "alert"});
  const tip = h("div", {class: "tip", role: "tooltip", id: `${key}-help`});
  const line = h("div", {class: "line"}, label, h("div", {class: "box combo"}, input, pop));
  const several = spec.chosen !== undefined, chips = several ? h("div", {class: "chips"}) : null;
  const isChosen = title => several ? spec.chosen.includes(title) : title === spec.value;
  el.append(h("div", {class: "field"}, line, chips, say, tip));

  function press(event) {
    const {key: pressed} = event, down = pressed === "ArrowDown", size = titles.length;
    if (!isOpen()) {
      const letter = pressed.length === 1 && pressed !== " " && !event.ctrlKey && !event.metaKey;
      if (!letter && !["Enter", " ", "ArrowDown", "ArrowUp"].includes(pressed)) return;
      open();
      if (letter) return;  // takes the place of the title, which is selected
    } else if (pressed === "Escape") { event.stopPropagation(); close(); }
    else if (pressed === "Enter") { if (titles[at] !== undefined) choose(titles[at]); }
    else if (down || pressed === "ArrowUp") move(size ? (at + (down ? 1 : size - 1)) % size : -1);
    else if (pressed === "PageDown" || pressed === "PageUp")
      move(Math.min(Math.max(at + (pressed === "PageDown" ? 8 : -8), 0), size - 1));
    else return;
    event.preventDefault();
  }

  function place() {
    const {left, right, top, bottom} = line.querySelector(".box").getBoundingClientRect();
    const above = innerHeight - bottom < 240 && top > innerHeight - bottom;
    const room = (above ? top : innerHeight - bottom) - 12, width = Math.min(Math.max(right - left, 300), innerWidth - 16);
    Object.assign(pop.style, {
      width: `${width}px`, left: `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`, maxHeight: `${room}px`,
      top: above ? "auto" : `${bottom + 2}px`, bottom: above ? `${innerHeight - top + 2}px` : "auto",
    });
  }

  function open(all = true) {
    if (input.disabled) return;
    input.focus();
    if (all) { draw(""); input.select(); }
    place();
    pop.showPopover();
    for (const event of ["scroll", "resize"]) addEventListener(event, place, true);
    input.setAttribute("aria-expanded", "true");
    move(at);
  }

  function close() {
    if (isOpen()) pop.hidePopover();
    for (const event of ["scroll", "resize"]) removeEventListener(event, place, true);
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    input.value = several ? "" : name(chosen ?? spec.value);
  }

  function choose(title) {
    chosen = title;
    if (several) input.select(); else close();
    talk.post({title});
  }

  function move(place) {
    at = place;
    for (const [i, option] of pop.querySelectorAll("[data-title]").entries()) {
      option.classList.toggle("at", i === at);
      if (i !== at) continue;
      option.scrollIntoView({block: "nearest"});
      input.setAttribute("aria-activedescendant", option.id);
    }
  }

  // How well a title of a group fits what is typed; -1 where a word of it is in neither.
  function fit(title, group, words) {
    const own = name(title).toLowerCase(), all = `${own} ${group.toLowerCase()}`;
    if (!words.every(word => all.includes(word))) return -1;
    const query = words.join(" ");
    return own === query ? 5 : own.startsWith(query) ? 4 : own.split(/[^\p{L}\p{N}]+/u).includes(query) ? 3
      : own.includes(query) ? 2 : words.some(word => own.includes(word)) ? 1 : 0;
  }

  function draw(query) {
    sought = query;
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const groups = spec.groups.map(([group, all]) => {
      const hits = all.map(title => [fit(title, group, words), title]).filter(([score]) => score >= 0);
      if (words.length) hits.sort(([a], [b]) => b - a);
      return {group, best: hits[0]?.[0] ?? -1, own: hits.map(([, title]) => title)};
    }).filter(({own}) => own.length);
    if (words.length) groups.sort((a, b) => b.best - a.best);
    titles = groups.flatMap(({own}) => own);
    let number = 0;
    const option = title => h("div", {
      role: "option", id: `${key}-${number++}`, "data-title": title, "aria-selected": String(isChosen(title)),
    }, name(title));
    pop.replaceChildren(...groups.map(({group, own}) => h("div", group ? {role: "group", "aria-label": group} : {},
      group ? h("div", {class: "group", "aria-hidden": "true"}, group) : null, ...own.map(option))));
    if (!titles.length) pop.append(h("div", {class: "none", role: "status"}, "Nothing matches."));
    input.removeAttribute("aria-activedescendant");
    move(words.length ? 0 : Math.max(titles.indexOf(spec.value), 0));
  }

  // Other choices than those that are in sight: the place, and what is typed, stay.
  function redraw() {
    const title = titles[at], before = at;
    draw(sought);
    move(titles.includes(title) ? titles.indexOf(title) : Math.min(before, titles.length - 1));
    if (!several && !sought) { input.value = name(chosen ?? spec.value); input.select(); }
  }

  const listed = ({groups, names, value, chosen: all}) => JSON.stringify([groups, names, value, all]);

  function update() {
    const before = listed(spec);
    spec = model.spec;
    talk.answered();
    if (!talk.open()) chosen = null;
    input.disabled = spec.locked;
    if (isOpen() && listed(spec) !== before) redraw();
    if (several) {
      input.placeholder = "Type to add";
      pop.setAttribute("aria-multiselectable", "true");
      chips.replaceChildren(...spec.chosen.map(title => h("button", {type: "button", disabled: spec.locked,
        "aria-label": `Remove ${title}`, on: {click: () => talk.post({title})}}, `${name(title)} ✕`)));
    }
    line.classList.toggle("wide", spec.wide);
    label.textContent = spec.label;
    pop.setAttribute("aria-label", spec.label);
    tip.textContent = spec.help;
    report(say, spec);
    if (input.disabled || !isOpen()) close();
  }
  return update;
}

// Below a field: why a value was refused, or that it is awaited.
function report(say, spec) {
  say.textContent = spec.error || spec.note;
  say.classList.toggle("note", !spec.error);
}

// A number: a text field, and below it a slider for log10 of the value. While the handle is held, or a message is not
// answered yet, what the person did is shown; else what Python says.
function row(el, model) {
  const key = `zoviz-row-${++made}`, talk = messages(model);
  let spec = model.spec, typed = false, held = false, shown = null;
  const [, words, symbol, index] = spec.label.match(/^(.* )?(\S)(?:_(\S+))?$/u) ?? [null, spec.label];

  const input = h("input", {
    type: "text", id: key, inputmode: "decimal", maxlength: 64, autocomplete: "off", spellcheck: "false",
    "aria-label": index ? spec.label : null, on: {focus: () => input.select(), input: () => { typed = true; }, blur: enter, keydown: press},
  });
  const auto = h("button", {type: "button", class: "auto", "aria-label": `${spec.label}: ${spec.blank}`,
    on: {mousedown: event => event.preventDefault(), click: () => { typed = false; talk.post({text: spec.blank}); }}},
    spec.blank);
  const say = h("div", {class: "say", role: "alert", id: `${key}-say`});
  const ask = h("div", {class: "ask", role: "group", "aria-label": `Question about ${spec.label}`});
  const tip = h("div", {class: "tip", role: "tooltip", id: `${key}-help`});
  const label = h("label", {class: "label", for: key}, words, symbol && h("i", {}, symbol), index && h("sub", {}, index));
  const line = h("div", {class: "line"}, label, h("div", {class: "box"}, input, auto));
  const range = spec.slider && h("input", {type: "range", step: "any", "aria-label": `${spec.label}, slider`, on: {
    pointerdown: hold, keydown: nudge, input: () => set(valueAt(+range.value)),
  }});
  const tick = h("div", {class: "tick"});
  const slider = range && h("div", {class: `slider logslider logslider-${spec.name}`}, range, tick);
  el.append(h("div", {class: "field"}, line, slider, say, ask, tip));

  const short = v => {
    const size = Math.abs(v);
    return v === 0 || size >= 1e-3 && size < 1e6 ? String(+v.toPrecision(3))
      : v.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  };
  const valueAt = place => spec.whole ? Math.round(10 ** place) : +(10 ** place).toPrecision(3);

  function enter() {
    if (!typed) return;
    typed = false;
    talk.post({text: input.value});
  }

  // One more of the latest values of a drag or of keys that are held down.
  function set(value) {
    typed = false;
    shown = value;
    input.value = spec.whole ? String(value) : short(value);
    if (range) range.setAttribute("aria-valuetext", input.value);
    talk.post({value}, true);
  }

  function press(event) {
    const {key: pressed} = event, up = pressed === "ArrowUp";
    if (pressed === "Enter") enter();
    else if (pressed === "Escape") {
      typed = false;
      if (spec.error || spec.ask.length) talk.post({do: "decline"});
      draw();
      input.select();
    } else if (up || pressed === "ArrowDown") {
      const from = typed && isFinite(parseFloat(input.value)) ? parseFloat(input.value) : shown;
      if (from === null) return;
      if (spec.whole) set(Math.round(from) + (up ? 1 : -1));
      else set(from === 0 ? (up ? 0.1 : -0.1) : +(up === from > 0 ? from * 1.1 : from / 1.1).toPrecision(3));
    } else return;
    event.preventDefault();
  }

  // Arrows move the handle by a twentieth of a decade, page keys by half of one, but a count by one at least.
  function nudge(event) {
    const steps = {ArrowUp: 0.05, ArrowRight: 0.05, ArrowDown: -0.05, ArrowLeft: -0.05, PageUp: 0.5, PageDown: -0.5};
    const step = steps[event.key];
    if (event.key === "Escape" && spec.ask.length) talk.post({do: "decline"});
    if (!step) return;
    event.preventDefault();
    const from = valueAt(+range.value), moved = valueAt(+range.value + step);
    range.value = spec.whole && moved === from ? Math.log10(from + Math.sign(step)) : +range.value + step;
    const value = valueAt(+range.value);
    if (value !== from) set(value);
  }

  function hold() {
    held = true;
    const release = () => { held = false; draw(); };
    for (const event of ["pointerup", "pointercancel"]) addEventListener(event, release, {once: true, capture: true});
  }

  function draw() {
    const pending = talk.open() || held;
    input.disabled = auto.disabled = spec.locked;
    auto.hidden = spec.value === null || spec.locked || !["auto", "none"].includes(spec.blank);
    line.classList.toggle("open", spec.value === null && !spec.error);
    line.classList.toggle("set", !auto.hidden);
    input.setAttribute("aria-invalid", String(!!spec.error));
    input.setAttribute("aria-describedby", spec.error ? `${key}-say` : `${key}-help`);
    report(say, spec);
    tip.textContent = spec.help;
    if (ask.dataset.asked !== spec.ask.join()) {
      const [question, use, keep] = spec.ask, button = (text, does) =>
        h("button", {type: "button", on: {click: () => talk.post({do: does})}}, text);
      ask.dataset.asked = spec.ask.join();
      ask.replaceChildren(...question
        ? [h("div", {role: "alert"}, question), button(use, "agree"), button(keep, "decline")] : []);
    }
    if (!pending) shown = spec.value ?? spec.auto;
    if (!pending && !typed) input.value = spec.text;
    if (range) {
      const {low, high, at, ends, tick: place} = spec.slider;
      range.disabled = spec.locked;
      if (!pending) {
        Object.assign(range, {min: low, max: high});
        range.value = at;
        range.setAttribute("aria-valuetext", spec.value === null ? spec.text : short(spec.value));
      }
      slider.classList.toggle("open", spec.value === null);
      slider.style.setProperty("--zf-bands", ends.length ? `linear-gradient(to right, var(--zf-proven) 0 ${ends[0]}%, `
        + `var(--zf-stable) ${ends[0]}% ${ends[1]}%, var(--zf-unstable) ${ends[1]}% 100%)` : "var(--zf-line)");
      tick.hidden = place === null;
      if (place !== null) tick.style.left = `calc(7px + (100% - 14px) * ${place / 100})`;
    }
  }

  return () => {
    spec = model.spec;
    talk.answered();
    draw();
  };
}

// A button that shows more, or hides it again.
function more(el, model) {
  const talk = messages(model), mark = h("span", {"aria-hidden": "true"}), words = h("span");
  const button = h("button", {type: "button", class: "more", on: {click: () => talk.post({on: !model.spec.value})}}, mark, words);
  el.append(h("div", {class: "field"}, button));
  return () => {
    const {value: open, label, locked} = model.spec;
    talk.answered();
    button.disabled = locked;
    button.setAttribute("aria-expanded", String(open));
    mark.textContent = open ? "▾ " : "▸ ";
    words.textContent = `${open ? "Fewer" : "More"} · ${label}`;
  };
}

// A box to tick.
function check(el, model) {
  const key = `zoviz-check-${++made}`, talk = messages(model), words = h("span");
  const box = h("input", {type: "checkbox", "aria-describedby": `${key}-help`, on: {change: () => talk.post({on: box.checked})}});
  const tip = h("div", {class: "tip", role: "tooltip", id: `${key}-help`}), say = h("div", {class: "say", role: "alert"});
  el.append(h("div", {class: "field"}, h("div", {class: "line"}, h("label", {class: "label check"}, box, words)), say, tip));
  return () => {
    const {spec} = model;
    talk.answered();
    box.disabled = spec.locked;
    if (!talk.open()) box.checked = spec.value;
    words.textContent = spec.label;
    report(say, spec);
    tip.textContent = spec.help;
  };
}

// A slider over whole numbers; what its place means stands beside it.
function range(el, model) {
  const talk = messages(model), place = h("span", {class: "place", "aria-hidden": "true"});
  const bar = h("input", {type: "range", on: {input: () => talk.post({value: +bar.value}, true)}});
  el.append(h("div", {class: "field line"}, h("div", {class: "slider label"}, bar), place));
  return () => {
    const {spec} = model;
    talk.answered();
    Object.assign(bar, {min: spec.low, max: spec.high, disabled: spec.locked});
    if (!talk.open()) bar.value = spec.value;
    for (const [name, text] of [["aria-label", spec.label], ["aria-valuetext", spec.text || spec.value], ["title", spec.help]])
      bar.setAttribute(name, text);
    place.textContent = spec.text;
  };
}

// A button that has a file made, and saves what comes.
function download(el, model) {
  const talk = messages(model), say = h("div", {class: "say", role: "alert"});
  const button = h("button", {type: "button", class: "plain", on: {click: () => talk.post({do: "make"})}});
  el.append(h("div", {class: "field"}, button, say));
  model.on("msg:custom", event => {
    const {name, bytes} = event.data ?? event, content = Uint8Array.from(atob(bytes), one => one.charCodeAt(0));
    const link = h("a", {href: URL.createObjectURL(new Blob([content])), download: name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
  return () => {
    const {spec} = model;
    talk.answered();
    button.disabled = spec.locked;
    button.title = spec.help;
    button.textContent = spec.label;
    button.setAttribute("aria-busy", String(spec.busy));
    say.textContent = spec.error;
  };
}

export function render({model, el}) {
  const update = ({list, row, more, check, range, download})[model.spec.kind](el, model);
  model.on("spec", update);
  update();
}
