/** managed_yaml: an object as YAML, with the managers of each field as colours in the margin. */
import { age, h } from "../dom.js";
import { managersOf, ownersOf } from "../managers.js";
import { MOST_LINES, linesOf, moreLines } from "../yaml.js";

/** @typedef {import("../managers.js").Manager} Manager */

/**
 * The legend and the lines. showsManagers: whether metadata.managedFields is shown, too.
 * @param {any} object
 * @param {{showsManagers: boolean, toggle: () => void}} options
 */
export function managedYaml(object, { showsManagers, toggle }) {
  const managers = managersOf(object);
  const { managedFields: _, ...metadata } = object.metadata;
  const lines = linesOf(showsManagers ? object : { ...object, metadata });
  const code = h(
    "div",
    { class: "code", role: "group", "aria-label": "YAML", tabindex: "0" },
    lines.slice(0, MOST_LINES).map((line) => codeLine(line, ownersOf(managers, object, line.path))),
  );
  const more = moreLines(lines);
  const names = [...new Map(managers.map((one) => [one.name, one])).values()];
  const legend = h(
    "div",
    { class: "legend", role: "group", "aria-label": "Field managers" },
    names.map((one) => managerButton(one, code)),
    h(
      "button",
      { class: "button ghost", type: "button", "aria-pressed": String(showsManagers), onclick: toggle },
      "managedFields",
    ),
  );
  return more ? [legend, code, h("p", { class: "quiet" }, more)] : [legend, code];
}

/** @param {ReturnType<typeof linesOf>[number]} line @param {Manager[]} owners */
function codeLine(line, owners) {
  const about = owners.map(ownerWords).join("\n");
  return h(
    "div",
    { class: "line", "data-owners": owners.map((one) => one.colour).join(" ") || undefined },
    h(
      "span",
      { class: "margin", title: about, role: about ? "img" : undefined, "aria-label": about || undefined },
      [...new Set(owners.map((one) => one.colour))].map((colour) => h("i", { class: `m${colour}` })),
    ),
    h(
      "span",
      { class: "text" },
      " ".repeat(line.depth),
      line.tokens.map((token) => h("span", { class: token.kind }, token.text)),
    ),
  );
}

/** @param {Manager} one */
const ownerWords = (one) =>
  `${one.name} (${one.operation}${one.subresource ? ` of ${one.subresource}` : ""}, ${age(one.time)} ago)`;

/** A button that shows the fields of one manager, the others paler. @param {Manager} one @param {HTMLElement} code */
function managerButton(one, code) {
  const button = h(
    "button",
    { class: `manager m${one.colour}`, type: "button", "aria-pressed": "false" },
    h("i", {}),
    one.name,
  );
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") !== "true";
    for (const other of button.parentElement?.querySelectorAll(".manager") ?? [])
      other.setAttribute("aria-pressed", String(other === button && isOn));
    code.classList.toggle("picked", isOn);
    for (const line of code.children) {
      const { owners } = /** @type {HTMLElement} */ (line).dataset;
      line.classList.toggle("on", isOn && (owners ?? "").split(" ").includes(String(one.colour)));
    }
  });
  return button;
}
