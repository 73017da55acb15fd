// Every setting against every other one: which differences are real, and how large they are.

const FINDINGS = { real: 'a real difference', open: 'may be chance', equivalent: 'equivalent within the tolerance', 'not decidable': 'not decidable for new documents', few: 'too few queries to tell', turns: 'not a finding, because its sign changes with the label length', incomparable: 'not a finding, because the two cut documents differently' };

function pairInWords(a, b) {
  if (a === b) return 'The same setting.';
  const found = pair(a, b);
  if (!found) return 'These two were not compared.';
  const real = FINDINGS[found.finding];
  return [
    named(a, 'b'), ' against ', named(b, 'b'), ': ',
    h('b.num', null, signed(found.difference)), known(found.low) ? ` (${range(found.low, found.high)})` : '',
    `, ${real} (p ${chance(found.p)}). `,
    `Better on ${whole(found.wins)}, equal on ${whole(found.ties)}, worse on ${count(found.losses, 'query', 'queries')}.`,
  ];
}

section({
  id: 'differences',
  title: 'Which differences are real',
  short: 'Differences',
  on: ['measure', 'stage'],
  painted: true,
  render() {
    const rows = statistics().pairs?.rows;
    if (!rows?.length || DATA.settings.length < 2 || !atFinal()) return null;
    const order = ranked('final');
    const largest = Math.max(...rows.map((row) => Math.abs(row[2])), 1e-9);
    const better = ramp('better', 3);
    const worse = ramp('worse', 3);
    const at = (r, c) => pair(order[r], order[c]);
    const [real, alike] = ['real', 'equivalent'].map((kind) => rows.filter((row) => row[6] === kind).length);
    return [
      h('p.lede', null, prose(`${whole(real)} of ${count(rows.length, 'difference')} ${real === 1 || rows.length === 1 ? 'is' : 'are'} real: the interval, from one test of all pairs at once, excludes 0, and the sign is the same with longer and shorter labels where these were tried. ${alike ? `${whole(alike)} ${alike === 1 ? 'pair is' : 'pairs are'} equivalent: the interval lies within the tolerance. ` : ''}${rows.some((row) => row[6] === 'incomparable') ? 'By this measure only settings over the same chunks can be compared. ' : ''}Each row is compared with each column; the stronger the colour, the larger. Without colour: no finding.${rows.some((row) => row[6] === 'not decidable') ? ' On so few documents none is called real for new ones; what the overview says is of these documents alone.' : ''}`)),
      legend([['better', 'row better, real'], ['worse', 'row worse, real'], ['chance', 'not real']]),
      grid({
        label: 'Differences of all pairs of settings. Arrow keys move.',
        keep: 'pairs',
        rows: order.map((i, k) => `${k + 1}  ${nameOf(i)}`),
        heads: order.map((_, k) => k + 1),
        columns: order.length,
        height: order.length > 30 ? 16 : 26,
        narrowest: 18,
        widest: 64,
        start: [0, 1],
        hint: 'Point at a cell, or use the arrow keys, to read the comparison.',
        fill: (r, c) => {
          const found = r === c ? null : at(r, c);
          if (!found?.real) return null;
          return (found.difference > 0 ? better : worse)(Math.abs(found.difference) / largest);
        },
        mark: (r, c, width) => {
          const found = r === c ? null : at(r, c);
          if (!found) return '';
          return width >= 40 ? signed(found.difference, 2) : found.real ? '' : '·';
        },
        text: (r, c) => pairInWords(order[r], order[c]),
        open: (r, c) => r !== c && choose({ a: order[r], b: order[c] }),
      }),
    ];
  },
});
