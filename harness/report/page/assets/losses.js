// Where quality is lost, from a perfect score down to the one achieved.

const STAGES = ['parser', 'chunking', 'retriever', 'ranking', 'reranker'];
const LOST = {
  parser: 'not in the extracted text',
  chunking: 'cut apart or padded by chunking',
  retriever: 'not retrieved',
  ranking: 'ranked too low by the retriever',
  reranker: 'lost by the reranker',
};

function meanLosses(setting) {
  const columns = DATA.waterfall.losses[setting];
  if (!columns) return null;
  const rows = columns.query.map((q, k) => k).filter((k) => state.split === 'all' || DATA.queries.split[columns.query[k]] === state.split);
  if (!rows.length) return null;
  const mean = (name) => rows.reduce((sum, k) => sum + columns[name][k], 0) / rows.length / SCALE;
  return Object.fromEntries([...STAGES, 'final'].map((name) => [name, mean(name)]));
}

// What the retriever's order achieved, then the loss of each stage; what the reranker won back lies over the
// loss of ranking, which is where it comes from.
function lossBar(mean) {
  const place = (value) => `${(100 * Math.max(value, 0)).toFixed(3)}%`;
  const gain = Math.max(-mean.reranker, 0);
  let left = mean.final - gain;
  const parts = [g('rect.left', { x: 0, width: place(left), y: 2, height: 18 })];
  for (const name of [...STAGES].reverse()) {
    const loss = Math.max(mean[name], 0);
    if (loss > 0) parts.push(g(`rect.loss-${name}`, { x: place(left), width: place(loss), y: 2, height: 18 }));
    left += loss;
  }
  if (gain > 0) parts.push(g('rect.gain', { x: place(mean.final - gain), width: place(gain), y: 2, height: 18 }));
  return parts;
}

function worstTable(settings) {
  const rows = [];
  for (const i of settings) {
    const columns = DATA.waterfall.losses[i];
    if (!columns) continue;
    columns.query.forEach((query, k) => {
      if (state.split !== 'all' && DATA.queries.split[query] !== state.split) return;
      rows.push({ i, query, final: columns.final[k] / SCALE, blame: columns.blame[k], lost: Object.fromEntries(STAGES.map((s) => [s, columns[s][k] / SCALE])) });
    });
  }
  rows.sort((x, y) => x.final - y.final);
  return table([
    { key: 'query', title: 'question', value: (r) => DATA.queries.id[r.query], cell: (r) => queryCell(r.query) },
    { key: 'final', title: 'score', num: true, value: (r) => r.final, cell: (r) => fixed(r.final, 2) },
    { key: 'blame', title: 'lost most at', value: (r) => r.blame, cell: (r) => (r.blame ? [h(`i.key.loss-${r.blame}`, { 'aria-hidden': true }), r.blame] : NONE) },
    ...STAGES.map((name) => ({ key: name, title: name, num: true, about: LOST[name], value: (r) => r.lost[name], cell: (r) => (Math.abs(r.lost[name]) < 5e-4 ? h('span.soft', null, '0') : fixed(r.lost[name], 2)) })),
  ], rows, {
    caption: 'Queries and the stage that cost them most', sort: 'final', down: false, keep: 'worst', most: 10,
    open: (r) => openQuery(r.query, r.i), label: (r) => DATA.queries.text[r.query],
  });
}

section({
  id: 'losses',
  title: 'Where quality is lost',
  short: 'Losses',
  on: ['measure', 'split', 'worst'],
  render() {
    if (!DATA.waterfall) return h('p.lede', null, 'This folder has no waterfall.csv: newer versions of harness bench write it.');
    const rows = DATA.settings.map((_, i) => [i, meanLosses(i)]).filter(([, mean]) => mean).sort((x, y) => y[1].final - x[1].final);
    if (!rows.length) return null;
    const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
    const place = percentOf(0, 1);
    const gains = rows.some(([, mean]) => mean.reranker < -5e-4);
    const seen = STAGES.filter((name) => rows.some(([, mean]) => Math.abs(mean[name]) >= 5e-4));
    const lost = (i) => rows.some(([row]) => row === i);
    const picked = [state.worst, statistics().verdict?.leader, ...ranked('final')].find(lost) ?? rows[0][0];
    return [
      h('p.lede', null, `In units of ${DATA.waterfall.measure}, from a perfect 1 down to what is left. Each stage can only lose what the one before it kept, except a reranker, which may win some back.`),
      legend([['left', 'what is left'], ...(gains ? [['gain', 'of it won by the reranker']] : []),
        ...[...STAGES].reverse().filter((name) => seen.includes(name) && (name !== 'reranker' || rows.some(([, mean]) => mean.reranker > 5e-4))).map((name) => [`loss-${name}`, `${name}: ${LOST[name]}`])]),
      rowChart(rows.map(([i, mean]) => ({
        name: DATA.settings[i],
        value: fixed(mean.final),
        drawing: tip(strip([gridlines(ticks, place), lossBar(mean)], {
          label: STAGES.map((name) => `${name} ${fixed(mean[name])}`).join(', '),
        }), STAGES.map((name) => `${name} ${signed(-mean[name])}`).join('\n')),
      })), { ticks, place, caption: 'Losses by stage' }),
      h('div.tools', null, h('h3', null, 'Queries that lost most'), select('setting', rows.map(([i]) => [i, DATA.settings[i]]), picked, (value) => choose({ worst: Number(value) }), { 'data-keep': 'worst-setting' })),
      worstTable([picked]),
    ];
  },
});
