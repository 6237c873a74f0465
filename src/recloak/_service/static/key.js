// The access key: given once, kept for this tab only, sent in a header only.

const PLACE = "recloak-key";

/** Take a key handed over behind a # in the address, and wipe it from the address and the history at once. */
export function takeFromAddress() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  keep(given);
}

/** Give the key, or null. */
export function current() {
  return sessionStorage.getItem(PLACE);
}

/** Keep a key until the tab is closed. */
export function keep(key) {
  const trimmed = key.trim();
  if (trimmed) sessionStorage.setItem(PLACE, trimmed);
}

/** Forget the key. */
export function forget() {
  sessionStorage.removeItem(PLACE);
}
