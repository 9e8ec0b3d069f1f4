(() => {
    const read = id => JSON.parse(document.getElementById(id).textContent);
    const report = read("zoviz-report"), frames = read("zoviz-frames"), themes = read("zoviz-themes");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const KINDS = {Figure: "Plot", Title: "Title", LinearAxis: "Axis", LogAxis: "Axis", Grid: "Grid", Legend: "Legend",
        ColorBar: "ColorBar", Text: "Text"};

    function dress(doc) {
        const word = system.matches ? "dark" : "light", from = themes[word === "dark" ? "light" : "dark"], to = themes[word];
        document.documentElement.dataset.theme = word;
        for (const model of doc._all_models.values()) {
            const kind = KINDS[model.type], changes = {};
            for (const [name, value] of Object.entries(to[kind] ?? {})) {
                const now = model[name]?.value ?? model[name];  // what a figure says of itself stays
                if (value !== from[kind][name] && now === from[kind][name]) changes[name] = value;
            }
            if (Object.keys(changes).length) model.setv(changes);
        }
    }

    const last = (values, x) => {
        let low = 0, high = values.length - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (values[middle] <= x) low = middle; else high = middle - 1;
        }
        return low;
    };
    const number = (value, digits = 5) => value === null || value === undefined ? "–"
        : value && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6) ? value.toExponential(2) : `${+value.toPrecision(digits)}`;
    const whole = value => Math.round(value).toLocaleString("en-US");

    function play(doc) {
        const runs = report.runs.filter(one => one.course.calls?.length);
        const end = Math.max(...runs.map(one => one.course.calls.at(-1)));
        if (!(end > 0)) return;
        const [place, button] = [document.getElementById("place"), document.getElementById("play")];
        const cursor = doc.get_model_by_name("zoviz-cursor"), body = document.querySelector(".readout tbody");
        const columns = ["objective", "violation", "gap"].filter(name => runs.some(one => one.course[name]));
        const cells = runs.map(one => {
            const row = body.insertRow(), head = document.createElement("th"), chip = document.createElement("span");
            chip.className = "chip";
            chip.style.background = one.colour;
            head.scope = "row";
            head.append(chip, runs.length > 1 ? one.name.slice(0, 24) : "");
            row.append(head);
            return ["iteration", ...columns].map(() => row.insertCell());
        });
        const shown = frames.targets.map(() => -1);

        function draw_frame(x) {
            const numbers = frames.at[last(frames.calls, x)], events = [];
            frames.targets.forEach(([id, attr], k) => {
                if (numbers[k] === shown[k]) return;
                shown[k] = numbers[k];
                events.push({kind: "ModelChanged", model: {id}, attr, new: structuredClone(frames.values[numbers[k]])});
            });
            if (events.length) doc.apply_json_patch({events});
        }
        function show() {
            const x = end * place.value / place.max;
            runs.forEach((one, i) => {
                const k = last(one.course.calls, x), at = name => one.course[name]?.[k];
                cells[i][0].textContent = `iteration ${whole(at("iteration"))} · ${whole(at("calls"))} calls`;
                columns.forEach((name, j) => { cells[i][j + 1].textContent = `${name} ${number(at(name))}`; });
            });
            place.setAttribute("aria-valuetext", `${whole(x)} oracle calls per replica`);
            cursor.data = {x: [x]};
            if (frames.targets.length) draw_frame(x);
        }

        const marks = document.querySelector(".marks");
        for (const one of runs) one.changes.forEach(([iteration, calls, , name, before, after], i) => {
            const mark = document.createElement("button"), share = Math.min(calls / end, 1);
            const words = `${runs.length > 1 ? one.name + ", " : ""}iteration ${whole(iteration)}: ${name} ${before} → ${after}`;
            Object.assign(mark, {type: "button", textContent: i + 1, title: words, onclick: () => jump(share * place.max)});
            mark.setAttribute("aria-label", words);
            mark.style.cssText = `left: calc(8px + ${share} * (100% - 16px)); background: ${one.colour}; color: #fff`;
            marks.append(mark);
        });

        let playing = false, before = 0;
        const stop = () => {
            playing = false;
            button.textContent = "▶";
            button.setAttribute("aria-label", "Play");
        };
        const jump = value => {
            place.value = value;
            show();
        };
        const tick = now => {
            if (!playing) return;
            const share = +place.value + (now - before) / 12;  // twelve seconds from end to end
            if (now - before < 40) return requestAnimationFrame(tick);
            before = now;
            jump(share);
            if (share >= +place.max) stop(); else requestAnimationFrame(tick);
        };
        button.onclick = () => {
            if (playing) return stop();
            playing = true;
            button.textContent = "❚❚";
            button.setAttribute("aria-label", "Pause");
            if (+place.value >= +place.max) place.value = 0;
            before = performance.now();
            requestAnimationFrame(tick);
        };
        place.oninput = () => {
            stop();
            show();
        };
        document.querySelector(".player").hidden = false;
        show();
    }

    for (const copy of document.querySelectorAll(".copy")) copy.onclick = () => {
        const text = copy.previousElementSibling.textContent;
        COPY_TEXT
    };

    const wait = () => {
        const doc = window.Bokeh?.documents[0];
        if (!doc?.is_idle) return setTimeout(wait, 50);
        system.onchange = () => dress(doc);
        dress(doc);
        play(doc);
        document.body.dataset.ready = "yes";
    };
    wait();
})();
