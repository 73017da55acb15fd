// Terms, each with one short explanation: the same wherever it stands, on hover, focus and tap.

const TERMS = {
  interval: 'Where the true value may lie, for more questions of this kind: wider with fewer questions.',
  'use this': 'Recommended: better than the others where a difference was found, else the one to lose least with.',
  'may be best': 'No other setting was found to be better.',
  'ruled out': 'Another setting is better by more than chance explains.',
  better: 'The whole interval is above 0: more than chance explains.',
  worse: 'The whole interval is below 0: more than chance explains.',
  'no difference found': 'The interval includes 0. The two may be equal, or the questions too few to tell.',
  equal: 'The whole interval lies within the tolerance: any difference is too small to matter.',
  'depends on labels': 'The sign changes when labels are taken longer or shorter, so it is no finding.',
  'not comparable': 'The measure compares only settings over the same chunks.',
  'rankings end early': 'What the other setting reads was not retrieved here: with deeper rankings this may turn.',
  left: 'The score that the setting reaches.',
  paired: 'Two settings are compared question by question, which is far more precise than comparing two means.',
  p: 'How often chance alone would show a difference as large as this one.',
  group: 'Use this, may be best, or ruled out, as on the first screen.',
  'too few questions': 'Fewer than 30 questions: chance decides too much.',
  tolerance: 'The largest difference that is called too small to matter.',
  'sign-flip test': 'Swaps two settings at random, question by question: a difference that such swaps seldom reach is no chance.',
  simultaneous: 'All intervals hold together, so looking at many pairs finds no more by chance.',
  ICC: 'How alike questions on one document are: at 0 each counts in full, at 1 all of them count as one.',
  bootstrap: 'The mean is computed again and again from questions drawn at random, to see how much it varies.',
  judged: 'The share of what was ranked that people or a model graded.',
  train: 'Questions for choosing a setting.',
  validation: 'Questions kept aside, to see what the choice is worth.',
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

const PROSE_TERMS = ['sign-flip test', 'at once', 'ICC', 'bootstrap', 'paired', 'tolerance', 'equivalent'];

// A text with its settings in words and its terms explained. Names of one or two letters may be anything.
function prose(text) {
  const names = DATA.settings.filter((name, i) => name.length > 2 && nameOf(i) !== name).sort((x, y) => y.length - x.length);
  const pattern = new RegExp(`(?<![\\w/])(${[...names, ...PROSE_TERMS].map(escaped).join('|')})(?![\\w/])`, 'u');
  const said = new Set();
  return text.split(pattern).map((part, k) => {
    const setting = k % 2 ? DATA.settings.indexOf(part) : -1;
    if (setting >= 0) return named(setting);
    if (k % 2 === 0 || said.has(part)) return part;
    said.add(part);
    return term(part);
  });
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
