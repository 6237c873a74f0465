// The advisor page: what the writer does on one side, what the service says on the other.

import { asker } from "./asking.js";
import { byId, say, show } from "./dom.js";
import { findAtCaret, findAtPoint, givenBy, paint, point } from "./editor.js";
import { showExposure } from "./exposure.js";
import * as key from "./key.js";
import { inWords, listEarlier, listFinds, listHelp, listWays, titleOf } from "./lists.js";
import * as meter from "./meter.js";
import { difference, edited, leaveOut, mention, shift, takenBack } from "./text.js";

const draft = byId("draft");
const state = {
  text: "",
  finds: [], // of the last answer, moved along with the text since
  choices: [], // corrections: {start, end, text, item, find}
  earlier: [], // said in public before: {item, title}
  gaps: [], // where the last suggestion left something out
  undo: [], // {edit, choices}
  advice: null,
  popular: [], // titles for the example
};

const asking = asker({ question, answer, problem, waiting: meter.wait });

function question() {
  const choices = state.choices.map(({ start, item }) => ({ start, item }));
  const earlier = state.earlier.map(({ item }) => item);
  const voiced = byId("voiced").checked;
  return { question: { text: state.text, choices, earlier, voiced }, text: state.text };
}

function answer(advice, text) {
  state.advice = advice;
  state.finds = withRefused(advice.finds).map((find) => ({ ...find, chosen: isChosen(find) }));
  const since = difference(text, state.text);
  if (since) state.finds = shift(state.finds, since);
  if (text.trim() === "") state.popular = advice.adds.map((change) => change.add[0]);
  show(byId("problem"), false);
  meter.fade(false);
  admit();
  meter.tell(advice, text.trim() === "");
  render();
}

const isChosen = (find) => state.choices.some(({ start }) => start === find.start);

/** Keep showing what the writer called no title, so that it can be taken back. */
function withRefused(finds) {
  const told = new Set(finds.map(({ start }) => start));
  const refused = state.choices.filter(({ start, item }) => item === null && !told.has(start));
  const added = refused.map(({ start, end, find }) => ({ ...find, start, end, item: null, counted: false }));
  return [...finds, ...added].sort((a, b) => a.start - b.start);
}

function render() {
  paint(state.text, state.finds, state.gaps);
  show(byId("empty"), state.text === "");
  byId("clear").disabled = byId("posted").disabled = state.text.trim() === "";
  if (!state.advice) return;
  const on = { take, choose, unsay };
  listFinds(state.finds, state.advice, on);
  show(byId("help"), state.text.trim() !== "");
  listHelp(state.advice, on);
  listWays(state.advice, (view) => meter.look(view, state.advice));
  listEarlier(state.earlier, on);
}

// ---- writing

draft.addEventListener("input", () => {
  change(draft.value);
  if (state.undo.length === 0) note("");
  asking.soon();
});

/** Take a new text over, and move everything that has a place in it along. */
function change(text) {
  const edit = difference(state.text, text);
  if (!edit) return;
  state.text = text;
  state.finds = shift(state.finds, edit);
  state.choices = shift(state.choices, edit);
  state.gaps = shift(state.gaps, edit);
  state.undo = state.undo.flatMap((entry) => shift([entry.edit], edit).map((moved) => ({ ...entry, edit: moved })));
  render();
}

function rewrite(text) {
  draft.value = text;
  change(text);
}

draft.addEventListener("mousemove", (event) => {
  const find = findAtPoint(state.finds, event.clientX, event.clientY);
  draft.title = find ? `${titleOf(find)}: ${givenBy(find)}` : "";
});

document.addEventListener("selectionchange", () => {
  const item = findAtCaret(state.finds)?.item ?? null;
  for (const row of byId("finds-list").children) {
    row.classList.toggle("current", item !== null && row.dataset.item === String(item));
  }
});

for (const kind of ["mouseover", "focusin", "mouseout", "focusout"]) {
  byId("finds-list").addEventListener(kind, (event) => {
    const row = kind.endsWith("over") || kind.endsWith("in") ? event.target.closest("[data-item]") : null;
    const item = row && state.finds.find((find) => String(find.item) === row.dataset.item)?.item;
    point(state.finds, item ?? null);
  });
}

// ---- taking advice

function take(suggestion) {
  const before = state.text;
  const choices = state.choices;
  const left = new Set(suggestion.drop.map(({ item }) => item));
  const named = state.finds.filter((find) => find.item !== null);
  state.gaps = [];
  for (const edit of leaveOut(before, named, (find) => left.has(find.item))) {
    rewrite(edited(state.text, edit));
    if (edit.text === "…") state.gaps.push({ start: edit.start, end: edit.start + 1 });
  }
  for (const one of suggestion.series) rename(one);
  if (suggestion.add.length > 0) add(suggestion.add);
  if (suggestion.no_opinions) byId("voiced").checked = false;
  if (state.text !== before) state.undo.push({ edit: takenBack(before, state.text), choices });
  note(`${inWords(suggestion, true)}.`);
  (state.undo.length > 0 ? byId("undo") : draft).focus();
  render();
  asking.ask();
}

/** Write the name of a series where a title of it stands. */
function rename(one) {
  for (const find of state.finds.filter(({ item }) => item === one.item).toReversed()) {
    rewrite(edited(state.text, { start: find.start, end: find.end, text: one.series }));
  }
}

function add(items) {
  const { edit, spans } = mention(state.text, items.map(titleOf));
  rewrite(edited(state.text, edit));
  const chosen = spans.map((span, n) => ({ ...span, item: items[n].item, text: titleOf(items[n]), find: null }));
  state.choices = [...state.choices, ...chosen];
}

function takeBack() {
  const entry = state.undo.pop();
  if (!entry) return;
  rewrite(edited(state.text, entry.edit));
  const again = entry.choices.filter(({ start, end, text }) => state.text.slice(start, end) === text);
  state.choices = [...again, ...state.choices.filter(({ start }) => !again.some((one) => one.start === start))];
  note(state.undo.length > 0 ? "Taken back. There is one more step to take back." : "");
  if (state.undo.length === 0) draft.focus();
  render();
  asking.ask();
}

byId("undo").addEventListener("click", takeBack);
draft.addEventListener("keydown", (event) => {
  const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
  if (!isUndo || state.undo.length === 0) return;
  event.preventDefault();
  takeBack();
});

/** Correct what a find means; null: it is no title. */
function choose(group, item) {
  const starts = new Set(group.map(({ start }) => start));
  const kept = state.choices.filter(({ start }) => !starts.has(start));
  const made = group.map((find) => ({ start: find.start, end: find.end, text: find.text, item, find: origin(find) }));
  state.choices = [...kept, ...made];
  asking.ask();
}

const origin = (find) => state.choices.find(({ start, find: first }) => start === find.start && first)?.find ?? find;

// ---- what was said before

byId("posted").addEventListener("click", () => {
  const known = new Set(state.earlier.map(({ item }) => item));
  const said = state.finds.filter((find) => find.counted && !known.has(find.item));
  const fresh = [...new Map(said.map((find) => [find.item, { item: find.item, title: find.title }])).values()];
  state.earlier = [...state.earlier, ...fresh];
  start("Noted. The next draft is weighed together with it.");
});

byId("voiced").addEventListener("change", () => asking.ask());
byId("exposure-ask").addEventListener("click", showExposure);

byId("clear").addEventListener("click", () => start(""));

function start(words) {
  rewrite("");
  state.undo = [];
  note(words);
  draft.focus();
  asking.ask();
}

function unsay(one) {
  state.earlier = state.earlier.filter(({ item }) => item !== one.item);
  draft.focus();
  asking.ask();
}

byId("example").addEventListener("click", () => {
  const [a, b, c] = state.popular.map(titleOf);
  rewrite(c ? `I keep coming back to ${a}. If you liked ${b}, you will like it too. Not so sure about ${c}, though!` : "");
  draft.focus();
  asking.ask();
});

// ---- messages and the key

function note(words) {
  say(byId("note-words"), words);
  show(byId("undo"), state.undo.length > 0);
  show(byId("note"), words !== "");
}

function problem(found) {
  if (found.kind === "key") return askForKey(found.message);
  admit();
  meter.fade(true);
  const again = found.wait === null ? "" : ` The next try is in ${found.wait} ${found.wait === 1 ? "second" : "seconds"}.`;
  say(byId("problem-words"), found.message + again);
  show(byId("problem-again"), found.kind === "offline");
  show(byId("problem"), true);
}

byId("problem-again").addEventListener("click", asking.ask);
window.addEventListener("online", () => byId("problem").hidden || asking.ask());

function askForKey(words) {
  key.forget();
  asking.stop();
  say(byId("key-problem"), words);
  show(byId("key-problem"), words !== "");
  byId("key-field").toggleAttribute("aria-invalid", words !== "");
  show(byId("key-card"), true);
  show(byId("key-forget"), false);
  show(byId("work"), state.text !== ""); // a draft under way is never taken from sight
  byId("key-field").focus();
}

function admit() {
  const comesFromKey = byId("key-card").contains(document.activeElement);
  show(byId("key-card"), false);
  show(byId("key-forget"), true);
  show(byId("work"), true);
  if (comesFromKey) draft.focus();
}

byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = byId("key-field");
  if (!field.value.trim()) return askForKey("Please paste your key first.");
  key.keep(field.value);
  field.value = "";
  asking.ask();
});

byId("key-forget").addEventListener("click", () => {
  Object.assign(state, { finds: [], choices: [], earlier: [], gaps: [], undo: [], advice: null, popular: [], text: "" });
  draft.value = "";
  note("");
  askForKey("");
});

key.takeFromAddress();
meter.prepare();
render();
if (key.current()) asking.ask();
else askForKey("");
