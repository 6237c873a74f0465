// What stands beside the draft: the titles it names, what would help, and what was said before.

import { byId, isolated, make, show } from "./dom.js";
import { givenBy } from "./editor.js";
import { capital, level } from "./meter.js";

const MOST_ADDS = 3;

/** Give an item's title, or its id where it has none. */
export const titleOf = (named) => named.title ?? String(named.item);

/** Put finds of one item together, in the order of the text. */
export function grouped(finds) {
  const groups = new Map();
  for (const find of finds) {
    const name = find.item === null ? `no ${find.start}` : `item ${typeof find.item} ${find.item} ${find.counted}`;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(find);
  }
  return [...groups.values()];
}

/** List the titles of the draft; `on` says what the buttons do. */
export function listFinds(finds, advice, on) {
  const groups = grouped(finds);
  show(byId("finds"), groups.length > 0);
  byId("finds-list").replaceChildren(...groups.map((group) => findRow(group, advice, on)));
}

function findRow(group, advice, on) {
  const [find] = group;
  const isNone = find.item === null;
  const drop = isNone ? null : advice.drops.find((change) => change.drop[0].item === find.item);
  const times = group.length > 1 ? make("span", { class: "times" }, ` ${group.length} times`) : null;
  return make(
    "li",
    { class: `find ${isNone ? "none" : find.counted ? find.gives : "possible"}`, "data-item": String(find.item) },
    make("span", { class: "strength", "aria-hidden": "true" }, make("i"), make("i"), make("i")),
    make(
      "div",
      { class: "told" },
      make("p", { class: "name" }, make("bdi", {}, isNone ? `“${find.text}”` : titleOf(find)), times),
      make("p", { class: "gives" }, isNone ? "you said it is no title" : givenBy(find)),
    ),
    isNone ? null : leaveOutButton(find, find.counted ? drop : null, advice, on),
    hasDoubt(find) ? chooser(group, on) : null,
  );
}

function leaveOutButton(find, drop, advice, on) {
  const helps = drop && level(drop.band) > level(advice.after);
  if (!drop || (find.gives === "nothing" && !helps)) return null;
  return make(
    "button",
    { type: "button", class: "quiet", onclick: () => on.take(drop), "aria-label": `Leave out ${titleOf(find)}` },
    "Leave out",
    helps ? make("span", { class: "leads" }, `then ${drop.band.words}`) : null,
  );
}

const hasDoubt = (find) => find.item === null || find.tier === "possible" || find.alternatives.length > 0 || find.chosen;

function chooser(group, on) {
  const [find] = group;
  const options = [...(find.item === null ? [] : [find]), ...find.alternatives];
  const value = find.item === null ? "none" : find.counted ? "0" : "";
  const select = make(
    "select",
    { "aria-label": `What does “${find.text}” mean?`, onchange: (event) => chosen(event.target.value) },
    value === "" ? make("option", { value: "", selected: true }, "Please choose") : null,
    options.map((one, n) => make("option", { value: String(n), selected: value === String(n), dir: "auto" }, titleOf(one))),
    make("option", { value: "none", selected: value === "none" }, "No title at all"),
  );
  const chosen = (picked) => picked !== "" && on.choose(group, picked === "none" ? null : options[Number(picked)].item);
  return make("label", { class: "chooser" }, make("span", {}, `“${isolated(find.text)}” means`), select);
}

/** List what would help. */
export function listHelp(advice, on) {
  const { cheapest, hidden } = advice;
  const isChange = cheapest !== null && inWords(cheapest) !== "";
  const shown = hidden ? [] : advice.adds.filter((change) => level(change.band) > level(advice.after));
  byId("help-lead").textContent = lead(advice, isChange);
  byId("help-main").replaceChildren(...(isChange && !hidden ? [mainChange(cheapest, on)] : []));
  byId("help-adds").replaceChildren(...shown.slice(0, MOST_ADDS).map((change) => addRow(change, on)));
  show(byId("help-more"), shown.length > 0);
}

function lead(advice, isChange) {
  if (advice.hidden && advice.finds.some((find) => find.counted)) return "Nothing needs to change. You can post this as it is.";
  if (advice.hidden) return "Nothing in this text points to you.";
  if (isChange && !advice.small && advice.most_telling.length > 0)
    return `Nothing small hides you. ${capital(rowOf(advice.most_telling))} give you away most. What would hide you:`;
  if (isChange) return "The smallest change that hides you well:";
  if (advice.drops.length > 0) return "No small change hides you well. Leaving titles out helps step by step.";
  return "What you said before already points to you. This text adds nothing to it.";
}

/** Say a change in words, as a wish ("leave out A, add B") or as done ("left out A, added B"). */
export function inWords(change, isDone = false) {
  const [leave, put] = isDone ? ["left out", "added"] : ["leave out", "add"];
  const parts = [];
  if (change.drop.length > 0) parts.push(`${leave} ${rowOf(change.drop)}`);
  for (const one of change.series ?? []) parts.push(`say “${isolated(one.series)}” instead of ${isolated(titleOf(one))}`);
  if (change.no_opinions) parts.push("say nothing of what you think of them");
  if (change.add.length > 0) parts.push(`${put} ${rowOf(change.add)}`);
  return capital(parts.join(parts.every((part) => !part.includes(" and ")) ? " and " : ", "));
}

function rowOf(named) {
  const titles = named.map((one) => isolated(titleOf(one)));
  return titles.length > 1 ? `${titles.slice(0, -1).join(", ")} and ${titles.at(-1)}` : titles[0];
}

function mainChange(change, on) {
  return make(
    "button",
    { type: "button", class: "primary", onclick: () => on.take(change) },
    make("span", {}, inWords(change)),
    make("span", { class: "leads" }, `then ${change.band.words}`),
  );
}

function addRow(change, on) {
  const title = isolated(titleOf(change.add[0]));
  return make(
    "li",
    {},
    make(
      "button",
      { type: "button", class: "quiet wide", onclick: () => on.take(change) },
      make("span", {}, `Add ${title}`),
      make("span", { class: "leads" }, `then ${change.band.words}`),
    ),
  );
}

/** List every way of looking; choosing one shows its crowd. */
export function listWays(advice, look) {
  byId("ways-list").replaceChildren(
    ...advice.attackers.map((view) =>
      make(
        "li",
        {},
        make(
          "button",
          { type: "button", class: "quiet", "aria-pressed": "false", onclick: (event) => press(event, view, look) },
          make("span", {}, capital(view.words)),
          make("span", { class: "leads" }, view.band.words),
        ),
      ),
    ),
  );
}

/** Show the crowd of a way of looking, and which one it is. */
function press(event, view, look) {
  const chosen = event.currentTarget;
  for (const one of byId("ways-list").querySelectorAll("button")) one.setAttribute("aria-pressed", String(one === chosen));
  look(view);
}

/** List what was said before, each with a way to take it off. */
export function listEarlier(earlier, on) {
  show(byId("earlier"), earlier.length > 0);
  byId("earlier-list").replaceChildren(
    ...earlier.map((one) =>
      make(
        "li",
        {},
        make("bdi", {}, titleOf(one)),
        make(
          "button",
          { type: "button", class: "away", onclick: () => on.unsay(one), "aria-label": `Take ${titleOf(one)} off` },
          "×",
        ),
      ),
    ),
  );
}
