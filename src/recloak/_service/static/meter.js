// How hidden the writer is: in words, and as a crowd around one dot.

import { byId, draw, say, show } from "./dom.js";

// The bands of the service, from alone to lost in the crowd, and how many dots stand for each.
const BANDS = ["1 to 10", "11 to 100", "101 to 1,000", "beyond 1,000"];
const DOTS = [7, 60, 230, 460];
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const RADIUS = 100;

let dots = [];

/** Give a band's place on the scale, 0 for alone. */
export const level = (band) => Math.max(BANDS.indexOf(band.band), 0);

/** Draw the crowd once: dots in the order of a sunflower's seeds, the writer in the middle. */
export function prepare() {
  const crowd = byId("crowd");
  const most = DOTS.at(-1);
  const step = (RADIUS - 6) / Math.sqrt(most);
  dots = Array.from({ length: most }, (_, n) => {
    const far = n === 0 ? 0 : step * Math.sqrt(n) + 4;
    const place = { cx: (far * Math.cos(n * GOLDEN_ANGLE)).toFixed(2), cy: (far * Math.sin(n * GOLDEN_ANGLE)).toFixed(2) };
    const dot = draw("circle", { ...place, r: n === 0 ? 5.6 : 2.35, class: n === 0 ? "you" : "off" });
    dot.style.transitionDelay = `${Math.round(n * 0.7)}ms`;
    return dot;
  });
  crowd.replaceChildren(...dots.toReversed());
}

/** Show an answer; without a draft it is only about what was said before. */
export function tell(advice, isEmpty) {
  const [before, after] = [level(advice.before), level(advice.after)];
  picture(after, before);
  byId("meter").dataset.tone = advice.hidden ? "good" : after === 0 ? "alert" : "caution";
  say(byId("meter-verdict"), advice.hidden ? "Well hidden" : after === 0 ? "Not hidden" : "Barely hidden");
  say(byId("meter-title"), isEmpty ? "So far you are" : "With this post you would be");
  say(byId("meter-words"), capital(advice.after.words));
  say(byId("meter-why"), advice.why);
  say(byId("meter-before"), isEmpty ? "Write, and see how it changes." : contrast(advice, before, after));
  say(byId("meter-spoken"), isEmpty ? "" : spoken(advice));
  show(byId("meter-answer"), true);
}

/** Draw the crowd of a band; those lost since another one are shown faintly. */
function picture(after, before) {
  dots.forEach((dot, n) => {
    if (n > 0) dot.setAttribute("class", n < DOTS[after] ? "on" : n < DOTS[before] ? "lost" : "off");
  });
}

/** Show the crowd as one way of looking leaves it. */
export function look(view, advice) {
  const chosen = view ? level(view.band) : level(advice.after);
  picture(chosen, level(advice.before));
  say(byId("meter-words"), capital((view ?? { band: advice.after }).band.words));
  say(byId("meter-spoken"), view ? `By ${view.words}: ${view.band.words}.` : spoken(advice));
}

function contrast(advice, before, after) {
  if (before === after) return "The same as before this post.";
  return `Before this post: ${advice.before.words}.`;
}

/** One sentence for those who do not see the page; short, as it is read out after each change. */
function spoken(advice) {
  const verdict = advice.hidden ? "Well hidden" : "Not hidden enough";
  return `${verdict}: with this post you would be ${advice.after.words}; before it, ${advice.before.words}.`;
}

/** Show that the last answer is not about the draft as it stands. */
export function fade(isOld) {
  byId("meter").classList.toggle("old", isOld);
}

/** Show that an answer is being worked out. */
export function wait(isWaiting) {
  byId("meter").classList.toggle("waiting", isWaiting);
}

/** Give a text with a capital first letter. */
export function capital(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
