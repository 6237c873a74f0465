// When to ask: a little after the last keystroke, never twice at once, and again after a problem that passes.

import * as client from "./client.js";

const PAUSE = 350; // milliseconds without a keystroke
const LONGEST = 1500; // while somebody types without a pause

/** Make an asker; `on` is told of answers, problems and waiting, and gives the question of the moment. */
export function asker(on) {
  let timer = null;
  let running = null;
  let since = null; // of the first keystroke that waits for an answer

  async function ask() {
    clearTimeout(timer);
    running?.abort();
    const mine = new AbortController();
    running = mine;
    since = null;
    on.waiting(true);
    const { question, text } = on.question();
    try {
      const answer = await client.advice(question, mine.signal);
      if (running === mine) on.answer(answer, text);
    } catch (problem) {
      if (running === mine) failed(problem);
    }
    if (running === mine) on.waiting(false);
  }

  function failed(problem) {
    if (!(problem instanceof client.Problem)) throw problem;
    if (problem.wait !== null) timer = setTimeout(ask, problem.wait * 1000);
    on.problem(problem);
  }

  function soon() {
    since ??= performance.now();
    clearTimeout(timer);
    timer = setTimeout(ask, Math.max(Math.min(PAUSE, since + LONGEST - performance.now()), 0));
  }

  function stop() {
    clearTimeout(timer);
    running?.abort();
    running = null;
    on.waiting(false);
  }

  return { ask, soon, stop };
}
