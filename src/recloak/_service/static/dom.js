// Elements are made here and nowhere else; text only ever becomes text, never markup.

/** Give the element with an id. */
export const byId = (id) => document.getElementById(id);

/** Make an element with attributes (on* are listeners) and children (elements or texts). */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  dress(made, attributes);
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** Make an SVG element. */
export function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  dress(made, attributes);
  made.append(...children);
  return made;
}

function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
}

/** Keep a text that runs from right to left from turning the sentence around it. */
export const isolated = (text) => (/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text);

/** Show or hide an element. */
export function show(element, visible) {
  element.hidden = !visible;
}

/** Set a text only where it changed, so that a screen reader does not repeat itself. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
