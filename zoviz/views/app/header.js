const THEME = "zoviz_theme";

const cookie = () => document.cookie.match(/(?:^|; )zoviz_theme=([a-z-]*)/)?.[1] ?? "";
const remember = word => { document.cookie = `${THEME}=${word}; path=/; max-age=31536000; samesite=lax`; };

const copy = text => {COPY};

export function render({model, el}) {
    const bar = document.createElement("div");
    bar.className = "bar";
    bar.innerHTML = `
      <button class="plain form" type="button" aria-label="Problem, solver and parameters" aria-expanded="false">☰</button>
      <h1>zoviz</h1>
      <nav class="zoviz-rooms" role="tablist" aria-label="Rooms"></nav>
      <span class="chip" hidden><button class="name" type="button"></button>
        <button class="stop" type="button">Stop the run</button></span>
      <button class="plain copy" type="button">Copy link</button>
      <button class="plain theme" type="button" aria-label="Toggle theme">☾</button>`;
    const part = selector => bar.querySelector(selector);
    const rooms = part("nav"), form = part(".form");

    for (const [name, title] of model.rooms) {
        const tab = document.createElement("button");
        Object.assign(tab, {type: "button", textContent: title, onclick: () => model.send_msg({open: name})});
        tab.dataset.name = name;
        tab.setAttribute("role", "tab");
        rooms.append(tab);
    }
    rooms.addEventListener("keydown", event => {
        const tabs = [...rooms.children], at = tabs.findIndex(tab => tab.matches(":focus"));
        const ends = {Home: 0, End: tabs.length - 1}, steps = {ArrowLeft: at - 1, ArrowRight: at + 1};
        const next = ends[event.key] ?? steps[event.key];
        if (next === undefined) return;
        event.preventDefault();
        tabs[(next + tabs.length) % tabs.length].focus();
    });

    function unfold(open) {
        form.setAttribute("aria-expanded", open);
        document.body.dataset.form = open ? "open" : "";
    }
    function show_room() {
        for (const tab of rooms.children) {
            const here = tab.dataset.name === model.open;
            tab.setAttribute("aria-selected", here);
            tab.tabIndex = here ? 0 : -1;
        }
        form.hidden = model.open !== "run";
        document.body.dataset.room = model.open;
        unfold(false);
    }
    function show_chip() {
        part(".chip").hidden = !model.chip;
        part(".name").textContent = model.chip;
    }

    // A cell of a notebook is as light or dark as the notebook says.
    const page = document.querySelector("body.zoviz-page"), system = matchMedia("(prefers-color-scheme: dark)");
    const word = dark => dark ? "dark" : "light";
    function show_theme() {
        const chosen = cookie(), dark = ["dark", "light"].includes(chosen) ? chosen === "dark" : system.matches;
        document.documentElement.dataset.theme = word(dark);
        part(".theme").textContent = dark ? "☀" : "☾";
        if (chosen !== word(dark)) remember(`system-${word(dark)}`);
        model.send_msg({theme: word(dark)});
    }
    // A toggle to what the system says follows the system again: there is no third state to choose.
    part(".theme").onclick = () => {
        const dark = document.documentElement.dataset.theme !== "dark";
        remember(dark === system.matches ? `system-${word(dark)}` : word(dark));
        show_theme();
    };
    part(".theme").hidden = form.hidden = !page;
    if (page) {
        show_theme();
        system.addEventListener("change", show_theme);
        model.on("remove", () => system.removeEventListener("change", show_theme));
    }
    form.onclick = () => unfold(form.getAttribute("aria-expanded") !== "true");
    part(".copy").onclick = () => copy(location.href);
    part(".name").onclick = () => model.send_msg({open: "run"});
    part(".stop").onclick = () => model.send_msg({stop: true});
    model.on("open", show_room);
    model.on("chip", show_chip);
    show_room();
    show_chip();
    return bar;
}
