// Texts that change on two sides.

/** @typedef {{start: number, end: number, text: string}} Edit */

/** The one piece in which two texts differ. @param {string} before @param {string} after @returns {Edit} */
export function difference(before, after) {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  // Half of a surrogate pair is not a character.
  if (start > 0 && (before.charCodeAt(start - 1) & 0xfc00) === 0xd800) start--;
  let same = 0;
  while (same < most - start && before.charCodeAt(before.length - 1 - same) === after.charCodeAt(after.length - 1 - same)) same++;
  if (same > 0 && (before.charCodeAt(before.length - same) & 0xfc00) === 0xdc00) same--;
  return { start, end: before.length - same, text: after.slice(start, after.length - same) };
}

/** Where a place is after an edit. @param {number} at @param {Edit} edit */
export function moved(at, edit) {
  if (at <= edit.start) return at;
  if (at >= edit.end) return at + edit.text.length - (edit.end - edit.start);
  return edit.start + edit.text.length;
}

/**
 * What was typed here, made again on what came from there. Where both changed the same piece, both texts stay.
 * @param {string} base @param {string} here @param {string} there
 */
export function rebase(base, here, there) {
  if (base === here) return there;
  if (base === there) return here;
  const mine = difference(base, here);
  const theirs = difference(base, there);
  if (mine.end <= theirs.start || theirs.end <= mine.start) {
    const at = mine.end <= theirs.start ? mine.start : mine.start + theirs.text.length - (theirs.end - theirs.start);
    return there.slice(0, at) + mine.text + there.slice(at + mine.end - mine.start);
  }
  const at = theirs.start + theirs.text.length;
  return there.slice(0, at) + mine.text + there.slice(at);
}

/**
 * How far a place has moved since the text was one of a run: its line is looked for by what stood in it. Of lines that read alike the one with the
 * same number among them is meant, and if there are more or fewer of these by now nobody knows which. `null` if the line is not there any more.
 * @param {import("./store.js").Place} place @param {string} text @param {number[]} starts where lines begin
 * @returns {number|null}
 */
export function shiftOf(place, text, starts) {
  if (place.text === undefined) return 0;
  const alike = [];
  for (let line = 0; line < starts.length; line++) {
    const end = line + 1 < starts.length ? starts[line + 1] - 1 : text.length;
    if (end - starts[line] === place.text.length && text.startsWith(place.text, starts[line])) alike.push(starts[line]);
  }
  if (alike.length !== place.alike) return null;
  return alike[place.nth ?? 0] - (place.lineStart ?? 0);
}
