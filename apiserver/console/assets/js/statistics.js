/** statistics: plots of the server's metrics over the last hour. */
import { fill, h, svg } from "./dom.js";
import { get } from "./api.js";

const PAUSE = 10000;
const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [520, 190, 52, 10, 22];
const COLOURS = 8;

/** @typedef {{name: string, title: string, unit: string, lines: Record<string, (number | null)[]>}} PlotData */
/** @typedef {{seconds: number, times: number[], plots: PlotData[]}} Statistics */

/** @returns {Promise<import("./shell.js").Page>} */
export async function statisticsPage() {
  const stop = new AbortController();
  const grid = h("div", { class: "plots" });
  const state = h("p", { class: "quiet", role: "status" });
  /** @param {Statistics} data */
  function draw(data) {
    const minutes = Math.round((data.times.length * data.seconds) / 60);
    fill(
      state,
      data.times.length < 2
        ? "The first readings come in some seconds."
        : `The last ${minutes < 2 ? "minute" : `${minutes} minutes`}, a reading every ${data.seconds} seconds.`,
    );
    fill(
      grid,
      data.plots.map((one) => plot(one, data.times)),
    );
  }
  draw(await get("/ui/api/statistics"));
  const timer = setInterval(async () => {
    if (document.hidden) return;
    const data = await get("/ui/api/statistics", { signal: stop.signal }).catch(() => null);
    if (data && !stop.signal.aborted && !grid.matches(":hover")) draw(data);
  }, PAUSE);
  return {
    title: "Statistics",
    actions: [],
    body: h("div", { class: "pad" }, state, grid),
    leave: () => {
      stop.abort();
      clearInterval(timer);
    },
  };
}

/**
 * @param {PlotData} data
 * @param {number[]} times
 */
function plot(data, times) {
  const names = Object.keys(data.lines);
  const highest = niceAbove(Math.max(...names.flatMap((name) => data.lines[name].map((value) => value ?? 0)), 0));
  const x = (/** @type {number} */ index) =>
    LEFT + (times.length < 2 ? 0 : (index / (times.length - 1)) * (WIDTH - LEFT - 8));
  const y = (/** @type {number} */ value) => TOP + (1 - value / highest) * (HEIGHT - TOP - BOTTOM);
  const last = names.map((name) => ({
    name,
    value: [...data.lines[name]].reverse().find((value) => value !== null) ?? 0,
  }));
  const levels = [0, 0.5, 1].map((part) => part * highest);
  const marker = svg("line", { class: "marker hidden", y1: TOP, y2: HEIGHT - BOTTOM });
  const picture = svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `${data.title}: ${last.map((one) => `${one.name} ${words(one.value, data.unit)}`).join(", ") || "nothing"}`,
    },
    levels
      .map((value) => [
        svg("line", { class: "level", x1: LEFT, x2: WIDTH - 8, y1: y(value), y2: y(value) }),
        svg("text", { class: "axis", x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, words(value, data.unit)),
      ])
      .flat(),
    ticks(times).map(({ index, text }) =>
      svg("text", { class: "axis", x: x(index), y: HEIGHT - 5, "text-anchor": "middle" }, text),
    ),
    names.map((name, index) => svg("path", { class: `line m${index % COLOURS}`, d: pathOf(data.lines[name], x, y) })),
    marker,
  );
  const legend = h(
    "ul",
    { class: "keys" },
    last
      .slice(0, COLOURS)
      .map((one, index) =>
        h(
          "li",
          { class: `manager m${index}` },
          h("i", {}),
          h("span", { class: "clip" }, one.name),
          h("strong", { "data-line": one.name }, words(one.value, data.unit)),
        ),
      ),
  );
  const time = h("span", { class: "faint" });
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const { clientX } = /** @type {PointerEvent} */ (event);
    const place = ((clientX - box.left) / box.width) * WIDTH;
    const index = Math.max(
      0,
      Math.min(times.length - 1, Math.round(((place - LEFT) / (WIDTH - LEFT - 8)) * (times.length - 1))),
    );
    if (!times.length) return;
    marker.setAttribute("class", "marker");
    marker.setAttribute("x1", String(x(index)));
    marker.setAttribute("x2", String(x(index)));
    fill(time, new Date(times[index] * 1000).toLocaleTimeString());
    for (const one of legend.querySelectorAll("strong"))
      one.textContent = words(data.lines[one.dataset.line ?? ""][index] ?? 0, data.unit);
  });
  picture.addEventListener("pointerleave", () => {
    marker.setAttribute("class", "marker hidden");
    fill(time);
  });
  return h(
    "figure",
    { class: "card plot" },
    h("figcaption", {}, h("h2", {}, data.title), time),
    picture,
    names.length ? legend : h("p", { class: "faint" }, "Nothing yet."),
  );
}

/** @param {(number | null)[]} values @param {(index: number) => number} x @param {(value: number) => number} y */
function pathOf(values, x, y) {
  let text = "";
  values.forEach((value, index) => {
    const isAlone = (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null;
    if (value !== null && isAlone) text += `M${x(index).toFixed(1)} ${y(value).toFixed(1)}h.1`;
    else if (value !== null)
      text += `${index && values[index - 1] !== null ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
  });
  return text;
}

/** @param {number[]} times */
function ticks(times) {
  if (times.length < 2) return [];
  const places = [1, 2, 3].map((part) => Math.round((part * (times.length - 1)) / 4));
  return [...new Set(places)]
    .filter((index) => index < times.length - 1)
    .map((index) => ({ index, text: new Date(times[index] * 1000).toTimeString().slice(0, 8) }));
}

/** @param {number} value */
function niceAbove(value) {
  if (value <= 0) return 1;
  const size = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((one) => one * size >= value) ?? 10) * size;
}

/** @param {number} value @param {string} unit */
function words(value, unit) {
  if (unit === "s")
    return value < 1 ? `${Number((value * 1000).toPrecision(2))} ms` : `${Number(value.toPrecision(2))} s`;
  if (unit === "B") return value >= 2 ** 20 ? `${(value / 2 ** 20).toFixed(1)} MB` : `${(value / 1024).toFixed(0)} kB`;
  return `${value >= 100 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(2))}${unit}`;
}
