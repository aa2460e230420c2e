/** managers: who owns which field, from metadata.managedFields. */

/** @typedef {{name: string, operation: string, time: string, subresource: string, fields: any, colour: number}} Manager */
/** @typedef {import("./yaml.js").Step} Step */

export const COLOURS = 8;
const MOST = 200;

/**
 * The first entries of an object, each with a colour; a manager has one colour for all of its entries.
 * @param {any} object
 * @returns {Manager[]}
 */
export function managersOf(object) {
  /** @type {string[]} */
  const names = [];
  return (object.metadata?.managedFields ?? []).slice(0, MOST).map((/** @type {any} */ one) => {
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
 * The fields of one entry below a step; undefined when it owns nothing there.
 * @param {any} fields
 * @param {Step} step
 * @param {any} value the value at the step
 */
export function below(fields, step, value) {
  if (typeof step === "string") return fields[`f:${step}`];
  const { byKeys, byValue } = itemsOf(fields);
  for (const [names, found] of byKeys) {
    const part = found.get(identity(names, value));
    if (part !== undefined) return part;
  }
  return byValue.get(JSON.stringify(value)) ?? fields[`i:${step}`];
}

/** @typedef {{byKeys: Map<string, Map<string, any>>, byValue: Map<string, any>}} Items */
/** The items of the lists of an entry: each list is read once, not once for each line. @type {WeakMap<object, Items>} */
const known = new WeakMap();

/** The items in the fields of a list: by the names of their keys and the values of these, or by value. @param {any} fields @returns {Items} */
function itemsOf(fields) {
  const found = known.get(fields);
  if (found) return found;
  /** @type {Items} */
  const items = { byKeys: new Map(), byValue: new Map() };
  for (const [key, part] of Object.entries(fields)) {
    if (key.startsWith("v:")) items.byValue.set(JSON.stringify(JSON.parse(key.slice(2))), part);
    if (!key.startsWith("k:")) continue;
    const keys = JSON.parse(key.slice(2));
    const names = JSON.stringify(Object.keys(keys));
    if (!items.byKeys.has(names)) items.byKeys.set(names, new Map());
    items.byKeys.get(names)?.set(identity(names, keys), part);
  }
  known.set(fields, items);
  return items;
}

/** The values of some keys as a text. @param {string} names the keys as JSON @param {any} value */
const identity = (names, value) => JSON.stringify(JSON.parse(names).map((/** @type {string} */ key) => value?.[key]));

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
      if (isEmpty(fields)) return true;
    }
    return "." in fields || !value || typeof value !== "object" || isEmpty(value);
  });
}

/** Whether maps and lists have no members: a browser reads the names of all members to tell. @type {WeakMap<object, boolean>} */
const emptiness = new WeakMap();

/** @param {object} value */
function isEmpty(value) {
  const found = emptiness.get(value) ?? !Object.keys(value).length;
  emptiness.set(value, found);
  return found;
}

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
