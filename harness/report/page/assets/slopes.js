// Before and after the reranker: a slope per setting, and the test of all of them at once.

function rerankedRows() {
  return (statistics().reranked || []).map(([i, , difference, low, high, p, words, wins, ties, losses, before, after, n]) => {
    const few = n < FEWEST;
    return { i, difference, low: few ? null : low, high: few ? null : high, p, words, wins, ties, losses, before, after, n, real: isFound(words) };
  }).sort((x, y) => y.after - x.after);
}

function slopeKind(row) {
  if (!row.real) return 'open';
  return row.difference > 0 ? 'up' : 'down';
}

function slopePlot(rows) {
  const ends = rows.flatMap((row) => [{ mean: row.before }, { mean: row.after }]);
  const values = ends.map((one) => one.mean);
  const room = Math.max((Math.max(...values) - Math.min(...values)) * 0.1, 0.01);
  const [low, high, ticks] = nice(Math.min(...values) - room, Math.max(...values) + room, 5);
  return plot(`${state.measure} before and after the reranker`, 300, (width, height) => {
    const wide = width > 560;
    const margin = { left: 56, right: wide ? 300 : 24, top: 28, bottom: 34 };
    const [from, to] = [margin.left + 30, width - margin.right - 10];
    const x = { ticks: [0, 1], at: linear(0, 1, from, to), text: (end) => (end ? 'reranked' : 'retrieved'), title: '' };
    const y = { ticks, at: linear(low, high, height - margin.bottom, margin.top), text: tickText(ticks), title: state.measure };
    return [
      frame(width, height, margin, x, y),
      rows.map((row) => tip(g(`g.slope.${slopeKind(row)}`, null,
        g('line', { x1: from, x2: to, y1: y.at(row.before), y2: y.at(row.after) }),
        g('circle', { cx: from, cy: y.at(row.before), r: 4.5 }),
        g('circle', { cx: to, cy: y.at(row.after), r: 4.5 })),
      `${nameOf(row.i)}: ${fixed(row.before)} to ${fixed(row.after)}`)),
      wide ? labels(rows.map((row) => ({ x: to, y: y.at(row.after), text: nameOf(row.i) })), [to + 2, width]) : null,
    ];
  });
}

section({
  id: 'reranked',
  title: 'What the reranker does',
  short: 'Reranker',
  on: ['measure'],
  render() {
    const rows = rerankedRows();
    if (!rows.length) return null;
    const kinds = [['up', 'better'], ['down', 'worse'], ['open', 'no difference found']].filter(([kind]) => rows.some((row) => slopeKind(row) === kind));
    return [
      h('p.lede', null, prose(`Every reranked setting against its own retrieval, over all queries. Intervals and p are of ${rows.length > 1 ? `one test at once of all ${whole(rows.length)} settings` : 'one test'}: better or worse where the interval excludes 0.`)),
      legend(kinds.map(([kind, text]) => [`slope-${kind}`, text])),
      h('figure.panel', null, slopePlot(rows)),
      table([
        settingColumn((r) => r.i),
        { key: 'n', title: 'n', num: true, value: (r) => r.n, cell: (r) => whole(r.n) },
        { key: 'before', title: 'retrieved', num: true, value: (r) => r.before, cell: (r) => fixed(r.before) },
        { key: 'after', title: 'reranked', num: true, value: (r) => r.after, cell: (r) => h('b', null, fixed(r.after)) },
        { key: 'difference', title: 'difference', num: true, value: (r) => r.difference, cell: (r) => [signed(r.difference), known(r.low) && h('small.soft', null, ` ${range(r.low, r.high)}`)] },
        { key: 'p', title: 'p', num: true, value: (r) => r.p, cell: (r) => chance(r.p) },
        ...boundColumns((r) => r),
        ...['wins', 'ties', 'losses'].map((key) => fileColumn(key, (r) => r[key])),
        { key: 'won', pageOnly: true, title: 'won / tied / lost', num: true, about: 'Queries', value: (r) => r.wins - r.losses, cell: (r) => `${whole(r.wins)} / ${whole(r.ties)} / ${whole(r.losses)}` },
        { key: 'found', title: 'found', value: (r) => r.words, cell: (r) => term(r.words) },
      ], rows, { caption: 'Before and after the reranker', sort: 'after', keep: 'reranked', most: 30 }),
    ];
  },
});
