/** editor: edits an object as YAML and applies the changed fields, with the server's messages at the fields. */
import { fill, h, toast } from "./dom.js";
import { ApiError, get, pathOf, query } from "./api.js";
import { MANAGER, configurationOf, editable } from "./edits.js";
import { MOST_LINES, pathsOf, stepsOf, textOf, tokensOf } from "./yaml.js";
import * as yaml from "../vendor/js-yaml.mjs";

/** @typedef {{line: number, text: string, isConflict: boolean}} Message */

export class Editor {
  /**
   * @param {import("./api.js").Kind} kind
   * @param {string} namespace
   * @param {any} object
   * @param {() => void} onApplied
   */
  constructor(kind, namespace, object, onApplied) {
    this.kind = kind;
    this.namespace = namespace;
    this.object = object;
    this.onApplied = onApplied;
    /** @type {Message[]} */
    this.messages = [];
    this.text = textOf(editable(object));
    this.area = h("textarea", {
      class: "area",
      "aria-label": "The object as YAML",
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      wrap: "off",
      value: this.text,
      oninput: () => this.typed(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
    });
    this.paint = h("pre", { class: "paint", "aria-hidden": "true" });
    this.force = h(
      "button",
      { class: "button danger hidden", type: "button", onclick: () => this.apply({ force: true }) },
      "Take these fields over",
    );
    this.said = h("div", { class: "said", role: "status" });
    this.element = h(
      "div",
      { class: "editor" },
      h(
        "div",
        { class: "legend" },
        h(
          "span",
          { class: "quiet grow" },
          "Fields that you change are applied, as the manager ",
          h("code", {}, MANAGER),
          ".",
        ),
        h("button", { class: "button", type: "button", onclick: () => this.reset() }, "Reset"),
        h("button", { class: "button", type: "button", onclick: () => this.apply({ dryRun: "All" }) }, "Check"),
        h("button", { class: "button main", type: "button", onclick: () => this.apply({}) }, "Apply"),
      ),
      this.said,
      this.force,
      h("div", { class: "sheet" }, this.paint, this.area),
    );
    this.draw();
  }

  /** The object has changed on the server. @param {any} object */
  noticed(object) {
    const isUntouched = this.area.value === this.text;
    this.object = object;
    if (isUntouched) this.reset();
  }

  reset() {
    this.text = textOf(editable(this.object));
    this.area.value = this.text;
    this.messages = [];
    this.tell("", "");
    this.draw();
  }

  typed() {
    this.messages = [];
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.apply({});
    }
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      const before = this.area.value.slice(0, this.area.selectionStart);
      const indent = /^[ ]*/.exec(before.slice(before.lastIndexOf("\n") + 1))?.[0] ?? "";
      event.preventDefault();
      this.area.setRangeText(`\n${indent}`, this.area.selectionStart, this.area.selectionEnd, "end");
      this.typed();
    }
  }

  draw() {
    const lines = this.area.value.split("\n");
    const width = String(lines.length).length;
    const isLong = lines.length > MOST_LINES;
    this.element.classList.toggle("plain", isLong);
    fill(
      this.paint,
      lines.slice(0, isLong ? 0 : MOST_LINES).flatMap((line, index) => {
        const found = this.messages.filter((one) => one.line === index);
        return [
          h(
            "div",
            { class: `line ${found.length ? "wrong" : ""}` },
            h("span", { class: "number" }, String(index + 1).padStart(width)),
            h(
              "span",
              { class: "text" },
              tokensOf(line).map((token) => h("span", { class: token.kind }, token.text)),
              line ? "" : " ",
              found.length ? h("span", { class: "message" }, `← ${found.map((one) => one.text).join("; ")}`) : null,
            ),
          ),
        ];
      }),
    );
    this.area.rows = isLong ? 1 : lines.length + 1;
    this.area.style.setProperty("--gutter", `${width + 2}ch`);
    this.paint.style.setProperty("--gutter", `${width + 2}ch`);
  }

  /**
   * @param {string} text
   * @param {string} tone
   */
  tell(text, tone) {
    this.said.className = text ? `said note ${tone}` : "said";
    fill(this.said, text);
    this.force.classList.add("hidden");
  }

  read() {
    try {
      const edited = yaml.load(this.area.value);
      if (!edited || typeof edited !== "object") throw new Error("this is no object");
      return /** @type {any} */ (edited);
    } catch (error) {
      const { mark, reason, message } = /** @type {any} */ (error);
      this.messages = mark ? [{ line: mark.line, text: reason, isConflict: false }] : [];
      this.draw();
      this.tell(reason ? `Line ${mark.line + 1}: ${reason}` : message, "bad");
      return undefined;
    }
  }

  /** @param {{dryRun?: string, force?: boolean}} options */
  async apply(options) {
    const edited = this.read();
    if (!edited) return;
    const { configuration, kept } = configurationOf(this.object, edited);
    const path =
      pathOf(this.kind, this.namespace, this.object.metadata.name) +
      query({ fieldManager: MANAGER, fieldValidation: "Strict", ...options });
    try {
      const applied = await get(path, {
        method: "PATCH",
        text: JSON.stringify(configuration),
        type: "application/apply-patch+yaml",
      });
      this.messages = [];
      const rest = kept.length ? ` Not removed, because another manager owns it: ${kept.join(", ")}.` : "";
      if (options.dryRun) this.tell(`The server accepts this.${rest}`, kept.length ? "warn" : "ok");
      else {
        this.object = applied;
        this.reset();
        this.tell(`Applied.${rest}`, kept.length ? "warn" : "ok");
        toast("Applied");
        if (!kept.length) this.onApplied();
      }
    } catch (error) {
      this.refused(/** @type {Error} */ (error), edited);
    }
    this.draw();
  }

  /**
   * @param {Error} error
   * @param {any} edited
   */
  refused(error, edited) {
    const causes = error instanceof ApiError ? (error.status?.details?.causes ?? []) : [];
    const paths = pathsOf(this.area.value);
    this.messages = causes
      .filter((/** @type {any} */ one) => one.field)
      .map((/** @type {any} */ one) => ({
        line: lineOf(paths, stepsOf(one.field, edited)),
        text: one.message,
        isConflict: one.reason === "FieldManagerConflict",
      }));
    this.tell(error.message, "bad");
    this.force.classList.toggle("hidden", !this.messages.some((one) => one.isConflict));
  }
}

/**
 * The line of a field, or of the nearest field around it.
 * @param {import("./yaml.js").Step[][]} paths
 * @param {import("./yaml.js").Step[]} steps
 */
function lineOf(paths, steps) {
  for (let length = steps.length; length > 0; length -= 1) {
    const wanted = steps.slice(0, length).join("\n");
    const line = paths.findIndex((path) => path.join("\n") === wanted);
    if (line >= 0) return line;
  }
  return 0;
}
