// Every setting against every other one: which differences were found, and how large they are.

function pairInWords(a, b) {
  if (a === b) return 'The same setting.';
  const found = pair(a, b);
  if (!found) return 'These two were not compared.';
  return [
    named(a, 'b'), ' against ', named(b, 'b'), ': ',
    h('b.num', null, signed(found.difference)), known(found.low) ? ` (${range(found.low, found.high)})` : '',
    `, ${found.words} (p ${chance(found.p)}). `,
    `Better on ${whole(found.wins)}, equal on ${whole(found.ties)}, worse on ${count(found.losses, 'query', 'queries')}.`,
  ];
}

section({
  id: 'differences',
  title: 'Which differences were found',
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
    const many = (fits) => rows.filter((row) => fits(row[6])).length;
    const [found, alike, apart] = [isFound, (words) => words.startsWith('equal'), (words) => words === 'not comparable'].map(many);
    return [
      h('p.lede', null, prose(`${whole(found)} of ${count(rows.length, 'difference')} ${found === 1 || rows.length === 1 ? 'was' : 'were'} found: the interval, from one test of all pairs at once, excludes 0, and the sign is the same with longer and shorter labels where these were tried. ${alike ? `${whole(alike)} ${alike === 1 ? 'pair is' : 'pairs are'} equal: the interval lies within the tolerance. ` : ''}${apart ? 'By this measure only settings over the same chunks can be compared. ' : ''}Each row is compared with each column; the stronger the colour, the larger. Without colour: no difference found.${rows.some((row) => row[6].endsWith(' here')) ? ' Here: shown for these documents, not for new ones.' : ''}`)),
      legend([['better', 'row better'], ['worse', 'row worse'], ['chance', 'no difference found']]),
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
