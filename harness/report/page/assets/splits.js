// The means of every setting on train and on validation.

section({
  id: 'splits',
  title: 'Train against validation',
  short: 'Train, validation',
  on: ['measure', 'stage'],
  render() {
    const at = (i, split) => summary(i, { split });
    const order = ranked().filter((i) => known(at(i, 'train')?.mean) && known(at(i, 'validation')?.mean));
    if (!order.length) return null;
    order.sort((x, y) => at(y, 'train').mean - at(x, 'train').mean);
    const [low, high, ticks] = scoreRange(order.flatMap((i) => [{ mean: at(i, 'train').mean }, at(i, 'validation')]));
    const place = percentOf(low, high);
    return [
      legend([['train', 'train'], ['validation', `validation, with its ${confidence(DATA.level)} interval`]]),
      rowChart(order.map((i) => {
        const train = at(i, 'train');
        const validation = at(i, 'validation');
        return {
          name: nameOf(i),
          value: `${fixed(train.mean)} → ${fixed(validation.mean)}`,
          drawing: strip([
            gridlines(ticks, place),
            g('line.join', { x1: place(train.mean), x2: place(validation.mean), y1: '50%', y2: '50%' }),
            whisker(validation, place, { kind: 'validation' }),
            g('circle.train-dot', { cx: place(train.mean), cy: '50%', r: 4.5 }),
          ], { label: `train ${fixed(train.mean)}, validation ${fixed(validation.mean)}` }),
        };
      }), { ticks, place, caption: 'Means on train and validation' }),
    ];
  },
});
