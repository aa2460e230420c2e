export function load(text: string): unknown;
