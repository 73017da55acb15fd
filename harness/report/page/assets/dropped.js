// What `harness tune` dropped on the way, and what each was seen on: none of it is in another section.

const DROPPED = {
  lead_at_most: ['better by at most', 'How much better than the setting to use it may be at most, on the text that its stage saw; below 0: it is worse', (x) => signed(x)],
  mean: ['mean', 'Its mean in the stage that dropped it; it compares with no mean of the leader board', (x) => fixed(x)],
  behind: ['behind', 'How far it was behind the best of that stage', (x) => fixed(x)],
  text_share: ['text', 'The share of the whole text that the stage saw', (x) => percent(x)],
  n_queries: ['queries', 'The queries that the stage saw', whole],
  stage: ['stage', 'The stage after which it was dropped', whole],
};

section({
  id: 'dropped',
  title: 'Dropped settings',
  on: [],
  render() {
    const rows = DATA.dropped || [];
    if (!rows.length) return null;
    const held = rows.filter((r) => r.held_back === 'yes').length;
    const open = rows.filter((r) => r.may_be_better === 'yes').length;
    return [
      h('p.lede', null, `${count(rows.length, 'setting was', 'settings were')} dropped by harness tune before all of the text and queries had been seen, so that no other section shows and no comparison has them. `,
        `${whole(open)} of them may be better than `, foreign(rows[0].against), ` by more than the tolerance. Means and bounds are of ${rows[0].measure} on what a stage saw; ${DATA.files.tuned} has all of it.`,
        held > 0 && ` ${count(held, 'setting was', 'settings were')} seen without rerankers ("retrieved"), so that nothing is known of what these make of ${held === 1 ? 'it' : 'them'}.`),
      table([
        { key: 'setting', title: 'setting', value: (r) => r.setting, cell: (r) => foreign(r.setting, 'span') },
        { key: 'may_be_better', title: 'may be better', about: 'Whether it may be better by more than the tolerance, or nothing is known of that', value: (r) => r.may_be_better, cell: (r) => badge(r.may_be_better === 'yes' ? 'open' : 'real', r.may_be_better) },
        ...Object.entries(DROPPED).map(([key, [title, about, shown]]) => ({ key, title, about, num: true, value: (r) => r[key], cell: (r) => [shown(r[key]), key === 'stage' && r.held_back === 'yes' && ', retrieved'] })),
      ], rows, { caption: 'Dropped settings', sort: 'lead_at_most', keep: 'dropped', most: 15 }),
    ];
  },
});
