// Changes of a draft as plain values. Every offset counts UTF-16 units, as JavaScript does.
//
// A span is {start, end, ...}; an edit is {start, end, text}: what stands between start and end becomes text.

const LETTER = /[\p{L}\p{N}]/u;
const BETWEEN = /^["”’)\s]*(?:,\s*(?:and|or)\s|,|;|\/|&|\sand\s|\sor\s)[\s"“‘]*$/iu;
const YEAR_AFTER = /^\s?\((?:1[89]|20)\d\d\)/;
const QUOTES = { '"': '"', "“": "”", "‘": "’", "«": "»", "'": "'", "*": "*", "_": "_" };

/** Give the one edit that makes `after` of `before`, or null where they are the same. */
export function difference(before, after) {
  if (before === after) return null;
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let tail = 0;
  while (tail < most - start && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

/** Move spans along with an edit; one that the edit touches is let go. */
export function shift(spans, edit) {
  const moved = edit.text.length - (edit.end - edit.start);
  return spans.flatMap((span) => {
    if (isBefore(span, edit)) return [span];
    if (isAfter(span, edit)) return [{ ...span, start: span.start + moved, end: span.end + moved }];
    return [];
  });
}

// A letter typed right at a title makes another word of it.
function isBefore(span, edit) {
  return span.end < edit.start || (span.end === edit.start && !LETTER.test(edit.text.slice(0, 1)));
}

function isAfter(span, edit) {
  return span.start > edit.end || (span.start === edit.end && !LETTER.test(edit.text.slice(-1)));
}

/** Apply one edit. */
export function edited(text, edit) {
  return text.slice(0, edit.start) + edit.text + text.slice(edit.end);
}

/** Give the edit that takes the way from `before` to `after` back. */
export function takenBack(before, after) {
  const { start, end, text } = difference(before, after);
  return { start, end: start + text.length, text: before.slice(start, end) };
}

/** Cut a text at its marks: [{text, mark or null}, ...], in order and without overlap. */
export function pieces(text, marks) {
  const found = [];
  let at = 0;
  for (const mark of [...marks].sort((a, b) => a.start - b.start)) {
    if (mark.start < at || mark.end > text.length) continue;
    if (mark.start > at) found.push({ text: text.slice(at, mark.start), mark: null });
    found.push({ text: text.slice(mark.start, mark.end), mark });
    at = mark.end;
  }
  if (at < text.length) found.push({ text: text.slice(at), mark: null });
  return found;
}

/** Give the edits, one after the other, that leave titles out: from a list without a trace, elsewhere with a "…". */
export function leaveOut(text, spans, isLeft) {
  let kept = [...spans].sort((a, b) => a.start - b.start).map((span) => widen(text, span));
  let rest = text;
  const edits = [];
  const run = (edit) => {
    edits.push(edit);
    rest = edited(rest, edit);
    kept = moved(kept, edit);
  };
  for (let n = kept.length - 1; n >= 0; n -= 1) {
    if (!isLeft(kept[n])) continue;
    cut(rest, kept, n).forEach(run);
    kept.splice(n, 1);
    pairAt(rest, kept, n).forEach(run);
  }
  return edits;
}

/** "A, and B" is left of a list of three: make it "A and B". */
function pairAt(text, spans, n) {
  const isJoined = (m) => m > 0 && m < spans.length && joined(text, spans[m - 1], spans[m]);
  const found = [n + 1, n, n - 1].find((m) => isJoined(m) && !isJoined(m - 1) && !isJoined(m + 1));
  const comma = found === undefined ? -1 : text.slice(spans[found - 1].end, spans[found].start).search(/,\s*(and|or)\s/i);
  if (comma < 0) return [];
  const start = spans[found - 1].end + comma;
  return [{ start, end: start + 1, text: "" }];
}

/** Give the edits that take the nth title away, the later ones in the text first. */
function cut(text, spans, n) {
  const [before, span, after] = [spans[n - 1], spans[n], spans[n + 1]];
  const follows = before && joined(text, before, span);
  const leads = after && joined(text, span, after);
  if (follows) {
    const removed = { start: before.end, end: span.end, text: "" };
    const earlier = !leads && spans[n - 2];
    if (!earlier || !joined(text, earlier, before)) return [removed];
    // "A, B and C" without C is "A and B".
    return [removed, { start: earlier.end, end: before.start, text: text.slice(before.end, span.start) }];
  }
  if (leads) return [{ start: span.start, end: after.start, text: "" }];
  return [{ start: span.start, end: span.end, text: "…" }];
}

function joined(text, a, b) {
  return BETWEEN.test(text.slice(a.end, b.start));
}

/** Move spans along with an edit and keep all of them, so that their places in the row stay. */
function moved(spans, edit) {
  const by = edit.text.length - (edit.end - edit.start);
  return spans.map((span) => (span.start >= edit.end ? { ...span, start: span.start + by, end: span.end + by } : span));
}

/** Take what belongs to a title along with it: all of its name, the quotes around it, the year behind. */
function widen(text, span) {
  let { start, end } = wholeName(text, span);
  end += yearAt(text, end);
  if (QUOTES[text[start - 1]] && QUOTES[text[start - 1]] === text[end]) [start, end] = [start - 1, end + 1];
  end += yearAt(text, end);
  return { ...span, start, end };
}

/** The words found may lack a sign of the name, as the last dot of "Escape from L.A." */
function wholeName(text, { start, end, title }) {
  const name = (title ?? "").replace(/ \(\d{4}\)$/, "").toLowerCase();
  const from = Math.max(start - name.length, 0);
  const at = name ? text.slice(from, end + name.length).toLowerCase().indexOf(name) + from : end;
  return name && at >= from && at <= start && at + name.length >= end ? { start: at, end: at + name.length } : { start, end };
}

function yearAt(text, place) {
  return YEAR_AFTER.exec(text.slice(place, place + 8))?.[0].length ?? 0;
}

/** Give the edit that mentions titles at the end, and where each then stands. */
export function mention(text, titles) {
  const end = text.trimEnd().length;
  const lead = end === 0 ? "" : /[.!?…:"”)]$/.test(text.slice(0, end)) ? " " : "\n";
  let put = `${lead}What do you think of `;
  const spans = titles.map((title, n) => {
    put += n === 0 ? "" : n === titles.length - 1 ? " and " : ", ";
    const start = end + put.length;
    put += title;
    return { start, end: start + title.length };
  });
  return { edit: { start: end, end: text.length, text: `${put}?` }, spans };
}
