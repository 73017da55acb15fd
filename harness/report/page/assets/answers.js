// The quality of answers by setting.

function answerTable({ measures, means, answered }) {
  const rows = DATA.settings.map((_, i) => i).filter((i) => answered[i]);
  const cell = (i, m) => means[m][i];
  return table([
    settingColumn(),
    { key: 'answered', title: 'answered', num: true, value: (i) => answered[i][0], cell: (i) => `${whole(answered[i][0])} of ${whole(answered[i][1])}` },
    fileColumn('asked', (i) => answered[i][1]),
    ...measures.flatMap((name, m) => [{
      key: name, title: name, num: true, value: (i) => cell(i, m)?.[0],
      cell: (i) => {
        const [mean, low, high, n, missing, why] = cell(i, m) || [];
        return h('span', { title: `${count(n ?? 0, 'query', 'queries')}${missing ? `; ${whole(missing)} not scored: ${why}` : ''}` },
          h('b', null, fixed(mean)), n >= FEWEST && known(low) ? h('span.soft', null, ` ${range(low, high)}`) : null,
          missing ? h('span.soft', null, ` (${whole(missing)} not scored)`) : null);
      },
    }, ...['low', 'high'].map((end, k) => fileColumn(`${name}_${end}`, (i) => (cell(i, m)?.[3] >= FEWEST ? cell(i, m)[1 + k] : null)))]),
  ], rows, { caption: 'Answers by setting', sort: measures[0] ?? 'answered', keep: 'answers', most: 30 });
}

section({
  id: 'answers',
  title: 'Answers',
  short: 'Answers',
  on: ['split'],
  render() {
    if (!DATA.answers) return null;
    const { losses, verdict } = DATA.answers;
    return [
      h('p.lede', null, 'What settings answered from the passages that they read, over all queries. Open a query, under Queries, to read answers next to their passages.'),
      verdict ? h('dl.lines', null, verdict.map((line) => [h('dt', null, line.label), h('dd', null, foreign(line.text, 'span'))])) : null,
      answerTable(DATA.answers),
      losses ? answerLossPart(losses) : null,
    ];
  },
});
