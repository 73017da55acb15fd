// Where answers are lost: the waterfall goes on past the ranking, from a perfect 1 down to the value.

const ANSWER_LOSSES = {
  'not extracted': 'parser', 'cut apart': 'chunking', 'not found': 'candidates', 'ranked too low': 'order',
  'left out': 'change', contradicts: 'change-1', adds: 'change-2', 'something else': 'else', 'without evidence': 'else',
};

function answerLossPart({ measure, parts, ways }) {
  const all = ways.map((way) => [way, meanLosses(way)]).filter(([, mean]) => mean).sort((x, y) => y[1].left - x[1].left);
  if (!all.length) return [];
  const classOf = (k) => `loss-${ANSWER_LOSSES[parts[k].name]}`;
  const there = parts.map((_, k) => k);
  const gained = there.filter((k) => all.some(([, mean]) => mean.losses[k] < -5e-4)).map((k) => parts[k].name);
  const lost = there.filter((k) => all.some(([, mean]) => mean.losses[k] > 5e-4));
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const place = percentOf(0, 1);
  const told = (mean, text) => there.map((k) => `${parts[k].name} ${text(mean.losses[k])}`);
  const box = h('div');
  const draw = (setting) => swap(box, worstTable(all.find(([way]) => way.setting === setting)[0], { parts, classOf, keep: 'worst-answers', title: 'value' }));
  draw(all[0][0].setting);
  return [
    h('h3', null, 'Where answers are lost'),
    h('p', null, `In units of ${measure}, from a perfect 1 down to what the answers earn: first the evidence that was not read, then what the answers make of what was. The parts sum exactly, question by question.`),
    legend([['left', `what is left: ${measure}`], ...(gained.length ? [['gain', `of it ${gained.join(', ')}`]] : []),
      ...lost.reverse().map((k) => [classOf(k), `${parts[k].name}: ${parts[k].about}`])]),
    rowChart(all.map(([way, mean]) => ({
      name: DATA.settings[way.setting],
      value: fixed(mean.left),
      drawing: tip(strip([gridlines(ticks, place), lossBar(mean, classOf)], {
        label: told(mean, (loss) => fixed(loss)).join(', '),
      }), told(mean, (loss) => signed(-loss)).join('\n')),
    })), { ticks, place, caption: 'Losses of answers by part' }),
    h('div.tools', null, h('h3', null, 'Answers that lost most'), select('setting', all.map(([way]) => [way.setting, DATA.settings[way.setting]]), all[0][0].setting, (value) => draw(Number(value)))),
    box,
  ];
}
