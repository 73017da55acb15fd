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

// What stands in technical names and is not plain.
const NAME_PARTS = [
  [/\d\/\d/, '/0', 'the overlap: how much of a chunk the next one repeats, in the unit of the chunk size'],
  [/\bbm25\b/, 'bm25', 'search by words: rare words count more than common ones'],
  [/\bchroma\b/, 'chroma', 'search by vectors, kept in a Chroma index'],
  [/\bminmax\b/, 'minmax', 'words and vectors together: the scores of each are brought to 0 to 1, then added'],
  [/\brrf\b/, 'rrf', 'words and vectors together: ranks are added, not scores'],
  [/\blate_interaction\b/, 'late_interaction', 'a reranker that compares the question and the passage word by word'],
  [/\bcross_encoder\b/, 'cross_encoder', 'a reranker that reads the question and the passage together'],
];

section({
  id: 'names',
  title: 'Names of the settings',
  bare: true,
  on: [],
  render() {
    const settings = ranked('final').filter((i) => nameOf(i) !== DATA.settings[i]);
    if (!settings.length) return null;
    const parts = NAME_PARTS.filter(([pattern]) => settings.some((i) => pattern.test(DATA.settings[i])));
    return fold('Names of the settings',
      h('p.small.soft', null, 'The page calls settings by what varies among them; files and commands use the technical name.'),
      table([
        settingColumn(),
        { key: 'name', title: 'technical name', value: (i) => DATA.settings[i], cell: (i) => h('code.foreign', null, DATA.settings[i]) },
      ], settings, { caption: 'Names of the settings', keep: 'names', most: 10 }),
      parts.length > 0 && h('dl.lines', null, parts.map(([, part, about]) => [h('dt', null, h('code', null, part)), h('dd', null, about)])));
  },
});
