/** managers: who owns which field, from metadata.managedFields. */

/** @typedef {{name: string, operation: string, time: string, subresource: string, fields: any, colour: number}} Manager */
/** @typedef {import("./yaml.js").Step} Step */

export const COLOURS = 8;

/**
 * The entries of an object, each with a colour; a manager has one colour for all of its entries.
 * @param {any} object
 * @returns {Manager[]}
 */
export function managersOf(object) {
  /** @type {string[]} */
  const names = [];
  return (object.metadata?.managedFields ?? []).map((/** @type {any} */ one) => {
    if (!names.includes(one.manager)) names.push(one.manager);
    return {
      name: one.manager,
      operation: one.operation,
      time: one.time ?? "",
      subresource: one.subresource ?? "",
      fields: one.fieldsV1 ?? {},
      colour: names.indexOf(one.manager) % COLOURS,
    };
  });
}

/**
 * The fields of one entry below a step; undefined when it owns nothing there, true when it owns all that is below.
 * @param {any} fields
 * @param {Step} step
 * @param {any} value the value at the step
 */
function below(fields, step, value) {
  if (typeof step === "string") return fields[`f:${step}`];
  for (const [key, found] of Object.entries(fields)) {
    if (key.startsWith("k:") && isItem(JSON.parse(key.slice(2)), value)) return found;
    if (key.startsWith("v:") && JSON.stringify(JSON.parse(key.slice(2))) === JSON.stringify(value)) return found;
    if (key === `i:${step}`) return found;
  }
  return undefined;
}

/** @param {Record<string, any>} keys @param {any} value */
const isItem = (keys, value) => Object.entries(keys).every(([key, wanted]) => value?.[key] === wanted);

/**
 * The entries that own the field at a path.
 * @param {Manager[]} managers
 * @param {any} object
 * @param {Step[]} path
 */
export function ownersOf(managers, object, path) {
  return managers.filter((manager) => {
    let fields = manager.fields;
    let value = object;
    for (const step of path) {
      value = value?.[step];
      fields = below(fields, step, value);
      if (fields === undefined) return false;
      if (!Object.keys(fields).length) return true;
    }
    return "." in fields || !hasChildren(value);
  });
}

/** @param {any} value */
const hasChildren = (value) => value && typeof value === "object" && Object.keys(value).length > 0;

/**
 * The value of what one manager has applied: the part of the object that it owns.
 * @param {any} fields
 * @param {any} value
 * @returns {any}
 */
export function ownedPart(fields, value) {
  if (value === undefined || value === null || typeof value !== "object") return value;
  const keys = Object.keys(fields).filter((key) => key !== ".");
  if (!keys.length) return value;
  if (Array.isArray(value)) {
    return value
      .map((item, index) => ({ item, found: below(fields, index, item) }))
      .filter(({ found }) => found !== undefined)
      .map(({ item, found }) => withKeys(keys, item, ownedPart(found, item)));
  }
  return Object.fromEntries(
    keys
      .filter((key) => key.startsWith("f:") && value[key.slice(2)] !== undefined)
      .map((key) => [key.slice(2), ownedPart(fields[key], value[key.slice(2)])]),
  );
}

/**
 * @param {string[]} keys
 * @param {any} item
 * @param {any} part
 */
function withKeys(keys, item, part) {
  const names = Object.keys(JSON.parse(keys.find((key) => key.startsWith("k:"))?.slice(2) ?? "{}"));
  return item && typeof item === "object"
    ? { ...Object.fromEntries(names.map((name) => [name, item[name]])), ...part }
    : part;
}

/**
 * The keys of the items of a list, when some manager owns its items one by one; empty for a list that is owned whole.
 * @param {Manager[]} managers
 * @param {any} object
 * @param {Step[]} path
 * @returns {string[]}
 */
export function keysOfList(managers, object, path) {
  for (const manager of managers) {
    let fields = manager.fields;
    let value = object;
    for (const step of path) {
      value = value?.[step];
      fields = fields && below(fields, step, value);
    }
    const key = Object.keys(fields ?? {}).find((one) => one.startsWith("k:"));
    if (key) return Object.keys(JSON.parse(key.slice(2)));
  }
  return [];
}
