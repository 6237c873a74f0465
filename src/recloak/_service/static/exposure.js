// All that was ever posted: how findable it makes the writer, and what deleting would bring.

import * as client from "./client.js";
import { byId, isolated, make, say } from "./dom.js";
import { titleOf } from "./lists.js";

/** Ask, and show the answer or what went wrong. */
export async function showExposure() {
  try {
    tell(await client.exposure());
  } catch (problem) {
    if (!(problem instanceof client.Problem)) throw problem;
    say(byId("exposure-words"), problem.message);
  }
}

function tell(found) {
  byId("exposure-list").replaceChildren(...found.mentions.map((one) => deletion(one)));
  if (found.n_mentions === 0) return say(byId("exposure-words"), "We know of no posts of yours.");
  const verdict = found.hidden ? "Well hidden" : "Not hidden";
  const last = found.mentions.length > 1 ? ` With all below deleted you would be ${found.without_all.words}.` : "";
  const told = found.mentions.length > 0 ? `${last} What gives most away:` : "";
  say(byId("exposure-words"), `${verdict}: by ${found.n_mentions} titles you are ${found.now.words}. ${found.why}${told}`);
}

function deletion(one) {
  return make("li", {}, make("bdi", {}, isolated(titleOf(one))), make("span", { class: "leads" }, ` deleted: ${one.band.words}`));
}
