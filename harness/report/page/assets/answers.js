// The quality of answers by setting, and whether measures of rankings predict it.

const OVER = [['within queries', 'kendall'], ['settings', 'kendall'], ['queries', 'kendall'], ['settings', 'spearman'], ['queries', 'spearman']];

function answerTable({ measures, means, answered }) {
  const rows = DATA.settings.map((_, i) => i).filter((i) => answered[i]);
  const cell = (i, m) => means[m][i];
  return table([
    settingColumn(),
    { key: 'answered', title: 'answered', num: true, value: (i) => answered[i][0], cell: (i) => `${whole(answered[i][0])} of ${whole(answered[i][1])}` },
    ...measures.map((name, m) => ({
      key: name, title: name, num: true, value: (i) => cell(i, m)?.[0],
      cell: (i) => {
        const [mean, low, high, n, missing, why] = cell(i, m) || [];
        return h('span', { title: `${count(n ?? 0, 'question')}${missing ? `; ${whole(missing)} not scored: ${why}` : ''}` },
          h('b', null, fixed(mean)), n >= FEWEST && known(low) ? h('span.soft', null, ` ${range(low, high)}`) : null,
          missing ? h('span.soft', null, ` (${whole(missing)} not scored)`) : null);
      },
    })),
  ], rows, { caption: 'Answers by setting', sort: measures[0] ?? 'answered', keep: 'answers', most: 30 });
}

// Every ranking measure as a dot with its interval, the best first.
function predictionPlot(rows, measure, [over, coefficient]) {
  const own = rows.filter((row) => row[0] === measure && row[2] === over && row[3] === coefficient);
  const there = own.filter((row) => known(row[4])).sort((x, y) => y[4] - x[4]);
  if (!there.length) return h('p.soft', null, `Not known: ${own[0]?.[8] || 'no such values'}.`);
  const ticks = [-1, -0.5, 0, 0.5, 1];
  const place = percentOf(-1, 1);
  return rowChart(there.map((row) => ({
    name: row[1],
    value: fixed(row[4], 2),
    drawing: tip(strip([gridlines(ticks, place), whisker({ mean: row[4], low: row[5], high: row[6] }, place)], {
      label: `${fixed(row[4], 2)}, ${range(row[5], row[6], 2)}`,
    }), `${fixed(row[4], 2)}, ${range(row[5], row[6], 2)}, ${count(row[7], 'question')}`),
  })), { ticks, place, caption: `Ranking measures and ${measure}, ${over}` });
}

function predictionPart({ measures, prediction }) {
  // one that is the same everywhere, such as exact matches of long answers, says nothing
  const says = (name) => prediction.some((row) => row[0] === name && known(row[4]));
  const picked = { measure: measures.find(says) ?? measures[0], over: 0 };
  const box = h('div');
  const draw = () => swap(box, predictionPlot(prediction, picked.measure, OVER[picked.over]));
  draw();
  return [
    h('h3', null, 'Does the ranking predict the answers?'),
    h('p', null, 'Each dot is a correlation between a measure of rankings and a measure of answers, each line its interval. Within queries: for one question, do settings with a better ranking answer better? Over settings: do settings with a higher mean? Over queries: are questions with better rankings answered better?'),
    h('div.tools', null,
      select('answers', measures.map((name) => [name, name]), picked.measure, (value) => { picked.measure = value; draw(); }),
      select('correlation', OVER.map(([over, name], i) => [i, `${over}, ${name}`]), picked.over, (value) => { picked.over = Number(value); draw(); })),
    box,
  ];
}

section({
  id: 'answers',
  title: 'Answers',
  short: 'Answers',
  on: ['split'],
  render() {
    if (!DATA.answers) return null;
    const { measures, losses, verdict } = DATA.answers;
    return [
      h('p.lede', null, 'What settings answered from the passages that they read, over all questions. Open a question below to read answers next to their passages.'),
      verdict ? h('dl.lines', null, verdict.map((line) => [h('dt', null, line.label), h('dd', null, foreign(line.text, 'span'))])) : null,
      answerTable(DATA.answers),
      losses ? answerLossPart(losses) : null,
      measures.length ? predictionPart(DATA.answers) : null,
    ];
  },
});
