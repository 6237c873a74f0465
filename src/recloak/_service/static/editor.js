// The draft: a plain text field, and behind it the same text with its titles marked.
//
// The field stays a real textarea, so that spelling, dictation, screen readers and phones work as everywhere. Both
// layers grow with the text inside one scrolling box; they can never come apart by scrolling.

import { byId, make } from "./dom.js";
import { pieces } from "./text.js";

const GIVES = {
  most: "gives most away",
  much: "gives much away",
  little: "gives a little away",
  nothing: "gives nothing away",
};

/** Say what a find gives away. */
export function givenBy(find) {
  return find.counted ? GIVES[find.gives] : "not counted yet: is it meant?";
}

/** Mark the finds, and what the last suggestion changed, behind the text. */
export function paint(text, finds, changed = []) {
  const marks = [...finds.filter((find) => find.item !== null), ...changed];
  const inner = pieces(text, marks).map((piece) => (piece.mark ? marked(piece) : piece.text));
  // A last line break needs something after it to take up room.
  byId("backdrop").replaceChildren(...inner, "\u200b");
}

function marked({ text, mark }) {
  const kind = mark.gives === undefined ? "changed" : mark.counted ? mark.gives : "possible";
  return make("mark", { class: kind, "data-start": mark.start }, text);
}

/** Tell which find the caret is in, or null. */
export function findAtCaret(finds) {
  const field = byId("draft");
  if (document.activeElement !== field) return null;
  const caret = field.selectionStart;
  return finds.find((find) => find.item !== null && find.start <= caret && caret <= find.end) ?? null;
}

/** Give the find whose mark lies under the pointer, or null. */
export function findAtPoint(finds, x, y) {
  for (const mark of byId("backdrop").querySelectorAll("mark[data-start]")) {
    for (const box of mark.getClientRects()) {
      if (box.left <= x && x <= box.right && box.top <= y && y <= box.bottom) {
        return finds.find((find) => find.start === Number(mark.dataset.start)) ?? null;
      }
    }
  }
  return null;
}

/** Point the marks of an item out. */
export function point(finds, item) {
  for (const mark of byId("backdrop").querySelectorAll("mark[data-start]")) {
    const find = finds.find((one) => one.start === Number(mark.dataset.start));
    mark.classList.toggle("pointed", item !== null && find?.item === item);
  }
}
