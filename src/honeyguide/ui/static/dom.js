// Nodes without HTML strings: whatever a page on the web wrote stays text.

/** What comes before the portal's own paths: empty, or `/c/NAME` where it serves several collections. */
export const root = document.documentElement.dataset.root || "";

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; children may be strings, nodes or null. */
export function node(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined).map((child) =>
    child instanceof Node ? child : String(child)));
  return element;
}

/** Numbers as people read them. */
export const whole = (value) => Math.round(value).toLocaleString("en");
export const share = (value, digits = 1) => value === null ? "–" : `${(100 * value).toFixed(digits)} %`;
export const score = (value) => value === null || value === undefined ? "–" : value.toFixed(3);
