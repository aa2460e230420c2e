/** dom: builds elements without HTML text, so that no value of an object can become markup. */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, any>} Props */

/**
 * @param {Element} element
 * @param {Props} props
 */
function give(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "value") /** @type {HTMLInputElement} */ (element).value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  give(element, props);
  element.append(.../** @type {(Node | string)[]} */ (children.flat().filter(isShown).map(asNode)));
  return element;
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  give(element, props);
  element.append(.../** @type {(Node | string)[]} */ (children.flat().filter(isShown).map(asNode)));
  return element;
}

/** @param {Child} child */
const isShown = (child) => child !== null && child !== undefined && child !== false;
/** @param {Child} child */
const asNode = (child) => (child instanceof Node ? child : String(child));

/**
 * Replace the contents of an element.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren(.../** @type {(Node | string)[]} */ (children.flat().filter(isShown).map(asNode)));
}

/** Shapes of icons, in a square of 16. */
const SHAPES = {
  home: "M2.5 7.5 8 2.8l5.5 4.7v5.7h-4V9.5h-3v3.7h-4z",
  pod: "M8 1.8l5.4 3.1v6.2L8 14.2l-5.4-3.1V4.9zM2.6 4.9 8 8l5.4-3.1M8 8v6.2",
  deployment: "M8 2 14 5 8 8 2 5zM2 8l6 3 6-3M2 11l6 3 6-3",
  set: "M2.5 2.5h6v6h-6zM7.5 7.5h6v6h-6z",
  job: "M8 4.5V8l2.5 1.5M14 8A6 6 0 1 1 8 2a6 6 0 0 1 6 6z",
  service:
    "M8 5a2.2 2.2 0 1 0 0-.1zM3.5 14a1.6 1.6 0 1 0 0-.1zM12.500 14a1.600 1.600 0 1 0 0-.1zM8 7.200v2.300M4 11.800 8 9.500l4 2.300",
  config: "M3 4.500h10M3 8h10M3 11.500h6",
  secret: "M4 7.500h8v6H4zM5.500 7.500V5.300a2.500 2.500 0 0 1 5 0v2.200",
  disk: "M2.500 4.500C2.500 3 13.500 3 13.500 4.500v7c0 1.500-11 1.500-11 0zM2.500 4.500c0 1.500 11 1.500 11 0",
  node: "M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.1M5 11h.1",
  event: "M8 2v6M8 11.500v.1M8 15a7 7 0 1 1 0-14 7 7 0 0 1 0 14z",
  custom: "M6 3.500 2 8l4 4.500M10 3.500 14 8l-4 4.500",
  access:
    "M8 1.800 13.500 4v4c0 3.200-2.300 5.200-5.500 6.200C4.800 13.200 2.500 11.200 2.500 8V4zM5.700 8l1.700 1.700 3-3.200",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.600 10.600 14 14",
  menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  time: "M2 4h6M5 8h7M3 12h5M10 12h4",
  chart: "M2.500 13.500h11M4 11V8M7 11V4M10 11V6.500M13 11V3",
  out: "M6 2.500H3v11h3M9.500 5 13 8l-3.500 3M13 8H6",
};

/** @param {keyof typeof SHAPES} name */
export function icon(name) {
  return svg(
    "svg",
    {
      viewBox: "0 0 16 16",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.35,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
      "aria-hidden": "true",
    },
    svg("path", { d: SHAPES[name] }),
  );
}

const UNITS = /** @type {const} */ ([
  ["d", 86400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
]);

/**
 * The age since a time, as kubectl writes it.
 * @param {string | undefined} time
 */
export function age(time) {
  if (!time) return "";
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(time)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)}m${seconds % 60 ? `${seconds % 60}s` : ""}`;
  for (const [unit, size] of UNITS) {
    if (seconds >= size * (unit === "d" ? 2 : unit === "h" ? 3 : 1)) return `${Math.floor(seconds / size)}${unit}`;
  }
  return "0s";
}

const GOOD = new Set([
  "running",
  "ready",
  "active",
  "bound",
  "true",
  "complete",
  "completed",
  "succeeded",
  "available",
  "established",
  "approved",
  "issued",
  "normal",
  "healthy",
]);
const MIDDLING = new Set([
  "pending",
  "containercreating",
  "terminating",
  "notready",
  "unknown",
  "progressing",
  "released",
  "warning",
  "podinitializing",
  "suspended",
  "schedulingdisabled",
  "false",
]);
const BAD = /error|backoff|fail|evicted|oomkilled|invalid|lost|denied|crash|cannot/i;

/**
 * How a value of a status is coloured: ok, warn, bad, or empty.
 * @param {unknown} value
 */
export function tone(value) {
  const text = String(value ?? "")
    .split(",")[0]
    .trim();
  const ratio = /^(\d+)\/(\d+)$/.exec(text);
  if (ratio) return ratio[1] === ratio[2] ? "ok" : "warn";
  if (BAD.test(text)) return "bad";
  const word = text.toLowerCase();
  if (GOOD.has(word)) return "ok";
  return MIDDLING.has(word) || word.startsWith("init:") ? "warn" : "";
}

/**
 * A short message at the edge of the window, also read to screen readers.
 * @param {string} text
 */
export function toast(text) {
  document.querySelector(".toast")?.remove();
  const shown = h("div", { class: "toast", role: "status" }, text);
  document.body.append(shown);
  setTimeout(() => shown.remove(), 4000);
}

/** Whether the keyboard is in a field where letters are text. @param {EventTarget | null} target */
export function isTyping(target) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}
