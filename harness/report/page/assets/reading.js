// How the score runs with what is read: one line a setting, over characters.

// The setting to use, those that lead elsewhere and the best: six lines are told apart.
const MOST_READ = 6;

function readingPlot(rows, names) {
  const { measure } = rows[0];
  const depths = [...new Set(rows.map((one) => one.characters))].sort((x, y) => x - y);
  const lines = names.map((name, kind) => ({ name, kind, points: rows.filter((one) => one.setting === name) }));
  const means = lines.flatMap((one) => one.points.map((point) => point.mean));
  const [low, high, ticks] = nice(Math.min(...means), Math.max(...means), 5);
  const title = `${measure} over characters read`;
  return plot(title, 260, (width, height) => {
    const margin = { left: 48, right: 18, top: 26, bottom: 48 };
    const log = linear(Math.log(depths[0]) - 0.12, Math.log(depths[depths.length - 1]) + 0.12, margin.left, width - margin.right);
    const x = { ticks: depths, at: (depth) => log(Math.log(depth)), text: whole, title: 'characters read' };
    const y = { ticks, at: linear(low, high, height - margin.bottom, margin.top), text: tickText(ticks), title: measure };
    return [
      frame(width, height, margin, x, y),
      lines.map(({ name, kind, points }) => g('g', { class: `line-${kind % 6}` },
        g('path.curve', { d: path(points.map((one) => [x.at(one.characters), y.at(one.mean)])) }),
        points.map((one) => tip(
          shape(kind, x.at(one.characters), y.at(one.mean), 4.5, { class: 'dot' }),
          `${nameOf(DATA.settings.indexOf(name))}, ${whole(one.characters)} characters read: ${fixed(one.mean)}`,
        )))),
    ];
  });
}

section({
  id: 'reading',
  title: 'How much is read',
  on: ['measure'],
  render() {
    const found = statistics()?.glance;
    const rows = found?.reading?.rows || [];
    if (!rows.length) return null;
    const leaders = new Map();
    for (const row of rows) {
      const leader = leaders.get(row.characters);
      if (!leader || leader.mean < row.mean) leaders.set(row.characters, row);
    }
    const best = [...leaders.values()].map((row) => row.setting);
    const ranked = found.settings.map((one) => one.setting);
    const names = [...new Set([chosen(found.settings).setting, ...best, ...ranked])].filter((name) => rows.some((one) => one.setting === name)).slice(0, MOST_READ);
    return [
      h('p.lede', null, `${rows[0].measure} if so many characters of a ranking are read. Where rankings end, a line is flat: deeper ones might rise further.`, found.reading.others && ` ${found.reading.others}`),
      h('figure.panel', null,
        readingPlot(rows, names),
        h('ul.legend', null, names.map((name, kind) => h('li', null,
          g('svg.swatch', { width: 30, height: 14, 'aria-hidden': true }, g('g', { class: `line-${kind % 6}` }, g('path.curve', { d: 'M1,7L29,7' }), shape(kind, 15, 7, 4.5, { class: 'dot' }))),
          foreign(nameOf(DATA.settings.indexOf(name))))))),
    ];
  },
});
