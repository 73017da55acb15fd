// How scores are distributed: over queries, and of the retriever's best passage.

const BINS = 20;
// Fewer queries than this have no distribution to speak of.
const FEWEST_SPREAD = 10;

function bars(values, [low, high], bins = BINS) {
  const counts = new Array(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, Math.max(0, Math.floor(((value - low) / (high - low || 1)) * bins)))] += 1;
  return counts;
}

// The tallest of all bars of a row of panels: their common scale.
function tallest(panels) {
  return Math.max(1e-9, ...panels.flatMap((panel) => panel.groups.flatMap((group) => group.share)));
}

// The queries that bars and AUROC are of: the page has rankings of some, and neither follows the choice of queries.
function queriesTold() {
  const drilled = DATA.detail.drilled?.length;
  if (drilled) return ` The bars are of the ${count(drilled, 'query', 'queries')} whose rankings are on this page, AUROC of all queries.`;
  return state.split === 'all' ? '' : ' Bars and AUROC are over all queries.';
}

// Bars of one panel; `largest` fills its height.
function histogram(groups, label, { low, high, largest, text = (x) => fixed(x, 1) }) {
  const bins = groups[0].share.length;
  return h('figure.histogram', null,
    g('svg', { viewBox: '0 0 200 62', preserveAspectRatio: 'none', width: '100%', height: 72, role: 'img', 'aria-label': label },
      groups.map((group) => group.share.map((share, k) => share > 0 && g(`rect.${group.kind}`, {
        x: (k * 200) / bins + 0.6, width: 200 / bins - 1.2, y: 60 - (share / largest) * 58, height: (share / largest) * 58,
      }))),
      g('line.axis-line', { x1: 0, x2: 200, y1: 60.5, y2: 60.5 })),
    h('div.histogram-ends.num', { 'aria-hidden': true }, h('span', null, text(low)), h('span', null, text(high))));
}

function topScores(setting) {
  const s = stageOf(setting);
  const rows = DATA.detail.rankings[s]?.[setting] || [];
  const out = { answerable: [], unanswerable: [] };
  rows.forEach((row, query) => {
    const side = sideOf(query);
    if (side && row?.[1].length) out[side].push(row[1][0]);
  });
  return out;
}

function answerableGroups(setting) {
  const scores = topScores(setting);
  const all = [...scores.answerable, ...scores.unanswerable];
  if (!scores.unanswerable.length || !scores.answerable.length || all.length < FEWEST_SPREAD) return null;
  const ends = [Math.min(...all), Math.max(...all)];
  const share = (values) => bars(values, ends).map((n) => n / values.length);
  return {
    setting,
    ends,
    groups: [{ kind: 'of-answerable', share: share(scores.answerable) }, { kind: 'of-unanswerable', share: share(scores.unanswerable) }],
  };
}

function answerablePanel({ setting, ends: [low, high], groups }, largest) {
  const stage = DATA.stages[stageOf(setting)];
  const row = (DATA.answerability || []).find((one) => one.setting === setting && one.stage === stage);
  return h('div.small-panel', null,
    h('h3', null, named(setting)),
    histogram(groups, `Scores of the first passage, ${fixed(low, 2)} to ${fixed(high, 2)}`, { low, high, largest, text: (x) => fixed(x, 2) }),
    row && h('p.small.num', null, `AUROC ${fixed(row.auroc, 2)}`, known(row.ci_low) && h('span.soft', null, ` (${range(row.ci_low, row.ci_high, 2)})`)));
}

function spreadOf(setting) {
  const values = DATA.queries.id.map((_, q) => (queryMatches(q, { text: '', type: '' }) ? score(setting, q) : null)).filter(known);
  return { setting, values, groups: [{ kind: 'of-all', share: bars(values, [0, 1]) }] };
}

function spreadPanel({ setting, values, groups }, largest) {
  const zeros = values.filter((v) => v === 0).length;
  const ones = values.filter((v) => v >= 0.9995).length;
  return h('div.small-panel', null,
    h('h3', null, named(setting)),
    histogram(groups, `${nameOf(setting)}: ${zeros} queries at 0, ${ones} at 1`, { low: 0, high: 1, largest, text: (x) => fixed(x, 0) }),
    h('p.small.soft.num', null, `${whole(zeros)} at 0, ${whole(ones)} at 1`));
}

section({
  id: 'histograms',
  title: 'How scores are spread',
  short: 'Scores',
  on: ['measure', 'stage', 'split'],
  render() {
    const order = ranked();
    const chosen = order.slice(0, 12);
    const spreads = chosen.map(spreadOf).filter((one) => one.values.length);
    if (!spreads.length) return null;
    const drawn = spreads.filter((one) => one.values.length >= FEWEST_SPREAD);
    const largest = tallest(drawn);
    const answers = DATA.detail.rankings.length ? chosen.map(answerableGroups).filter(Boolean) : [];
    return [
      drawn.length ? [
        h('p.lede', null, `Queries by their ${state.measure}. The mean hides whether a setting is middling throughout or right and wrong by turns. All panels have one scale: a bar of full height is ${count(largest, 'query', 'queries')}.`),
        h('div.smalls', null, drawn.map((one) => spreadPanel(one, largest))),
      ] : null,
      drawn.length < spreads.length && h('p.small.soft', null, `${drawn.length ? count(spreads.length - drawn.length, 'setting is', 'settings are') : 'Histograms are'} left out: fewer than ${FEWEST_SPREAD} queries have a value of ${state.measure}.`),
      order.length > chosen.length && h('p.small.soft', null, `The first ${chosen.length} of ${order.length} settings.`),
      answers.length ? [
        h('h3', null, 'Does the score of the first passage tell unanswerable queries?'),
        legend([['of-answerable', 'answerable'], ['of-unanswerable', 'unanswerable, shares of each']]),
        h('div.smalls', null, answers.map((one) => answerablePanel(one, tallest(answers)))),
        h('p.small.soft', null, `A bar of full height is ${percent(tallest(answers))} in every panel; from left to right each has its own range. AUROC: the chance that an answerable query has the higher score; 0.5 is a coin toss.${queriesTold()}`),
      ] : null,
    ];
  },
});
