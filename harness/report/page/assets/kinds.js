// Kinds of queries × settings: where a setting is strong and where it is weak.

function groupTitle(group, place, n) {
  return [foreign(group.names[place].replaceAll('_', ' '), 'span'), h('small.soft', null, ` ${whole(n)}`)];
}

section({
  id: 'kinds',
  title: 'By kind of query',
  short: 'Kinds',
  on: ['measure', 'stage', 'split', 'group'],
  painted: true,
  render() {
    const settings = ranked();
    const all = DATA.queries.groups;
    if (!settings.length || !all.length) return null;
    const group = all.find((one) => one.name === state.group) || all[0];
    const means = new Map(settings.map((i) => [i, groupMeans(i, group)]));
    const sizes = group.names.map((_, k) => Math.max(...settings.map((i) => means.get(i)[k].n)));
    const shown = group.names.map((_, k) => k).filter((k) => sizes[k]);
    if (!shown.length) return null;
    const values = settings.flatMap((i) => shown.map((k) => means.get(i)[k].mean)).filter(known);
    const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
    const shades = ramp('heat', 6);
    const heat = (mean, n) => {
      if (!known(mean)) return NONE;
      const fill = shades((mean - low) / (high - low || 1));
      return h(`span.heat-cell${n < FEWEST ? '.few' : ''}`, { css: { background: fill, color: inkOn(fill) } }, fixed(mean, 2));
    };
    const few = shown.some((k) => sizes[k] < FEWEST);
    return [
      h('p.lede', null, `Mean ${state.measure} of every setting over the queries of a kind; their number is shown next to the kind. Kinds were not tested against each other${few ? `, and those of fewer than ${FEWEST} queries, in italics, tell little` : ''}.`),
      all.length > 1 ? h('div.tools', null, select('kinds are the values of', all.map(({ name }) => [name, name]), group.name, (name) => choose({ group: name }), { 'data-keep': 'group' })) : null,
      table([
        settingColumn(),
        ...shown.map((k) => ({ key: `kind-${k}`, head: group.names[k], title: groupTitle(group, k, sizes[k]), num: true, heat: true, value: (i) => means.get(i)[k].mean, cell: (i) => heat(means.get(i)[k].mean, means.get(i)[k].n) })),
      ], settings, { caption: `${state.measure} by ${group.name}`, keep: `kinds-${group.name}`, most: 30 }),
    ];
  },
});
