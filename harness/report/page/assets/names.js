// Names of settings: shown in the words of the first screen, with the technical name on hover and in files.

let WORDS = [];

// What the first screen shows, of the headline or of the first measure that has one.
function anyGlance() {
  return [DATA.headline, ...DATA.measures].map((name) => DATA.statistics[name]?.glance).find(Boolean);
}

// Two settings that the words do not tell apart keep their technical names.
function startNames() {
  const said = new Map(anyGlance()?.settings.map((one) => [one.setting, one.words]));
  const all = DATA.settings.map((name) => said.get(name) || name);
  const times = new Map();
  for (const words of all) times.set(words, (times.get(words) || 0) + 1);
  WORDS = all.map((words, i) => (times.get(words) === 1 ? words : DATA.settings[i]));
}

function nameOf(setting) {
  return WORDS[setting];
}

function named(setting, what = 'span') {
  return h(`${what}.foreign`, { title: DATA.settings[setting] }, nameOf(setting));
}

// The first column of a table by setting; `of` is the setting of a row.
function settingColumn(of = (row) => row, more = () => null) {
  return {
    key: 'setting', title: 'setting', value: (row) => nameOf(of(row)),
    cell: (row) => [named(of(row)), more(row)], file: (row) => DATA.settings[of(row)],
  };
}

function settingOptions(settings = DATA.settings.map((_, i) => i)) {
  return settings.map((i) => [i, nameOf(i)]);
}

section({
  id: 'names',
  title: 'Names of the settings',
  bare: true,
  on: [],
  render() {
    const settings = ranked('final').filter((i) => nameOf(i) !== DATA.settings[i]);
    if (!settings.length) return null;
    const values = (factor) => [...new Set(factor.values.filter(known))].map((value, k) => [k > 0 && ', ', h('code.foreign', null, value)]);
    return fold('Names of the settings',
      h('p.small.soft', null, 'The page calls settings by what varies among them; files and commands use the technical name.'),
      table([
        { ...settingColumn(), head: 'words', file: nameOf },
        { key: 'name', head: 'setting', title: 'technical name', value: (i) => DATA.settings[i], cell: (i) => h('code.foreign', null, DATA.settings[i]) },
      ], settings, { caption: 'Names of the settings', keep: 'names', most: 10 }),
      h('p.small.soft', null, 'A technical name is made of what varies:'),
      h('dl.lines', null, DATA.factors.map((factor) => [h('dt', null, factor.name), h('dd', null, `${factor.about}: `, values(factor))])));
  },
});
