// Questions to the service, and what can go wrong with them in plain words.

import * as key from "./key.js";

const PATIENCE = 15_000; // milliseconds
const WRONG_KEY = "This key is not valid, or no longer. Please ask for a new one.";
const MISSING = {
  no_ratings: "There are no ratings of yours here, so a post cannot give them away.",
  no_such_item: "There is no published list for this title.",
  not_served: "This part of the service is not switched on here.",
};

/** Something that went wrong, told in words that help. */
export class Problem extends Error {
  constructor(kind, words, wait = null) {
    super(words);
    this.kind = kind; // key, busy, offline, long, missing
    this.wait = wait; // seconds until it makes sense to ask again; null: it does not
  }
}

/** Ask for advice on a draft. */
export function advice(question, signal) {
  const options = { method: "POST", body: JSON.stringify(question), headers: { "Content-Type": "application/json" } };
  return ask("/api/v1/advice", { ...options, signal });
}

/** Ask how findable all that was ever posted makes the key's owner. */
export const exposure = () => ask("/api/v1/exposure");

/** Ask the service; give its answer, or throw a `Problem`. */
export async function ask(path, options = {}) {
  const token = key.current();
  if (token && !/^[\x21-\x7e]+$/.test(token)) throw new Problem("key", WRONG_KEY);
  const headers = { Accept: "application/json", ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  const late = AbortSignal.timeout(PATIENCE);
  const signal = options.signal ? AbortSignal.any([options.signal, late]) : late;
  let response;
  try {
    response = await fetch(path, { ...options, headers, signal, credentials: "omit", redirect: "error" });
    if (response.ok) return await response.json();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem("offline", "The advisor cannot be reached just now. Your text is safe here.", 4);
  }
  throw await told(response);
}

async function told(response) {
  const error = await response.json().then((body) => body.error ?? {}, () => ({}));
  const wait = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  switch (response.status) {
    case 401:
    case 403:
      return new Problem("key", WRONG_KEY);
    case 404:
      return new Problem("missing", MISSING[error.code] ?? "There is nothing here.");
    case 413:
      return new Problem("long", "This text is too long to be checked in one go. Please shorten it.");
    case 429:
      return new Problem("busy", "That was a lot of checks in a short time.", Math.max(wait || 5, 1));
    case 422:
      return new Problem("long", "This text cannot be checked as it is. Perhaps it is too long?");
    default:
      return new Problem("offline", "The advisor has a problem of its own just now. Your text is safe here.", wait || 8);
  }
}
