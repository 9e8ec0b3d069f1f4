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

// A list. The text field is the search: it has the focus before the list opens.
function list(el, model) {
  const key = `zoviz-list-${++made}`, talk = messages(model);
  let spec = model.spec, titles = [], at = -1, chosen = null;
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
  el.append(h("div", {class: "field"}, line, say, tip));

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
    input.value = name(chosen ?? spec.value);
  }

  function choose(title) {
    chosen = title;
    close();
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
      role: "option", id: `${key}-${number++}`, "data-title": title, "aria-selected": String(title === spec.value),
    }, name(title));
    pop.replaceChildren(...groups.map(({group, own}) => h("div", group ? {role: "group", "aria-label": group} : {},
      group ? h("div", {class: "group", "aria-hidden": "true"}, group) : null, ...own.map(option))));
    if (!titles.length) pop.append(h("div", {class: "none", role: "status"}, "Nothing matches."));
    input.removeAttribute("aria-activedescendant");
    move(words.length ? 0 : Math.max(titles.indexOf(spec.value), 0));
  }

  function update() {
    spec = model.spec;
    talk.answered();
    if (!talk.open()) chosen = null;
    input.disabled = spec.locked;
    line.classList.toggle("wide", spec.wide);
    label.textContent = spec.label;
    pop.setAttribute("aria-label", spec.label);
    tip.textContent = spec.help;
    say.textContent = spec.error;
    if (input.disabled || !isOpen()) close();
  }
  return update;
}

export function render({model, el}) {
  const update = ({list})[model.spec.kind](el, model);
  model.on("spec", update);
  update();
}
