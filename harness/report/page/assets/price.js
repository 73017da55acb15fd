// The cost of quality: tokens to read, work and time, and the settings that nothing beats at their price.

const PRICES = {
  tokens_read: ['tokens a reader must read', amount],
  seconds: ['seconds of computing', seconds],
  latency_p50: ['milliseconds that one query takes, the median', amount],
  latency_p95: ['milliseconds that 19 of 20 queries take at most', amount],
  latency_p99: ['milliseconds that 99 of 100 queries take at most', amount],
  latency_in_batch: ['milliseconds that a query takes where many are asked at once, the mean', amount],
  index_tokens: ['tokens in the index', amount],
  rerank_tokens: ['tokens that the reranker reads', amount],
  rerank_pairs: ['pairs that the reranker scores', amount],
  cost_per_1000: ['cost of a thousand queries', amount],
  endpoint_cost: ['cost of vectors and scores', amount],
  context_cost: ['cost of what is indexed around all chunks', amount],
  read_cost: ['cost of what is read for all chunks', amount],
  judge_cost: ['cost of the judgments', amount],
  index_cost: ['cost of the vectors of the chunks', amount],
  build_seconds: ['seconds that building the index took', seconds],
  index_bytes: ['bytes of the index', amount],
};
// Shares beside them, which are no cost.
const SHARES = { exact_share: 'share of the truly nearest chunks that the index returned', filter_share: 'share of all chunks that the filter leaves a query', rows_share: 'share of the rows that pass `only`' };

// The price row of a setting at the stage shown, with what the measure shown reads; other costs are of the search.
function priceRow(setting) {
  const stage = DATA.stages[stageOf(setting)];
  const row = DATA.prices.find((one) => one.setting === setting && one.stage === stage);
  const read = row?.read[measureOf()];
  return row ? { ...row, tokens_read: read?.tokens ?? null, depth: read?.depth ?? null } : null;
}

// Settings that no other one beats: none is as cheap and as good, and better in one of the two; nor is a better one
// better for its price as well, as any is than one that finds nothing.
function onFront(points) {
  const beats = (o, p) => (o.cost <= p.cost && o.mean >= p.mean && (o.cost < p.cost || o.mean > p.mean)) || (o.mean > p.mean && o.mean * p.cost > p.mean * o.cost);
  return points.filter((p) => !points.some((o) => beats(o, p)));
}

// The same for a measure that compares only settings over the same chunks, where these cut differently: none.
function frontOf(points) {
  return statistics().verdict?.comparable === false ? [] : onFront(points);
}

// Prices in words. The seconds of a setting are its cost only where this run computed all of its work: what came
// from the cache, or was computed for another setting, took it none.
function priceOf(row, key) {
  return key === 'seconds' && !isComputed(row) ? null : row.price[key];
}

function isComputed({ price }) {
  return !known(price.seconds_computed_share) || price.seconds_computed_share >= 0.999;
}

// The prices to plot. Seconds are plotted only where every setting has its own.
function plottable(keys, rows) {
  return keys.filter((key) => (key === 'seconds' ? rows.every(isComputed) : rows.some((row) => known(priceOf(row, key)))));
}

function pricePlot(points, key) {
  const [title, text] = PRICES[key];
  const [low, high, ticks] = scoreRange(points.map((p) => ({ mean: p.mean })));
  const [from, to, steps] = nice(Math.min(0, ...points.map((p) => p.cost)), Math.max(...points.map((p) => p.cost)) * 1.04, 5);
  const front = frontOf(points).sort((p, o) => p.cost - o.cost || p.mean - o.mean);
  return plot(`${state.measure} over ${title}; ${front.length ? `on the front: ${front.map((p) => p.name).join(', ')}` : 'without a front'}`, 380, (width, height) => {
    const margin = { left: 48, right: 20, top: 28, bottom: 48 };
    const x = { ticks: steps, at: linear(from, to, margin.left, width - margin.right), text, title };
    const y = { ticks, at: linear(low, high, height - margin.bottom, margin.top), text: tickText(ticks), title: state.measure };
    const stairs = front.flatMap((p, k) => (k ? [[x.at(p.cost), y.at(front[k - 1].mean)], [x.at(p.cost), y.at(p.mean)]] : [[x.at(p.cost), y.at(p.mean)]]));
    // labels keep clear of the points and of the line
    const line = stairs.slice(1).map(([right, bottom], k) => [stairs[k], [right, bottom]]).map(([[x1, y1], [x2, y2]]) => (
      { left: Math.min(x1, x2) - 3, right: Math.max(x1, x2) + 3, top: Math.min(y1, y2) - 3, bottom: Math.max(y1, y2) + 3 }));
    const dots = points.map((p) => ({ left: x.at(p.cost) - 7, right: x.at(p.cost) + 7, top: y.at(p.mean) - 7, bottom: y.at(p.mean) + 7 }));
    return [
      frame(width, height, margin, x, y),
      front.length > 0 && g('path.front', { d: path(stairs) }),
      [...points.filter((p) => !front.includes(p)), ...front].map((p) => tip(g(`circle.${front.includes(p) ? 'on-front' : 'off-front'}`, { cx: x.at(p.cost), cy: y.at(p.mean), r: 5.5 }),
        `${p.name}: ${fixed(p.mean)} at ${text(p.cost)}`)),
      labels((front.length ? [...front].reverse() : points).map((p) => ({ x: x.at(p.cost), y: y.at(p.mean), text: p.name })), [margin.left + 4, width - 4], { taken: [...dots, ...line] }),
    ];
  });
}

// Tokens are counted over all queries, and so the mean is of them too.
function perPoint({ i, price }) {
  const mean = summary(i)?.mean;
  return known(price.tokens_read) && mean > 0 ? price.tokens_read / (100 * mean) : null;
}

section({
  id: 'price',
  title: 'What quality costs',
  short: 'Cost',
  on: ['measure', 'stage', 'split', 'price'],
  render() {
    if (!DATA.prices) return h('p.lede', null, 'This folder has no prices.csv: newer versions of harness bench write it.');
    const rows = ranked().map((i) => ({ i, name: nameOf(i), price: priceRow(i), mean: summary(i, { split: state.split })?.mean })).filter((row) => row.price);
    if (!rows.length) return null;
    const keys = Object.keys(PRICES).filter((key) => rows.some((row) => known(row.price[key]) && row.price[key] > 0));
    const drawn = plottable(keys, rows);
    const key = drawn.includes(state.price) ? state.price : drawn[0];
    const points = rows.map((row) => ({ ...row, cost: priceOf(row, key) })).filter((p) => known(p.cost) && known(p.mean));
    const front = frontOf(points).map((p) => p.i);
    const depth = rows.find((row) => row.price.depth)?.price.depth;
    const tokens = depth ? `; tokens are what ${state.measure} reads: ${depth}` : '';
    const cached = !rows.every(isComputed);
    return [
      h('p.lede', null, front.length || !points.length
        ? `Up and to the left is better. Settings on the line are beaten by none: no other is as good and costs no more, and no better one gives more for its cost${tokens}.`
        : `No line joins the settings that none beats: the measure compares only settings over the same chunks${tokens}.`, state.split !== 'all' && ' Costs are over all queries.'),
      h('div.tools', null, select('cost', drawn.map((name) => [name, PRICES[name][0]]), key, (price) => choose({ price }), { 'data-keep': 'price' })),
      points.length > 1 ? [
        front.length > 0 && legend([['on-front', 'on the line'], ...(front.length < points.length ? [['off-front', 'beaten: another is as good and costs no more, or is better and gives more for its cost']] : [])]),
        h('figure.panel', null, pricePlot(points, key)),
      ] : null,
      table([
        settingColumn((r) => r.i, (r) => front.includes(r.i) && [' ', badge('lead', 'on the line')]),
        { key: 'mean', title: breakable(state.measure), num: true, value: (r) => r.mean, cell: (r) => fixed(r.mean) },
        ...keys.map((name) => ({ key: name, title: name.replaceAll('_', ' '), num: true, about: PRICES[name][0], value: (r) => priceOf(r, name), cell: (r) => PRICES[name][1](priceOf(r, name)) })),
        ...Object.keys(SHARES).filter((name) => rows.some((r) => known(r.price[name]) && r.price[name] < 1))
          .map((name) => ({ key: name, title: name.replaceAll('_', ' '), num: true, about: SHARES[name], value: (r) => r.price[name], cell: (r) => percent(r.price[name], 1) })),
        ...(keys.includes('tokens_read') ? [{ key: 'point', title: 'tokens per point', num: true, about: `Tokens read for each 0.01 of ${state.measure}, over all queries`, value: perPoint, cell: (r) => amount(perPoint(r)) }] : []),
        ...(cached ? [{ key: 'computed', title: 'computed', num: true, about: 'Share of the work that was computed in this run and not found in the cache', value: (r) => r.price.seconds_computed_share, cell: (r) => percent(r.price.seconds_computed_share) }] : []),
      ], rows, { caption: 'Costs by setting', sort: 'mean', keep: 'price', most: 30 }),
      cached ? h('p.small.soft', null, 'Seconds are given only where this run computed all vectors and scores of a setting, for it alone. A dash: it has none, or some came from the cache or were computed for another setting.') : null,
    ];
  },
});
