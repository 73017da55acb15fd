// Terms, each with one short explanation: the same wherever it stands, on hover, focus and tap.

const TERMS = {
  chunks: 'Pieces of the documents: what is searched, ranked and read.',
  'chunk size': 'How long the chunks are, the pieces that documents are cut into: what is searched, ranked and read.',
  search: 'How passages are found. Keyword search (BM25) goes by the words that query and passage share, vector search by what they mean to a model.',
  'keyword search': 'BM25: ranks passages by the words that they share with the query; rare words count more.',
  'vector search': 'A model turns queries and passages into vectors; passages with vectors like that of the query come first, even if their words differ.',
  'keyword + vector search': 'Hybrid search: both search, and their scores are joined into one ranking.',
  reranker: 'A second model that reads the query with each passage that was found, and puts the passages in a new order.',
  reranked: 'A second model read the query with each passage that was found, and put the passages in a new order.',
  'bundled reranker': 'A second model, embedded:maxsim, that puts what was found in a new order: it compares query and passage token by token. It comes with harness, so that nothing is downloaded.',
  evidence: 'The labelled text that answers a query.',
  labels: 'Which text answers which query, and how well: graded by people or a model.',
  unjudged: 'Neither people nor a model graded it: it may be relevant, but counts as irrelevant.',
  interval: 'Where the true value may lie, for more queries of this kind: wider with fewer queries.',
  'use this': 'Recommended: better than the others where a difference was found, else the one to lose least with.',
  'may be best': 'No other setting was found to be better.',
  'ruled out': 'Another setting is better by more than chance explains.',
  better: 'The whole interval is above 0: more than chance explains.',
  worse: 'The whole interval is below 0: more than chance explains.',
  'no difference found': 'The interval includes 0. The two may be equal, or the queries too few to tell.',
  equal: 'The whole interval lies within the tolerance: any difference is too small to matter.',
  'depends on labels': 'The sign changes when labels are taken longer or shorter, so it is no finding.',
  'not comparable': 'The measure compares only settings over the same chunks.',
  'rankings end early': 'What the other setting reads was not retrieved here: with deeper rankings this may turn.',
  left: 'The score that the setting reaches.',
  paired: 'Two settings are compared query by query, which is far more precise than comparing two means.',
  p: 'How often chance alone would show a difference as large as this one.',
  group: 'Use this, may be best, or ruled out, as on the first screen.',
  'too few queries': 'Fewer than 30 queries: chance decides too much.',
  tolerance: 'The largest difference that is called too small to matter.',
  'sign-flip test': 'Swaps two settings at random, query by query: a difference that such swaps seldom reach is no chance.',
  simultaneous: 'The confidence is that all intervals contain the true values, not each by itself: looking at many finds no more by chance.',
  ICC: 'How alike queries on one document are: at 0 each counts in full, at 1 all of them count as one.',
  bootstrap: 'The mean is computed again and again from queries drawn at random, to see how much it varies.',
  judged: 'Graded by people or a model. What was ranked and is not judged counts as irrelevant.',
  train: 'Queries for choosing a setting.',
  validation: 'Queries kept aside, to see what the choice is worth.',
  AUROC: 'How well a score tells two groups apart: 0.5 is a coin toss, 1 is perfect.',
};

// What a text calls them too.
const ALSO = { 'at once': 'simultaneous', equivalent: 'equal' };

function aboutTerm(name) {
  if (name.endsWith(' here')) return `${aboutTerm(name.slice(0, -5))} Shown for these documents, not for new ones.`;
  return TERMS[name] || TERMS[ALSO[name]] || (name.startsWith('equal') ? TERMS.equal : '') || aboutMeasure(name);
}

// A word that says what it means; plain where there is nothing to say.
function term(text, about = aboutTerm(text)) {
  return about ? explained(h('button.term', { type: 'button' }, text), about) : text;
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

// What is explained on the first screen wherever it stands first.
const JARGON = ['keyword + vector search', 'keyword search', 'vector search', 'bundled reranker', 'reranker', 'reranked', 'chunks', 'unjudged', 'judged', 'labels', 'evidence'];
const WORDS_OF_JARGON = new RegExp(`(?<![\\w-])(${JARGON.map(escaped).join('|')})(?![\\w-])`, 'u');

// What stands between two backticks as code, the rest as `others` makes it.
function withCode(text, others) {
  return text.split(/\x60([^\x60]+)\x60/u).map((part, k) => (k % 2 ? h('code', null, part) : others(part)));
}

// A text with its jargon explained; it may name settings, which are foreign text.
function plainly(text) {
  const said = new Set();
  return withCode(text, (part) => explainedWords(part, said));
}

function explainedWords(text, said) {
  const parts = text.split(WORDS_OF_JARGON);
  return parts.map((part, k) => {
    if (k % 2 === 0 || said.has(part)) return part && foreign(part);
    said.add(part);
    // a comma stays on the line of its word
    const [mark] = parts[k + 1].match(/^[.,:;]*/);
    parts[k + 1] = parts[k + 1].slice(mark.length);
    return h('span.word', null, term(part), mark);
  });
}

const PROSE_TERMS = ['sign-flip test', 'at once', 'ICC', 'bootstrap', 'paired', 'tolerance', 'equivalent'];

// A text with its settings in words and its terms explained. Names of one or two letters may be anything.
function prose(text) {
  const names = DATA.settings.filter((name, i) => name.length > 2 && nameOf(i) !== name).sort((x, y) => y.length - x.length);
  const pattern = new RegExp(`(?<![\\w/])(${[...names, ...PROSE_TERMS].map(escaped).join('|')})(?![\\w/])`, 'u');
  const said = new Set();
  return withCode(text, (words) => words.split(pattern).map((part, k) => {
    const setting = k % 2 ? DATA.settings.indexOf(part) : -1;
    if (setting >= 0) return named(setting);
    if (k % 2 === 0 || said.has(part)) return part;
    said.add(part);
    return term(part);
  }));
}

section({
  id: 'terms',
  title: 'Words used here',
  short: 'Words',
  on: ['measure'],
  render: () => h('dl.lines', null,
    [...Object.entries(TERMS), ...DATA.measures.map((name) => [name, aboutMeasure(name)])]
      .filter(([, about]) => about).map(([name, about]) => [h('dt', null, name), h('dd', null, about)])),
});
