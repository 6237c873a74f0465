// The page of related titles: search, an item's published list, and how it changed.

import { Problem, ask } from "./client.js";
import { byId, make, say, show } from "./dom.js";

const ROOT = "/items/";
const PAUSE = 250; // milliseconds without a keystroke
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeZone: "UTC" });
const SIGNS = { appeared: "+", vanished: "−", rose: "↑", sank: "↓" };

const titleOf = (named) => named.title ?? String(named.item);
const linkTo = (named) => make("a", { href: ROOT + encodeURIComponent(named.item), dir: "auto" }, titleOf(named));
const dayOf = (time) => DAY.format(new Date(time * 1000));

// ---- search

let latest = 0;
let timer = null;

async function search() {
  const words = byId("search-field").value.trim();
  const mine = (latest += 1);
  if (words === "") return found([], "");
  try {
    const { items } = await ask(`/api/v1/items?${new URLSearchParams({ q: words })}`);
    if (mine === latest) found(items, items.length === 0 ? "No title with these words." : "");
  } catch (problem) {
    if (mine === latest) found([], told(problem));
  }
}

function found(items, words) {
  say(byId("search-told"), words || (items.length > 0 ? `${items.length} ${items.length === 1 ? "title" : "titles"}` : ""));
  byId("search-list").replaceChildren(...items.map((one) => make("li", {}, linkTo(one))));
}

byId("search-field").addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, PAUSE);
});
byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  byId("search-list").querySelector("a")?.click();
});

// ---- one item

async function open(item) {
  try {
    const path = `/api/v1/items/${encodeURIComponent(item)}`;
    const [list, past] = await Promise.all([ask(`${path}/related`), ask(`${path}/history`)]);
    tell(list);
    tellPast(past.releases);
  } catch (problem) {
    say(byId("problem"), told(problem));
    show(byId("problem"), true);
  }
}

function tell(list) {
  say(byId("heading"), titleOf(list));
  say(byId("lead"), "What people who know this title also know.");
  document.title = `${titleOf(list)} · recloak`;
  say(byId("list-told"), `As published from ratings up to ${dayOf(list.time)}.`);
  byId("list").replaceChildren(...list.related.map(entry));
  show(byId("item"), true);
}

function entry(one) {
  return make("li", {}, make("span", {}, `${one.position}.`), linkTo(one));
}

function tellPast(releases) {
  const rows = releases.map((one, n) => release(one, n === releases.length - 1));
  byId("history-list").replaceChildren(...rows);
  show(byId("history"), releases.length > 0);
}

function release(one, isFirst) {
  const changes = one.changes.map(moved);
  const none = make("p", { class: "quiet" }, isFirst ? "The first list shown here." : "Nothing changed.");
  return make(
    "li",
    {},
    make("h3", {}, dayOf(one.time), " ", make("small", {}, `release ${one.release}`)),
    changes.length > 0 ? make("ul", {}, changes) : none,
  );
}

function moved(one) {
  const words = {
    appeared: ` is new, at place ${one.now}`,
    vanished: ` left, from place ${one.before}`,
    rose: ` rose from place ${one.before} to ${one.now}`,
    sank: ` sank from place ${one.before} to ${one.now}`,
  };
  const sign = make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[one.change]);
  return make("li", { class: one.change }, sign, make("span", {}, linkTo(one), words[one.change]));
}

function told(problem) {
  if (!(problem instanceof Problem)) throw problem;
  if (problem.kind === "key") return "This needs a key. Please give it on the page “Check a post” first.";
  if (problem.kind === "offline") return "The service cannot be reached just now. Please try again in a moment.";
  return problem.message;
}

/** Give the item that the address names, "" for none. */
function named() {
  const rest = location.pathname.startsWith(ROOT) ? location.pathname.slice(ROOT.length) : "";
  try {
    return decodeURIComponent(rest);
  } catch {
    return rest; // not a text at all, and so no item
  }
}

if (named() === "") byId("search-field").focus();
else open(named());
