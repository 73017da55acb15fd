// The results, unpacked, and what is asked of them.

// As SCALE in numbers.py: scores come as whole millionths.
const SCALE = 1000000;
const FEWEST = 5;
let DATA = null;

async function unpack() {
  const packed = atob(byId('data').textContent.trim());
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  DATA = JSON.parse(await new Response(stream).text());
}

// The place of the stage that a setting is looked at: 'final' is its last one. -1 where it has none such.
function stageOf(setting, stage = state.stage) {
  const scored = (s) => DATA.scores.some((of) => of[s]?.[setting]);
  if (stage !== 'final') {
    const at = DATA.stages.indexOf(stage);
    return at >= 0 && scored(at) ? at : -1;
  }
  for (let s = DATA.stages.length - 1; s >= 0; s -= 1) if (scored(s)) return s;
  return -1;
}

// The side of a query in answerability.csv: whether there is an answer to a query without graded text is not known
function sideOf(query) {
  if (!DATA.queries.answerable[query]) return 'unanswerable';
  const [best] = DATA.detail.evidence[query];
  return best && (best[3] >= (DATA.record.config?.relevance?.answerable_from ?? 1) ? 'answerable' : 'unanswerable');
}

function measureOf(name = state.measure) {
  return DATA.measures.indexOf(name);
}

// mean, interval and counts of a setting under a measure; null where there is no such row
function summary(setting, { split = 'all', measure = state.measure, stage = state.stage } = {}) {
  const s = stageOf(setting, stage);
  const rows = DATA.summary[split];
  const row = s < 0 || !rows ? null : rows[measureOf(measure)]?.[s]?.[setting];
  if (!row) return null;
  const [mean, low, high, n, unanswerable, failed] = row;
  // a handful of queries bounds nothing: no interval is drawn
  const bounded = n >= FEWEST;
  return { mean, low: bounded ? low : null, high: bounded ? high : null, n, unanswerable, failed };
}

function score(setting, query, measure = state.measure, stage = state.stage) {
  const s = stageOf(setting, stage);
  const value = s < 0 ? null : DATA.scores[measureOf(measure)]?.[s]?.[setting]?.[query];
  return known(value) ? value / SCALE : null;
}

// Before its reranker a setting ranks as the plain one does that cuts and retrieves alike: the plain one stands
// for both, so that no retrieval is listed twice.
function once(settings, stage) {
  if (stage !== 'retrieve' && !stage.startsWith('retrieve.')) return settings;
  const alike = (i) => DATA.retrievals?.[i] ?? i;
  const plain = (i) => stageOf(i, 'final') === stageOf(i, 'retrieve');
  const kept = new Map();
  for (const i of settings) {
    const before = kept.get(alike(i));
    if (before === undefined || (plain(i) && !plain(before))) kept.set(alike(i), i);
  }
  return settings.filter((i) => kept.get(alike(i)) === i);
}

// Settings from the highest mean down; those without a value come last.
function ranked(stage = state.stage, measure = state.measure) {
  return once(DATA.settings.map((_, i) => i).filter((i) => stageOf(i, stage) >= 0), stage)
    .map((i) => [i, summary(i, { stage, measure })?.mean ?? -1])
    .sort((a, b) => b[1] - a[1])
    .map(([i]) => i);
}

function statistics() {
  return DATA.statistics[state.measure] || {};
}

// Statistics are of the last stage of every setting; another stage shows plain means only.
function atFinal() {
  return state.stage === 'final' || DATA.settings.every((_, i) => stageOf(i) === stageOf(i, 'final'));
}

// Whether a difference was found, from its words.
function isFound(words) {
  return /^(better|worse)/.test(words);
}

// The comparison of two settings, turned so that it is a minus b; null where there is none.
function pair(a, b) {
  const rows = statistics().pairs?.rows || [];
  if (pair.rows !== rows) {
    pair.rows = rows;
    pair.table = new Map(rows.map((row) => [`${row[0]} ${row[1]}`, row]));
  }
  const row = pair.table.get(`${a} ${b}`);
  const turned = row ? null : pair.table.get(`${b} ${a}`);
  if (!row && !turned) return null;
  const [, , difference, low, high, p, words, wins, ties, losses] = row || turned;
  const minus = (x) => (known(x) ? -x : null);
  const few = wins + ties + losses < FEWEST;
  const rest = { p, ties, real: isFound(words), few };
  return row
    ? { a, b, difference, words, low: few ? null : low, high: few ? null : high, wins, losses, ...rest }
    : { a, b, difference: -difference, words: words.replace(/^(better|worse)/, (word) => (word === 'better' ? 'worse' : 'better')), low: few ? null : minus(high), high: few ? null : minus(low), wins: losses, losses: wins, ...rest };
}

// The setting that the others are compared with.
function leaderOf() {
  const order = ranked();
  return (atFinal() ? statistics().verdict?.leader : null) ?? order[0];
}

// A value of a factor in the words of the settings that have it, and no others; itself where no words are of it alone.
function valueInWords(values, value, names = values.map((_, i) => nameOf(i))) {
  const words = (own) => names.filter((_, i) => (values[i] ?? '') === value === own).map((name) => name.split(', '));
  const [having, others] = [words(true), words(false)];
  const alone = having[0].filter((word) => having.every((one) => one.includes(word)) && !others.some((one) => one.includes(word)));
  return alone.length === 1 ? alone[0] : value === '' ? 'none' : value;
}

// The queries on which two settings differ, the largest gain of a first: {query, difference}.
function changes(a, b, split = state.split) {
  return DATA.queries.id
    .map((_, query) => ({ query, x: score(a, query), y: score(b, query) }))
    .filter((one) => known(one.x) && known(one.y) && one.x !== one.y && (split === 'all' || DATA.queries.split[one.query] === split))
    .map(({ query, x, y }) => ({ query, difference: x - y }))
    .sort((x, y) => y.difference - x.difference || x.query - y.query);
}

// The mean of a setting over the queries of every group, and how many count: [{mean, n}].
function groupMeans(setting, group, split = state.split) {
  const sums = group.names.map(() => ({ sum: 0, n: 0 }));
  group.of.forEach((place, query) => {
    const value = score(setting, query);
    if (place === null || !known(value) || (split !== 'all' && DATA.queries.split[query] !== split)) return;
    sums[place].sum += value;
    sums[place].n += 1;
  });
  return sums.map(({ sum, n }) => ({ mean: n ? sum / n : null, n }));
}

// Whether a setting has the values that the reader filters by, as `name=value` joined by `&`.
function factorsMatch(setting, wanted = state.factors) {
  return [...new URLSearchParams(wanted)].every(([name, value]) => {
    const factor = DATA.factors.find((one) => one.name === name);
    return !factor || String(factor.values[setting] ?? '') === value;
  });
}

// The description of a measure, in a line.
function aboutMeasure(name) {
  return DATA.statistics[name]?.about || '';
}

function queryMatches(query, { text = state.find, type = state.type, split = state.split } = {}) {
  const q = DATA.queries;
  if (split !== 'all' && q.split[query] !== split) return false;
  if (type && q.type[query] !== type) return false;
  const wanted = text.trim().toLowerCase();
  return !wanted || `${q.id[query]} ${q.text[query]} ${q.type[query]}`.toLowerCase().includes(wanted);
}
