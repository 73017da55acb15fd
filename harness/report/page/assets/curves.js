// The measure over the chunk size, one line for settings that share everything else.

// What the settings of a line share, in words; the settings of one line differ in their size alone.
function lineLabel({ points }) {
  const said = points.map(([, setting]) => nameOf(setting).split(', '));
  return said[0].filter((word) => said.every((other) => other.includes(word))).join(', ') || nameOf(points[0][1]);
}

function curvePlot(lines, unit) {
  const points = lines.flatMap((one) => one.points);
  const sizes = [...new Set(points.map(([size]) => size))].sort((x, y) => x - y);
  const row = (setting) => summary(setting, { split: state.split });
  const [low, high, ticks] = scoreRange(points.map(([, setting]) => row(setting)));
  return plot(`${state.measure} over chunk size in ${unit}`, 330, (width, height) => {
    const margin = { left: 48, right: 18, top: 26, bottom: 48 };
    const log = linear(Math.log(sizes[0]) - 0.12, Math.log(sizes[sizes.length - 1]) + 0.12, margin.left, width - margin.right);
    // sizes too close to each other for their numbers keep their dots and lose their ticks
    const ticked = [];
    for (const size of sizes) {
      if (!ticked.length || log(Math.log(size)) - log(Math.log(ticked[ticked.length - 1])) >= 44) ticked.push(size);
    }
    const x = { ticks: ticked, at: (size) => log(Math.log(size)), text: whole, title: `chunk size, ${unit}` };
    const y = { ticks, at: linear(low, high, height - margin.bottom, margin.top), text: tickText(ticks), title: state.measure };
    return [
      frame(width, height, margin, x, y),
      lines.map((one) => {
        const drawn = one.points.map(([size, setting]) => [size, setting, row(setting)]).filter(([, , r]) => known(r?.mean));
        // many lines: intervals as bars next to each other instead of bands over each other
        const aside = lines.length > 2 ? (one.kind - (lines.length - 1) / 2) * 5 : 0;
        const bounded = drawn.filter(([, , r]) => known(r.low));
        const band = [...bounded.map(([size, , r]) => [x.at(size), y.at(r.high)]), ...bounded.map(([size, , r]) => [x.at(size), y.at(r.low)]).reverse()];
        return g('g', { class: `line-${one.kind % 6}` },
          lines.length <= 2 && bounded.length > 1 && g('path.band', { d: `${path(band)}Z` }),
          (lines.length > 2 || bounded.length === 1) && bounded.map(([size, , r]) => g('line.thin', { x1: x.at(size) + aside, x2: x.at(size) + aside, y1: y.at(r.low), y2: y.at(r.high) })),
          g('path.curve', { d: path(drawn.map(([size, , r]) => [x.at(size) + aside, y.at(r.mean)])) }),
          drawn.map(([size, setting, r]) => tip(
            shape(one.kind, x.at(size) + aside, y.at(r.mean), 5, { class: 'dot' }),
            `${nameOf(setting)}: ${fixed(r.mean)} (${range(r.low, r.high)})`,
          )));
      }),
    ];
  });
}

section({
  id: 'curves',
  title: 'Chunk size',
  on: ['measure', 'stage', 'split'],
  render() {
    if (!DATA.curves.length) return null;
    const units = [...new Set(DATA.curves.map((one) => one.unit))];
    return [
      h('p.lede', null, 'Lines join settings that differ in chunk size alone. Chunk-level NDCG favours large chunks, because a chunk earns its full grade however much other text it brings; ', h('b', null, 'ndcg_evidence'), ' charges for all the text read and may be compared across sizes.', known(DATA.counts.label_characters_p50) && ` The median label has ${whole(DATA.counts.label_characters_p50)} characters; compare tells which differences keep their sign with longer and shorter ones.`),
      h('div.panels', null, units.map((unit) => {
        const lines = DATA.curves.filter((one) => one.unit === unit).map((one, kind) => ({ ...one, kind }));
        return h('figure.panel', null,
          curvePlot(lines, unit),
          h('ul.legend', null, lines.map((one) => h('li', null,
            g('svg.swatch', { width: 30, height: 14, 'aria-hidden': true }, g('g', { class: `line-${one.kind % 6}` }, g('path.curve', { d: 'M1,7L29,7' }), shape(one.kind, 15, 7, 4.5, { class: 'dot' }))),
            foreign(lineLabel(one))))));
      })),
    ];
  },
});
