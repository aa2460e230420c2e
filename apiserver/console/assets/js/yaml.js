/** yaml: an object as lines of YAML with the path of each line, and colours for YAML that a user types. */

/** @typedef {{kind: "key" | "string" | "number" | "null" | "comment" | "plain" | "mark", text: string}} Token */
/** @typedef {string | number} Step */
/** @typedef {{depth: number, tokens: Token[], path: Step[]}} Line */

const PLAIN = /^[A-Za-z_./][A-Za-z0-9_./@ ():+-]*$/;
const WORDS = new Set(["true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"]);
const FIRST = [
  "apiVersion",
  "kind",
  "metadata",
  "spec",
  "data",
  "stringData",
  "rules",
  "roleRef",
  "subjects",
  "status",
];
const FIRST_OF_METADATA = ["name", "namespace", "labels", "annotations"];

/** @param {string} text */
function isPlain(text) {
  return PLAIN.test(text) && !WORDS.has(text.toLowerCase()) && !/\s$|: |:$| #/.test(text) && !/^[.\d]/.test(text);
}

/** @param {any} value @returns {Token} */
function scalar(value) {
  if (value === null || value === undefined) return { kind: "null", text: "null" };
  if (typeof value === "number" || typeof value === "boolean") return { kind: "number", text: String(value) };
  return { kind: "string", text: isPlain(value) ? value : JSON.stringify(value) };
}

/** The lines that a page shows of an object: a browser is slow with more. */
export const MOST_LINES = 5000;

/**
 * The lines of an object.
 * @param {any} object
 * @returns {Line[]}
 */
export function linesOf(object) {
  /** @type {Line[]} */
  const lines = [];
  writeMap(lines, object, 0, [], []);
  return lines;
}

/** What stands below the first lines of a long object. @param {Line[]} lines */
export const moreLines = (lines) =>
  lines.length > MOST_LINES ? `and ${lines.length - MOST_LINES} more lines, which kubectl get -o yaml shows` : "";

/** @param {any} object */
export const textOf = (object) =>
  linesOf(object)
    .map((line) => " ".repeat(line.depth) + line.tokens.map((token) => token.text).join(""))
    .join("\n") + "\n";

/**
 * The fields in the order in which people read them.
 * @param {Record<string, any>} map
 * @param {Step[]} path
 */
function fieldsOf(map, path) {
  const order = path.length === 0 ? FIRST : path.length === 1 && path[0] === "metadata" ? FIRST_OF_METADATA : [];
  const rank = (/** @type {string} */ key) => (order.includes(key) ? order.indexOf(key) : key === "status" ? 99 : 50);
  return order.length ? Object.entries(map).sort(([a], [b]) => rank(a) - rank(b)) : Object.entries(map);
}

/**
 * @param {Line[]} lines
 * @param {Record<string, any>} map
 * @param {number} depth
 * @param {Step[]} path
 * @param {Token[]} before tokens at the beginning of the first line: the mark of a list
 */
function writeMap(lines, map, depth, path, before) {
  fieldsOf(map, path).forEach(([key, value], index) => {
    /** @type {Token[]} */
    const tokens = [
      ...(index === 0 ? before : []),
      { kind: "key", text: isPlain(key) ? key : JSON.stringify(key) },
      { kind: "mark", text: ":" },
    ];
    const column = index === 0 && before.length ? depth - 2 : depth;
    writeValue(lines, value, column, depth, [...path, key], tokens);
  });
}

/**
 * @param {Line[]} lines
 * @param {any} value
 * @param {number} column where the line begins
 * @param {number} depth the depth of the key
 * @param {Step[]} path
 * @param {Token[]} tokens
 */
function writeValue(lines, value, column, depth, path, tokens) {
  const line = { depth: column, tokens, path };
  lines.push(line);
  if (Array.isArray(value)) {
    if (!value.length) tokens.push({ kind: "plain", text: " []" });
    else writeList(lines, value, depth, path);
  } else if (value && typeof value === "object") {
    if (!Object.keys(value).length) tokens.push({ kind: "plain", text: " {}" });
    else writeMap(lines, value, depth + 2, path, []);
  } else if (
    typeof value === "string" &&
    value.includes("\n") &&
    !/[^\n\t\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]|^\s|\s\n/.test(value)
  ) {
    tokens.push({ kind: "mark", text: value.endsWith("\n") ? (value.endsWith("\n\n") ? " |+" : " |") : " |-" });
    for (const part of value.replace(/\n$/, "").split("\n"))
      lines.push({ depth: part ? depth + 2 : 0, tokens: [{ kind: "string", text: part }], path });
  } else {
    tokens.push({ kind: "plain", text: " " }, scalar(value));
  }
}

/**
 * @param {Line[]} lines
 * @param {any[]} list
 * @param {number} depth
 * @param {Step[]} path
 */
function writeList(lines, list, depth, path) {
  list.forEach((item, index) => {
    /** @type {Token} */
    const dash = { kind: "mark", text: "- " };
    const here = [...path, index];
    if (item && typeof item === "object" && !Array.isArray(item) && Object.keys(item).length)
      writeMap(lines, item, depth + 2, here, [dash]);
    else if (Array.isArray(item) || (item && typeof item === "object"))
      lines.push({ depth, tokens: [dash, { kind: "plain", text: JSON.stringify(item) }], path: here });
    else lines.push({ depth, tokens: [dash, scalar(item)], path: here });
  });
}

/**
 * The tokens of one line of YAML that a user has typed.
 * @param {string} line
 * @returns {Token[]}
 */
export function tokensOf(line) {
  const comment = /(^|\s)#.*$/.exec(line);
  const code = comment ? line.slice(0, comment.index) : line;
  /** @type {Token[]} */
  const tokens = [];
  const parts = /^(\s*(?:- )*)(?:([^\s:#"'][^:#]*|"[^"]*"|'[^']*')(:)(?=\s|$))?(.*)$/.exec(code);
  if (!parts) return [{ kind: "plain", text: line }];
  const [, lead, key, colon, value] = parts;
  if (lead) tokens.push({ kind: "mark", text: lead });
  if (key) tokens.push({ kind: "key", text: key }, { kind: "mark", text: colon });
  if (value) tokens.push({ kind: kindOfValue(value.trim()), text: value });
  if (comment) tokens.push({ kind: "comment", text: line.slice(comment.index) });
  return tokens;
}

/** @param {string} text @returns {Token["kind"]} */
function kindOfValue(text) {
  if (/^-?\d+(\.\d+)?$|^(true|false)$/.test(text)) return "number";
  if (text === "null" || text === "~") return "null";
  return /^[|>][+-]?$|^[[{]/.test(text) ? "mark" : "string";
}

/**
 * The path of each line of YAML that a user has typed, by indentation.
 * @param {string} text
 * @returns {Step[][]}
 */
export function pathsOf(text) {
  /** @type {{depth: number, step: Step}[]} */
  const stack = [];
  return text.split("\n").map((line) => {
    const found = /^(\s*)((?:- )*|-$)(?:([^\s:#"'][^:#]*|"[^"]*"|'[^']*'):(?=\s|$))?/.exec(line);
    if (!found || !line.trim()) return stack.map((one) => one.step);
    let depth = found[1].length;
    const dashes = (found[2].match(/-/g) ?? []).length;
    for (let dash = 0; dash < dashes; dash += 1) {
      let index = 0;
      while (stack.length && stack[stack.length - 1].depth >= depth) {
        const last = /** @type {{depth: number, step: Step}} */ (stack[stack.length - 1]);
        if (last.depth === depth && typeof last.step === "string") break;
        stack.pop();
        if (last.depth === depth && typeof last.step === "number") {
          index = last.step + 1;
          break;
        }
      }
      stack.push({ depth, step: index });
      depth += 2;
    }
    if (found[3]) {
      while (
        stack.length &&
        stack[stack.length - 1].depth >= depth &&
        !(typeof stack[stack.length - 1].step === "number" && stack[stack.length - 1].depth < depth)
      )
        stack.pop();
      stack.push({ depth, step: found[3].replace(/^["']|["']$/g, "") });
    }
    return stack.map((one) => one.step);
  });
}

/**
 * The steps of a field in a message of the server: spec.containers[0].image, metadata.labels[app], spec.x[name="y"].z
 * @param {string} field
 * @param {any} object
 * @returns {Step[]}
 */
export function stepsOf(field, object) {
  /** @type {Step[]} */
  const steps = [];
  let here = object;
  for (const [, inner, quoted, word] of field
    .replace(/^\./, "")
    .matchAll(/\[([^\]"]*(?:"(?:[^"\\]|\\.)*"[^\]"]*)*)\]|"([^"]*)"|([^.[\]]+)/g)) {
    /** @type {Step} */
    let step = quoted ?? word ?? inner;
    if (inner !== undefined && Array.isArray(here)) step = placeIn(here, inner);
    else if (inner !== undefined) step = inner.replace(/^"|"$/g, "");
    steps.push(step);
    here = here?.[step];
  }
  return steps;
}

/**
 * The index of the item that `0`, `name="web"` or `containerPort=80,protocol="TCP"` names.
 * @param {any[]} list
 * @param {string} inner
 */
function placeIn(list, inner) {
  if (/^\d+$/.test(inner)) return Number(inner);
  const wanted = inner.split(",").map((part) => part.split("="));
  return Math.max(
    0,
    list.findIndex((item) =>
      wanted.every(([key, value]) => value !== undefined && String(item?.[key]) === value.replace(/^"|"$/g, "")),
    ),
  );
}
