// Texts of the page: times, guidelines, captions of grades, names of evidence.

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return '';
  if (seconds < 60) return 'less than a minute';
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `about ${minutes} min`;
  const rest = Math.round((minutes % 60) / 5) * 5;
  const hours = Math.floor(minutes / 60) + (rest === 60 ? 1 : 0);
  return rest % 60 ? `about ${hours} h ${rest} min` : `about ${hours} h`;
}

export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

// Guidelines: headings (#), items (-) and paragraphs, separated by blank lines. No other markup is known.
export function blocks(text) {
  const found = [];
  let open = null;
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
    const heading = /^#{1,6}\s+(.*)$/.exec(line);
    const item = /^\s*[-*]\s+(.*)$/.exec(line);
    if (!line.trim()) {
      open = null;
    } else if (heading) {
      found.push({ kind: 'heading', text: heading[1].trim() });
      open = null;
    } else if (item) {
      const last = found.at(-1);
      if (last && last.kind === 'list') last.items.push(item[1].trim());
      else found.push({ kind: 'list', items: [item[1].trim()] });
      open = found.at(-1);
    } else if (open) {
      if (open.kind === 'list') open.items.push(`${open.items.pop()} ${line.trim()}`);
      else open.text += ` ${line.trim()}`;
    } else {
      open = { kind: 'text', text: line.trim() };
      found.push(open);
    }
  }
  return found;
}

const USUAL = ['nothing to do with it', 'on the subject', 'part of the answer', 'the main part', 'complete answer'];

// A few words for each grade: of the first list of the guidelines that has all five, else the usual ones.
export function captions(text) {
  for (const block of blocks(text)) {
    if (block.kind !== 'list') continue;
    const found = new Map(block.items.map((item) => /^([0-4])\s*[:.)–-]\s*(.+)$/.exec(item)).filter(Boolean).map((one) => [Number(one[1]), one[2]]));
    if (found.size === 5) return [0, 1, 2, 3, 4].map((grade) => brief(found.get(grade)));
  }
  return USUAL;
}

function brief(text) {
  const head = text.split(/[,;.。，；]| but | amid | or /)[0].trim();
  return head.length > 60 ? `${head.slice(0, 57).trimEnd()}…` : head;
}

// A name for evidence that was given none: its first words.
export function nameOf(text) {
  const line = text.replace(/\s+/g, ' ').trim();
  const letters = Array.from(line);
  if (letters.length <= 40) return line;
  const head = letters.slice(0, 40).join('');
  const blank = head.lastIndexOf(' ');
  return blank > 20 ? head.slice(0, blank) : head;
}

// What an undo has done to a mark; without a grade there is none any more.
export function undoneMark({ text, rating }) {
  const now = rating.grade === null ? 'removed' : `restored, with grade ${rating.grade}`;
  return `the mark “${text.slice(0, 60)}” was ${now}`;
}

// What an undo of a resolution leaves: another one, or the difference.
export function undoneDecision(decided) {
  return `your resolution was undone${decided ? `; that of ${decided.rater} counts, ${decided.grade}` : ', so the difference is open again'}`;
}
