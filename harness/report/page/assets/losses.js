// Where quality is lost, from a perfect score down to the one achieved.

// The class of a part's colour; of several steps that change the order, each has its own.
function lossClass(k) {
  const { parts } = DATA.losses;
  const before = parts.slice(0, k).filter((one) => one.part === parts[k].part).length % 3;
  return `loss-${parts[k].part}${before ? `-${before}` : ''}`;
}

// The mean loss of every part, null where a way has none such, and what is left; null without a query.
function meanLosses(way) {
  const rows = [...way.query.keys()].filter((k) => state.split === 'all' || DATA.queries.split[way.query[k]] === state.split);
  if (!rows.length) return null;
  const mean = (values) => rows.reduce((sum, k) => sum + values[k], 0) / rows.length / SCALE;
  return { losses: way.losses.map((values) => values && mean(values)), left: mean(way.left) };
}

// A part of a bar, between two shares of its width; null where there is nothing of it.
function barPart(kind, from, to) {
  return to > from ? g(`rect.${kind}`, { x: `${(100 * from).toFixed(3)}%`, width: `${(100 * (to - from)).toFixed(3)}%`, y: 2, height: 18 }) : null;
}

// A bar for each of rows [way, mean], and what its colours mean; `left` and `gained` are the words for what is left and won.
function lossFigure(rows, { parts, classOf, left, gained, name, bar, caption }) {
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const place = percentOf(0, 1);
  const there = parts.map((_, k) => k);
  const gains = there.filter((k) => rows.some(([, mean]) => mean.losses[k] < -5e-4)).map((k) => parts[k].name);
  const lost = there.filter((k) => rows.some(([, mean]) => mean.losses[k] > 5e-4));
  const told = (mean, text) => there.filter((k) => known(mean.losses[k])).map((k) => `${parts[k].name} ${text(mean.losses[k])}`);
  return [
    legend([['left', left], ...(gains.length ? [['gain', `${gained} ${gains.join(', ')}`]] : []),
      ...lost.reverse().map((k) => [classOf(k), parts[k].about.includes(parts[k].name) ? parts[k].about : `${parts[k].name}: ${parts[k].about}`])]),
    rowChart(rows.map(([way, mean]) => ({
      name: name(way),
      value: fixed(mean.left),
      drawing: tip(strip([gridlines(ticks, place), bar(mean)], {
        label: told(mean, (loss) => fixed(loss)).join(', '),
      }), told(mean, (loss) => signed(-loss)).join('\n')),
    })), { ticks, place, caption }),
  ];
}

// From a perfect 1 down, the loss of each part, then what is left; what later steps won back lies over the
// losses before them, which is where it comes from.
function lossBar(mean) {
  const parts = [];
  let at = 1;
  mean.losses.forEach((loss, k) => {
    if (!(loss > 0)) return;
    const to = Math.max(at - loss, 0);
    parts.push(barPart(lossClass(k), to, at));
    at = to;
  });
  parts.push(barPart('left', 0, at));
  mean.losses.forEach((loss) => {
    if (!(loss < 0)) return;
    parts.push(barPart('gain', at, Math.min(at - loss, 1)));
    at = Math.min(at - loss, 1);
  });
  return parts;
}

function worstTable(way, { parts, classOf, keep, title } = { parts: DATA.losses.parts, classOf: lossClass, keep: 'worst', title: DATA.losses.measure }) {
  const rows = way.query
    .map((query, k) => ({ query, left: way.left[k] / SCALE, blame: way.blame[k], lost: way.losses.map((values) => values && values[k] / SCALE) }))
    .filter((row) => state.split === 'all' || DATA.queries.split[row.query] === state.split)
    .sort((x, y) => x.left - y.left);
  const there = parts.map((_, k) => k).filter((k) => way.losses[k]);
  return table([
    ...queryColumns(),
    { key: 'left', title, num: true, value: (r) => r.left, cell: (r) => fixed(r.left, 2) },
    { key: 'blame', title: 'largest losses', value: (r) => parts[r.blame]?.name ?? '', cell: (r) => (known(r.blame) ? [h(`i.key.${classOf(r.blame)}`, { 'aria-hidden': true }), parts[r.blame].name] : NONE) },
    ...there.map((k) => ({ key: `lost-${k}`, head: parts[k].name, title: parts[k].name, num: true, about: parts[k].about, value: (r) => r.lost[k], cell: (r) => (Math.abs(r.lost[k]) < 5e-4 ? h('span.soft', null, '0') : fixed(r.lost[k], 2)) })),
  ], rows, {
    caption: `Queries by ${title}, and the part that cost them most`, sort: 'left', down: false, keep, most: 10,
    open: (r) => openQuery(r.query, way.setting), label: (r) => DATA.queries.text[r.query],
  });
}

// Why losses have another unit than the measure that decides, where they have.
function lossUnit() {
  const { measure } = DATA.losses;
  if (!DATA.headline || measure === DATA.headline) return '';
  return ` (not ${DATA.headline}, which counts the chunks themselves and cannot say what cutting them costs)`;
}

function noValues() {
  return DATA.settings.every((_, i) => !summary(i)?.n);
}

section({
  id: 'losses',
  title: 'Where quality is lost',
  short: 'Losses',
  on: ['measure', 'split', 'worst'],
  render() {
    if (!DATA.losses && noValues()) return h('p.lede', null, `No query has a value of ${state.measure}: nothing is known of what is lost.`);
    if (!DATA.losses) return h('p.lede', null, 'This folder has no waterfall.csv: newer versions of harness bench write it.');
    const { parts, ways } = DATA.losses;
    const all = ways.map((way) => [way, meanLosses(way)]).filter(([, mean]) => mean);
    const whole = all.filter(([way]) => !way.route).sort((x, y) => y[1].left - x[1].left);
    if (!whole.length) return null;
    // the routes of a fusion are below their setting
    const rows = whole.flatMap((row) => [row, ...all.filter(([way]) => way.route && way.setting === row[0].setting)]);
    const settings = whole.map(([way]) => way.setting);
    const picked = [state.worst, statistics().verdict?.leader, ...ranked('final')].find((i) => settings.includes(i)) ?? settings[0];
    return [
      h('p.lede', null, `In units of ${DATA.losses.measure}${lossUnit()}, from a perfect 1 down to what is left. What is not found or ranked too low is counted at the first step that ranks. Only a later step may win back what was lost. ${DATA.losses.gap ?? ''}`),
      lossFigure(rows, {
        parts, classOf: lossClass, left: 'what is left', gained: 'of it won', bar: lossBar, caption: `Losses of ${DATA.losses.measure} by part`,
        name: (way) => (way.route ? `↳ ${way.route} alone` : nameOf(way.setting)),
      }),
      h('div.tools', null, h('h3', null, 'Queries that lost most'), select('setting', settingOptions(settings), picked, (value) => choose({ worst: Number(value) }), { 'data-keep': 'worst-setting' })),
      worstTable(whole.find(([way]) => way.setting === picked)[0]),
    ];
  },
});
