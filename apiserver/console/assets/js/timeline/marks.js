/** marks: the shapes of a timeline's entries, as paths on a canvas. */

/** @typedef {(pen: CanvasRenderingContext2D, x: number, y: number, size: number) => void} Mark */

/** @type {Mark} */
export function diamond(pen, x, y, size) {
  pen.moveTo(x, y - size);
  pen.lineTo(x + size, y);
  pen.lineTo(x, y + size);
  pen.lineTo(x - size, y);
  pen.closePath();
}

/** @type {Mark} */
export function square(pen, x, y, size) {
  pen.rect(x - size, y - size, 2 * size, 2 * size);
}

/** @type {Mark} */
export function triangle(pen, x, y, size) {
  pen.moveTo(x, y - size);
  pen.lineTo(x + size, y + size * 0.8);
  pen.lineTo(x - size, y + size * 0.8);
  pen.closePath();
}

/** @type {Mark} */
export function cross(pen, x, y, size) {
  pen.moveTo(x - size, y - size);
  pen.lineTo(x + size, y + size);
  pen.moveTo(x + size, y - size);
  pen.lineTo(x - size, y + size);
}

/** @type {Mark} */
export function star(pen, x, y, size) {
  for (let point = 0; point < 10; point += 1) {
    const [angle, radius] = [(point * Math.PI) / 5 - Math.PI / 2, point % 2 ? size / 2.2 : size];
    pen.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  }
  pen.closePath();
}
