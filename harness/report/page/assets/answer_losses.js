// Where answers are lost: the waterfall goes on past the ranking, from a perfect 1 down to the value.

const ANSWER_LOSSES = {
  'not extracted': 'parser', 'cut apart': 'chunking', 'not found': 'candidates', 'ranked too low': 'order',
  'left out': 'change', contradicts: 'change-1', adds: 'change-2', 'something else': 'else', 'without evidence': 'else',
};

// The value left, with the part that was right without the evidence; then the losses in the answers; then the
// evidence that was not read, from 1 down, as far as answers needed it.
function answerBar(mean, parts, classOf) {
  const first = parts.findIndex((one) => one.name === 'left out');
  const gain = mean.losses.reduce((sum, loss) => sum - Math.min(loss, 0), 0);
  const left = Math.max(mean.left, 0);
  const out = [barPart('left', 0, Math.max(left - gain, 0)), barPart('gain', Math.max(left - gain, 0), left)];
  let at = left;
  for (let k = parts.length - 1; k >= first; k--) {
    if (!(mean.losses[k] > 0)) continue;
    out.push(barPart(classOf(k), at, Math.min(at + mean.losses[k], 1)));
    at = Math.min(at + mean.losses[k], 1);
  }
  let end = 1;
  for (let k = 0; k < first; k++) {
    out.push(barPart(classOf(k), Math.max(end - mean.losses[k], at), end));
    end = Math.max(end - mean.losses[k], at);
  }
  return out;
}

function answerLossPart({ measure, parts, ways }) {
  const all = ways.map((way) => [way, meanLosses(way)]).filter(([, mean]) => mean).sort((x, y) => y[1].left - x[1].left);
  if (!all.length) return [];
  const classOf = (k) => `loss-${ANSWER_LOSSES[parts[k].name]}`;
  const box = h('div');
  const draw = (setting) => swap(box, worstTable(all.find(([way]) => way.setting === setting)[0], { parts, classOf, keep: 'worst-answers', title: 'value' }));
  draw(all[0][0].setting);
  return [
    h('h3', null, 'Where answers are lost'),
    h('p', null, `In units of ${measure}, from a perfect 1 down to what the answers earn: first the evidence that was not read, then what the answers make of what was. The parts sum exactly, query by query. The bars leave out as much of the unread evidence as answers did without.${state.split === 'all' ? '' : ` They are of the queries of ${state.split} alone, while the table above is over all.`}`),
    lossFigure(all, {
      parts, classOf, left: `what is left: ${measure}`, gained: 'of it', caption: 'Losses of answers by part',
      name: (way) => nameOf(way.setting), bar: (mean) => answerBar(mean, parts, classOf),
    }),
    h('div.tools', null, h('h3', null, 'Answers that lost most'), select('setting', settingOptions(all.map(([way]) => way.setting)), all[0][0].setting, (value) => draw(Number(value)))),
    box,
  ];
}
