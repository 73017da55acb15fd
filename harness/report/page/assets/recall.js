// What an index misses, and what that saves: its recall against a scan, over the time of one query.

// The searches of an index: of each setting its retriever, and the routes of a fusion.
function indexRows() {
  return (DATA.prices || []).filter((row) => known(row.exact_share))
    .filter(({ stage }) => stage === 'retrieve' || stage.includes('.'))
    .map((row) => ({ ...row, i: row.setting, name: [nameOf(row.setting), row.stage.split('.').slice(1).join('.')].filter(Boolean).join(', ') }));
}

// Searches that no other one beats: none is as fast and misses no more, and is better in one of the two.
function leastMissed(points) {
  const beats = (o, p) => o.time <= p.time && o.recall >= p.recall && (o.time < p.time || o.recall > p.recall);
  return points.filter((p) => !points.some((o) => beats(o, p)));
}

// The searches of each index, by rising recall; two indexes differ in their build seconds.
function sameIndex(points) {
  const groups = new Map();
  for (const p of points.filter((point) => known(point.build_seconds))) {
    const key = `${p.build_seconds} ${p.index_bytes}`;
    groups.set(key, [...(groups.get(key) || []), p]);
  }
  return [...groups.values()].filter((group) => group.length > 1).map((group) => group.sort((p, o) => p.recall - o.recall));
}

// What tells a search from the others of its index, such as "ef search 16"; the whole name where it has none.
function telling(p, groups) {
  const others = groups.find((group) => group.includes(p))?.filter((o) => o !== p).map((o) => o.name.split(', ')) || [];
  const parts = p.name.split(', ').filter((part) => !others.some((name) => name.includes(part)));
  return parts.join(', ') || p.name;
}

function recallPlot(points) {
  const [low, high, ticks] = scoreRange(points.map((p) => ({ mean: p.recall })));
  const [from, to, steps] = nice(0, Math.max(...points.map((p) => p.time)) * 1.04, 5);
  const [front, groups] = [leastMissed(points), sameIndex(points)];
  const title = 'milliseconds that a search takes, the median';
  return plot(`recall of the index over ${title}; on the front: ${front.map((p) => p.name).join(', ')}`, 300, (width, height) => {
    const margin = { left: 48, right: 20, top: 28, bottom: 48 };
    const x = { ticks: steps, at: linear(from, to, margin.left, width - margin.right), text: amount, title };
    const y = { ticks, at: linear(low, high, height - margin.bottom, margin.top), text: tickText(ticks), title: 'recall of the index' };
    const dots = points.map((p) => ({ left: x.at(p.time) - 7, right: x.at(p.time) + 7, top: y.at(p.recall) - 7, bottom: y.at(p.recall) + 7 }));
    return [
      frame(width, height, margin, x, y),
      groups.map((group) => g('path.front', { d: path(group.map((p) => [x.at(p.time), y.at(p.recall)])) })),
      points.map((p) => tip(g(`circle.${front.includes(p) ? 'on-front' : 'off-front'}`, { cx: x.at(p.time), cy: y.at(p.recall), r: 5.5 }),
        `${p.name}: ${fixed(p.recall)} in ${amount(p.time)} ms`)),
      labels([...front, ...points.filter((p) => !front.includes(p))].map((p) => ({ x: x.at(p.time), y: y.at(p.recall), text: telling(p, groups) })), [margin.left + 4, width - 4], { taken: dots }),
    ];
  });
}

section({
  id: 'recall',
  title: 'What the index misses',
  short: 'Recall',
  on: [],
  render() {
    const rows = indexRows();
    // a scan misses nothing, and there is nothing to say of it alone
    if (!rows.some((row) => known(row.index_bytes) || row.exact_share < 1)) return null;
    const points = rows.filter((row) => known(row.latency_p50)).map((row) => ({ ...row, time: row.latency_p50, recall: row.exact_share }));
    const of = (key, title, about, text = amount) => (rows.some((row) => known(row[key]))
      ? [{ key, title, num: true, about, value: (r) => r[key], cell: (r) => text(r[key]) }] : []);
    return [
      h('p.lede', null, `Recall is the share of the truly nearest chunks, by a scan, that the index returned. Up and to the left is better${points.length > 1 ? '; a line joins searches of the same index' : ''}.`,
        !points.length && ' With latency: {queries: 50} in the configuration it is drawn over the time of a query.'),
      points.length > 1 && [
        legend([['on-front', 'none is as fast and misses no more'], ['off-front', 'another is as fast and misses less, or faster and misses no more']]),
        h('figure.panel', null, recallPlot(points)),
      ],
      table([
        { key: 'name', title: 'setting', value: (r) => r.name, cell: (r) => r.name },
        { key: 'exact_share', title: 'recall', num: true, about: 'Share of the truly nearest chunks that the index returned', value: (r) => r.exact_share, cell: (r) => fixed(r.exact_share) },
        ...of('latency_p50', 'ms', 'Milliseconds that a search takes, the median, with its vector'),
        ...of('latency_p95', 'ms, p95', 'Milliseconds that 19 of 20 searches take at most'),
        ...of('latency_in_batch', 'ms, in a batch', 'Milliseconds that a search takes where many queries are asked at once, the mean'),
        ...of('build_seconds', 'build', 'Seconds that filling the index took, without the vectors', seconds),
        ...of('index_bytes', 'MB', 'Files of the index, or what the store says', (bytes) => amount(known(bytes) ? bytes / 1e6 : null)),
        ...of('filter_share', 'filter', 'Share of all chunks that its filter leaves a query', percent),
        ...of('rows_share', 'rows', 'Share of the rows that pass `only`', percent),
      ], rows, { caption: 'Recall, time and size of every index', sort: 'exact_share', keep: 'recall', most: 30 }),
    ];
  },
});
