// The first screen: what to use, what matters, how settings rank, where quality is lost, what to do next.

const GROUPS = { use: ['Use this', 'use this'], may: ['May be best', 'may be best'], out: ['Ruled out', 'ruled out'] };
// As many rows as one takes in; the others fold, and more of them where the next step would be out of sight.
const FIRST_ROWS = 10;
const LEAST_ROWS = 3;
// Less than this is 0.00 in a bar.
const LEAST_LOSS = 0.005;

// A dot with its interval. A filled dot is a finding, a ring is open, a cross is out: told apart without colour.
function dotRow(kind, { value, low, high }, place, label) {
  const at = place(value);
  const mark = kind === 'out'
    ? g('svg', { x: at, y: '50%', width: 1, height: 1, overflow: 'visible' }, g('path.cross', { d: 'M-4,-4L4,4M-4,4L4,-4' }))
    : g('circle', { cx: at, cy: '50%', r: kind === 'may' ? 5 : 6 });
  return strip(g(`g.dots.${kind}`, null, known(low) && g('line', { x1: place(low), x2: place(high), y1: '50%', y2: '50%' }), mark), { height: 20, label });
}

// What two levels share is said once: 500 instead of 1,000 characters.
function pairText(level, against) {
  const [one, other] = [level.split(' '), against.split(' ')];
  if (one.length === 2 && other.length === 2 && one[1] === other[1] && /^\d/.test(level)) return [one[0], against];
  const shared = [`${level.split(', ').slice(0, -1).join(', ')}, `, 'reranked by '].find((text) => level.startsWith(text) && against.startsWith(text));
  return shared ? [level, against.slice(shared.length)] : [level, against];
}

function factorRows(factors) {
  const [low, high] = nice(Math.min(0, ...factors.map((one) => one.low)), Math.max(0, ...factors.map((one) => one.high)), 8);
  const place = percentOf(low, high);
  const clear = (one) => one.clear;
  return factors.map((one, k) => h('li.factor', null,
    h('span.factor-what', null,
      h('b.factor-name', null, one.factor === factors[k - 1]?.factor ? '' : foreign(one.factor)), ' ',
      h('span', null, pairText(one.level, one.against).map((text, side) => [side > 0 && ' instead of ', foreign(text)]))),
    h('span.dots-cell', null,
      h('i.zero', { css: { '--at': place(0) }, 'aria-hidden': true }),
      dotRow(clear(one) ? 'use' : 'may', { value: one.difference, low: one.low, high: one.high }, place, range(one.low, one.high, 2))),
    h('b.num', null, signed(one.difference, 2)),
    h(`span.finding${clear(one) ? '.found' : ''}`, null, term(one.words))));
}

function whatMatters({ factors, interactions, level, measure }, most) {
  if (!factors.length) return null;
  const [first, rest] = [factors.slice(0, most), factors.slice(most)];
  return [
    h('h3', null, 'What matters', h('span.aside', null, ' difference in ', term(measure), `, with ${percent(level).replace(' ', '\u00a0')} `, term('intervals', TERMS.interval))),
    h('ul.factors', null, factorRows(first)),
    rest.length > 0 && h('details.rest', null, h('summary', null, `${whole(rest.length)} more`), h('ul.factors', null, factorRows(rest))),
    interactions.map((text) => h('p.small', null, prose(text))),
  ];
}

// The kinds of loss that occur, in the order of the steps: {part: [class of its colour, label]}.
function lossParts(settings) {
  const parts = {};
  const classes = { extraction: 'parser', parser: 'parser', chunking: 'chunking', candidates: 'candidates', order: 'order' };
  const others = ['change', 'change-1', 'change-2'];
  for (const { losses } of settings) {
    for (const { part, label, value } of losses) {
      if (value >= LEAST_LOSS) parts[part] ??= [`loss-${classes[part] || others.shift() || 'else'}`, label];
    }
  }
  return parts;
}

// From 0: what is left, then what each step lost. Where a step won something back, the losses are shown in proportion.
function leftBar({ mean, losses }, parts) {
  const lost = losses.filter((one) => one.value > 0 && parts[one.part]);
  const sum = lost.reduce((all, one) => all + one.value, 0);
  let at = mean;
  const bars = lost.map((one) => {
    const to = at + (one.value * (1 - mean)) / sum;
    const bar = barPart(parts[one.part][0], at, to);
    at = to;
    return bar;
  });
  const told = [`left ${fixed(mean, 2)}`, ...losses.map((one) => `${one.label} ${fixed(one.value, 2)}`)];
  return tip(strip([barPart('left', 0, mean), bars], { label: told.join(', ') }), told.join('\n'));
}

function rankRow(one, place, parts) {
  const setting = DATA.settings.indexOf(one.setting);
  return h(`li.setting-row.${one.group}`, null,
    h('span.setting-name', null, setting < 0 ? foreign(one.words) : named(setting), ' ', one.why && h('small.soft', null, one.why)),
    h('span.dots-cell', null, dotRow(one.group, { value: one.mean, low: one.low, high: one.high }, place, range(one.low, one.high, 2))),
    h('b.num', null, fixed(one.mean, 2)),
    one.losses.length ? h('span.left-cell', null, leftBar(one, parts)) : null);
}

// The heading of a group; what rules all of it out is said once.
function groupHead(kind, rows) {
  const [title, name] = GROUPS[kind];
  const why = rows.length > 1 && rows.every((one) => one.why === rows[0].why) ? rows[0].why : '';
  return [h('h4', null, term(title, TERMS[name]), why && h('span.soft', null, `: ${why}`)), why];
}

function ranking({ settings: all, measure, level }, most) {
  // a handful of queries bounds nothing
  const few = (firstSummary()?.n ?? 0) < FEWEST;
  const settings = few ? all.map((one) => ({ ...one, low: null, high: null })) : all;
  const shown = settings.filter((one, k) => k < most || one.group === 'use');
  const rest = settings.filter((one) => !shown.includes(one));
  const [low, high, ticks] = scoreRange(settings, 6);
  const place = percentOf(low, high);
  const parts = lossParts(settings);
  const lossy = Object.keys(parts).length > 0;
  const group = (kind) => {
    const rows = shown.filter((one) => one.group === kind);
    const [head, why] = groupHead(kind, rows);
    return rows.length > 0 && [all.length > 1 && head, h('ul', null, rows.map((one) => rankRow(why ? { ...one, why: '' } : one, place, parts)))];
  };
  return [
    h('h3', null, 'How the settings rank', h('span.aside', null, ' ', term(measure), ', 0 to 1', !few && [`, with ${percent(level).replace(' ', '\u00a0')} `, term('intervals', TERMS.interval)],
      lossy && h('span.at-length', null, '; then what is left of 1, and what each step lost'))),
    lossy && h('ul.legend', null, [['left', 'left'], ...Object.values(parts)].map(([kind, label]) => h('li', null, h(`i.key.${kind}`, { 'aria-hidden': true }), label))),
    h('div', null, Object.keys(GROUPS).map(group),
      h('div.setting-row.setting-axis', null, h('span.setting-name'), h('span.dots-cell', null, axis(ticks, place))),
      rest.length > 0 && h('details.rest', null, h('summary', null, `${whole(rest.length)} more, from ${fixed(rest[0].mean, 2)} to ${fixed(rest[rest.length - 1].mean, 2)}`), h('ul', null, rest.map((one) => rankRow(one, place, parts))))),
  ];
}

async function copyText(text, button, code) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    // no permission: the reader copies what is marked
    getSelection().selectAllChildren(code);
    button.textContent = 'Marked: press Ctrl+C';
  }
}

function nextStep({ text, command }) {
  if (!text) return null;
  const code = command && h('code', null, command.split(' ').map((word, k) => [k > 0 && ' ', h('span.word', null, word)]));
  const button = command && h('button.quiet', { type: 'button', onclick: () => copyText(command, button, code) }, 'Copy');
  return h('p.next', null, h('b', null, 'Next'), ' ', h('span', null, text), ' ', command && h('span.command', null, code, button));
}

// On a phone the settings and the next step come before what matters, so that all of these are in sight.
const onPhone = matchMedia('(max-width: 640px)');
onPhone.addEventListener('change', () => draw((one) => one.id === 'glance'));

function firstScreen(rows, factors) {
  const found = statistics().glance;
  const head = h('p.facts', null, facts().map((fact) => h('span', null, fact)));
  if (!found) return [head, h('h2.sentence', null, foreign(statistics().why || 'There is nothing to compare.'))];
  const matters = whatMatters(found, factors);
  return [
    !onPhone.matches && head,
    h('h2.sentence', null, foreign(found.sentence)),
    found.holds && h('p.holds', null, foreign(found.holds)),
    !onPhone.matches && matters,
    found.settings.length > 0 && ranking(found, rows),
    found.largest && h('p.largest', null, found.largest),
    nextStep(found.next),
    onPhone.matches && [matters, head],
  ];
}

// Fold rows until the next step is on the first screen; nothing to do while the view is hidden.
function fitScreen(one) {
  const next = () => one.body.querySelector('.next')?.getBoundingClientRect();
  if (one.fitted || !next()?.height) return;
  one.fitted = true;
  let [rows, factors] = [FIRST_ROWS, FIRST_ROWS];
  while (next().bottom + scrollY > innerHeight && (rows > LEAST_ROWS || factors > LEAST_ROWS)) {
    // settings fold first: the best are still there
    if (rows > LEAST_ROWS) rows -= 1;
    else factors -= 1;
    swap(one.body, firstScreen(rows, factors));
  }
}

section({
  id: 'glance',
  title: 'Overview',
  bare: true,
  on: ['measure'],
  render() {
    this.fitted = false;
    return anyGlance() ? firstScreen(FIRST_ROWS, FIRST_ROWS) : null;
  },
  shown: fitScreen,
});

section({
  id: 'factors',
  title: 'What each factor does',
  short: 'Factors',
  on: ['measure'],
  render() {
    const rows = statistics().glance?.factors || [];
    if (!rows.length) return null;
    return [
      h('p.lede', null, 'One level of a factor against another, averaged over all other factors. The intervals of all rows hold ', term('together', TERMS.simultaneous), '.'),
      table([
        { key: 'factor', title: 'factor', value: (r) => r.factor, cell: (r) => [h('b', null, foreign(r.factor)), ': ', foreign(r.level), ' instead of ', foreign(r.against)], file: (r) => r.factor },
        ...['level', 'against', 'low', 'high'].map((key) => ({ key, fileOnly: true, value: (r) => r[key], file: (r) => r[key] })),
        { key: 'difference', title: `difference, ${percent(DATA.level)} interval`, num: true, about: TERMS.interval, value: (r) => r.difference, cell: (r) => [h('b', null, signed(r.difference)), h('small.soft', null, ` ${range(r.low, r.high)}`)] },
        { key: 'words', title: 'finding', value: (r) => r.words, cell: (r) => term(r.words) },
      ], rows, { caption: 'Effects of the factors', keep: 'factors', most: 30 }),
      statistics().glance.interactions.map((text) => h('p', null, prose(text))),
    ];
  },
});
