// Places in a text. The page counts as JavaScript does, in UTF-16 units; the labels count characters, as Python
// does. One character outside the basic plane, such as 𠀋 or an emoji, is two units.

const isHigh = (unit) => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit) => unit >= 0xdc00 && unit <= 0xdfff;

// Whether a place in units lies between the two halves of one character.
function splits(text, place) {
  return place > 0 && place < text.length && isHigh(text.charCodeAt(place - 1)) && isLow(text.charCodeAt(place));
}

// How many characters the first units of a text are.
export function characters(text, units = text.length) {
  let count = 0;
  for (let at = 0; at < units; at += 1) if (!splits(text, at)) count += 1;
  return count;
}

// Where a character begins, in units.
export function units(text, count) {
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left -= 1) at += splits(text, at + 1) ? 2 : 1;
  return at;
}

// A selection in units as a range in characters, from a start that the text has in its document. A half of a
// character is taken whole. Null where nothing but white space is selected.
export function rangeOf(text, from, to, begin = 0) {
  const first = splits(text, from) ? from - 1 : from;
  const last = splits(text, to) ? to + 1 : to;
  const chosen = text.slice(first, last);
  const left = chosen.length - chosen.trimStart().length;
  const body = chosen.trim();
  if (!body) return null;
  const start = begin + characters(text, first + left);
  return { start, end: start + characters(body), text: body };
}

// A text in pieces, so that every range is a run of whole pieces: [{text, of: [names of ranges]}]. The pieces
// joined are the text, letter by letter. Ranges are in characters of the document: {start, end, name}.
export function pieces(text, ranges, begin = 0) {
  const cuts = new Set([0, text.length]);
  const placed = ranges
    .map(({ start, end, name }) => ({ from: units(text, start - begin), to: units(text, end - begin), name }))
    .filter(({ from, to }) => from < to);
  for (const { from, to } of placed) cuts.add(from).add(to);
  const places = [...cuts].sort((a, b) => a - b);
  const found = [];
  for (let i = 0; i + 1 < places.length; i += 1) {
    const [from, to] = [places[i], places[i + 1]];
    const of = placed.filter((one) => one.from <= from && to <= one.to).map((one) => one.name);
    found.push({ text: text.slice(from, to), of });
  }
  return found;
}
