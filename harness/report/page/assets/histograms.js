// How scores are distributed: over queries, and of the retriever's best passage.

const BINS = 20;

function bars(values, [low, high], bins = BINS) {
  const counts = new Array(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, Math.max(0, Math.floor(((value - low) / (high - low || 1)) * bins)))] += 1;
  return counts;
}

function histogram(groups, label, { low, high, text = (x) => fixed(x, 1) }) {
  const largest = Math.max(1e-9, ...groups.flatMap((group) => group.share));
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
    if (row && row[1].length) out[DATA.queries.answerable[query] ? 'answerable' : 'unanswerable'].push(row[1][0]);
  });
  return out;
}

function answerablePanel(setting) {
  const scores = topScores(setting);
  if (!scores.unanswerable.length || !scores.answerable.length) return null;
  const all = [...scores.answerable, ...scores.unanswerable];
  const ends = [Math.min(...all), Math.max(...all)];
  const share = (values) => bars(values, ends).map((n) => n / values.length);
  const stage = DATA.stages[stageOf(setting)];
  const row = (DATA.answerability || []).find((one) => one.setting === setting && one.stage === stage);
  return h('div.small-panel', null,
    h('h4', null, foreign(DATA.settings[setting], 'span')),
    histogram([{ kind: 'of-answerable', share: share(scores.answerable) }, { kind: 'of-unanswerable', share: share(scores.unanswerable) }],
      `Scores of the first passage, ${fixed(ends[0], 2)} to ${fixed(ends[1], 2)}`, { low: ends[0], high: ends[1], text: (x) => fixed(x, 2) }),
    row && h('p.small.num', null, `AUROC ${fixed(row.auroc, 2)}`, known(row.ci_low) && h('span.soft', null, ` (${range(row.ci_low, row.ci_high, 2)})`)));
}

section({
  id: 'histograms',
  title: 'How scores are spread',
  short: 'Scores',
  on: ['measure', 'stage', 'split'],
  render() {
    const order = ranked();
    const chosen = order.slice(0, 12);
    const panels = chosen.map((i) => {
      const values = DATA.queries.id.map((_, q) => (queryMatches(q, { text: '', type: '' }) ? score(i, q) : null)).filter(known);
      if (!values.length) return null;
      const zeros = values.filter((v) => v === 0).length;
      const ones = values.filter((v) => v >= 0.9995).length;
      return h('div.small-panel', null,
        h('h4', null, foreign(DATA.settings[i], 'span')),
        histogram([{ kind: 'of-all', share: bars(values, [0, 1]) }], `${DATA.settings[i]}: ${zeros} queries at 0, ${ones} at 1`, { low: 0, high: 1, text: (x) => fixed(x, 0) }),
        h('p.small.soft.num', null, `${whole(zeros)} at 0, ${whole(ones)} at 1`));
    }).filter(Boolean);
    if (!panels.length) return null;
    const answers = DATA.detail.rankings.length ? chosen.map(answerablePanel).filter(Boolean) : [];
    return [
      h('p.lede', null, `Questions by their ${state.measure}. The mean hides whether a setting is middling throughout or right and wrong by turns.`),
      h('div.smalls', null, panels),
      order.length > chosen.length && h('p.small.soft', null, `The first ${chosen.length} of ${order.length} settings.`),
      answers.length ? [
        h('h3', null, 'Does the score of the first passage tell unanswerable questions?'),
        legend([['of-answerable', 'answerable'], ['of-unanswerable', 'unanswerable, shares of each']]),
        h('div.smalls', null, answers),
        h('p.small.soft', null, 'AUROC: the chance that an answerable question has the higher score; 0.5 is a coin toss.'),
      ] : null,
    ];
  },
});
