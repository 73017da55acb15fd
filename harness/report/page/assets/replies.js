// The answer of a setting to a query, next to the passages it read: citations lead to their passages.

const CITATION = /\[\s*\d+(?:\s*[,，、;；]\s*\d+)*\s*\]|【\s*\d+(?:\s*[,，、;；]\s*\d+)*\s*】/g;

function replyOf(setting, query) {
  return DATA.detail.replies?.by[setting]?.[query] || null;
}

// The place in the prompt, from 1, of the passage at a rank, and whether it is cited; null where it was not read.
function readAt(setting, query, rank) {
  const at = replyOf(setting, query)?.read.findIndex(([own]) => own === rank + 1) ?? -1;
  return at < 0 ? null : { place: at + 1, cited: replyOf(setting, query).read[at][1] === 1 };
}

// Answers are those of the last stage: another stage ranks otherwise.
function readBadge(setting, query, rank) {
  if (stageOf(setting) !== stageOf(setting, 'final')) return null;
  const read = readAt(setting, query, rank);
  return read && badge(read.cited ? 'cited' : 'read', `${read.cited ? 'cited' : 'read'} as [${read.place}]`, 'read to answer, under this number');
}

function goToPassage(event, rank) {
  const passages = event.target.closest('.ranking').querySelectorAll('.passages > .passage');
  const node = passages[rank - 1];
  if (!node) return;
  node.tabIndex = -1;
  node.scrollIntoView({ block: 'center' });
  node.focus({ preventScroll: true });
}

function citation(mark, reply) {
  const numbers = mark.match(/\d+/g).map(Number);
  if (!numbers.every((n) => n >= 1 && n <= reply.read.length)) return h('span.miscited', { title: 'names no passage that was read' }, mark);
  return ['[', numbers.map((n, i) => [i ? ', ' : '', h('button.cite', {
    type: 'button', 'aria-label': `passage ${n}, rank ${reply.read[n - 1][0]}`, onclick: (event) => goToPassage(event, reply.read[n - 1][0]),
  }, n)]), ']'];
}

// The answer with its citations as links, where the setting was asked for any.
function answerText(reply) {
  const cites = reply.read.some(([, cited]) => cited) || reply.bad > 0;
  const out = [];
  let at = 0;
  for (const found of cites ? reply.text.matchAll(CITATION) : []) {
    out.push(h('span', null, reply.text.slice(at, found.index)), citation(found[0], reply));
    at = found.index + found[0].length;
  }
  return h('p.reply-text.foreign', null, out, h('span', null, reply.text.slice(at)));
}

function claimList(claims) {
  return claims.length ? h('ul.claims.small', null, claims.map(([text, verdict, contradicts, reason]) => h(`li.${verdict ? 'supported' : 'unsupported'}`, null,
    h('b', null, verdict ? '✓ supported' : contradicts ? '✗ contradicts the golden answer' : '✗ not supported'), ' ', foreign(text, 'span'),
    reason ? h('p.soft', null, 'Reason: ', foreign(reason, 'span')) : null))) : null;
}

// Which passages were put in place of what was found, or had their facts changed.
function changedNote(reply) {
  const places = (change) => reply.read.map(([, , how], i) => how === change ? `[${i + 1}]` : '').filter(Boolean);
  const [noise, altered] = ['noise', 'altered'].map(places);
  return [noise.length ? `; noise without the answer: ${noise.join(', ')}` : '', altered.length ? `; with a false fact: ${altered.join(', ')}` : ''];
}

// How much was read, and which of it the answer cites.
function citedNote(reply) {
  const cited = reply.read.map(([rank, is], i) => [rank, is, i + 1]).filter(([, is]) => is);
  return h('p.small.soft', null, `${count(reply.read.length, 'passage')} read`, changedNote(reply),
    cited.length ? [', cited ', cited.map(([rank, , place], i) => [i ? ', ' : '', h('button.cite', {
      type: 'button', onclick: (event) => goToPassage(event, rank), 'aria-label': `passage ${place}, rank ${rank}`,
    }, rank ? `[${place}] at rank ${rank}` : `[${place}], which is noise`)])] : '',
    reply.bad ? `; marks that name no passage read: ${whole(reply.bad)}` : '');
}

// Why a measure has its value: what was judged, the verdict and the reason of the model that scores.
function reasonFold(notes) {
  return h('details', null, h('summary', null, 'reasons'), h('ul', null, notes.map(([text, verdict, reason]) => h('li', null,
    h('b.num', null, verdict), ' ', text ? [foreign(text, 'span'), ' '] : null, reason ? [h('span.soft', null, 'Reason: '), foreign(reason, 'span.soft')] : null))));
}

function replyScores(reply) {
  const { measures } = DATA.detail.replies;
  return h('ul.reply-scores.small', null, measures.map((name, m) => {
    const [value, reason, notes = []] = reply.scores[m] || [null, ''];
    return h('li', null, name, ' ', h('b.num', null, fixed(value, 2)), !known(value) && reason ? h('span.soft', null, ` ${reason}`) : null,
      notes.length ? reasonFold(notes) : null);
  }));
}

function replyPanel(setting, query) {
  const reply = replyOf(setting, query);
  if (!reply) return null;
  const golden = DATA.detail.replies.golden[query];
  return h('section.reply', { 'aria-label': `Answer of ${nameOf(setting)}` },
    h('h4', null, 'Answer'),
    reply.reason ? h('p.soft', null, `No answer: ${reply.reason.replaceAll('_', ' ')}.`) : answerText(reply),
    golden ? h('p.small', null, h('b', null, 'Golden answer '), foreign(golden, 'span')) : h('p.small.soft', null, 'No golden answer is known.'),
    citedNote(reply), claimList(reply.claims), replyScores(reply));
}
