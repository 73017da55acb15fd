// The first screen: what to use, what matters, how settings rank, where quality is lost, what to do next.

const GROUPS = { use: ['Use this', 'use this'], may: ['May be best', 'may be best'], out: ['Ruled out', 'ruled out'] };
// As many rows as one takes in; the others fold, and more of them where the next step would be out of sight.
const FIRST_ROWS = 10;
const FEW_ROWS = 5;
const LEAST_ROWS = 3;
const LEAST_FACTORS = 2;

const across = (part) => `${(100 * part).toFixed(3)}%`;
const SHAPES = {
  line: (at, to) => g('line', { x1: at, x2: to, y1: '50%', y2: '50%' }),
  dot: (at) => g('circle', { cx: at, cy: '50%', r: 6 }),
  ring: (at) => g('circle', { cx: at, cy: '50%', r: 5 }),
  cross: (at) => g('svg', { x: at, y: '50%', width: 1, height: 1, overflow: 'visible' }, g('path.cross', { d: 'M-4,-4L4,4M-4,4L4,-4' })),
};

// What a row looks like is in the payload, as shapes at places from 0 to 1: the picture in reports draws the same.
function drawn(shapes, options) {
  return strip(shapes.map(([shape, kind, from, to]) => (shape === 'bar' ? barPart(fillingOf(kind), from, to) : g(`g.dots.${kind}`, null, SHAPES[shape](across(from), across(to))))), options);
}

function fillingOf(kind) {
  return kind === 'left' ? 'left' : `loss-${kind}`;
}

function drawnAxis({ ticks, digits }) {
  // on a narrow strip every other number has room
  const shown = innerWidth < 1000 && ticks.length > 4 ? ticks.filter((_, k) => k % 2 === 0) : ticks;
  return axis(shown, ([, at]) => across(at), ([value]) => fixed(value, digits));
}

// The setting to use, or the one with the highest mean.
function chosen(settings) {
  return settings.find((one) => one.group === 'use') || settings[0];
}

// How far that is ahead of the next that may be best.
function leadFact({ settings }) {
  const own = chosen(settings);
  const others = settings.filter((one) => one !== own);
  const next = others.find((one) => one.group !== 'out') || others[0];
  const found = next && pair(...[own, next].map((one) => DATA.settings.indexOf(one.setting)));
  if (!found || found.words === 'not comparable') return null;
  const { difference, low, high } = found;
  const bounds = known(low) ? ` (${signed(low, 2)} to ${signed(high, 2)})`.replaceAll(' ', '\u00a0').replace('\u00a0(', ' (') : '';
  return [difference < 0 ? 'Gap' : 'Lead', [fixed(difference, 2) === '0.00' ? [h('b', null, 'level'), ' with '] : [h('b.num', null, fixed(Math.abs(difference), 2)), difference < 0 ? ' behind ' : ' ahead of '], '“', named(found.b), '”', h('span.num', null, bounds), ': ', term(found.words)]];
}

const READ = { judged: 'passages', judged_text: 'characters read', judged_text_tokens: 'tokens read' };

// What labels say of text without one: that it answers nothing, where they mark all answers.
function judgedFact({ judged, labels } = {}) {
  if (labels?.hold === 'answers') return [term('Labels', TERMS.labels), ['mark all that answers each query', labels.assumed && [' (assumed', h('span.at-length', null, ': ', h('code', null, 'relevance.labels'), ' can say otherwise'), ')']]];
  const shares = (judged?.settings || []).map((one) => one.share).filter(known);
  if (!shares.length) return null;
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => percent(share));
  const [kind, depth] = judged.measure.split('@');
  const between = least === most ? least : `${least.replace('%', '')} to ${most}`;
  return [term('Judged', TERMS.judged), [h('b.num', null, between), ` of the first ${whole(depth)} ${READ[kind]}`, least !== '100%' && h('span.at-length', null, '; the rest counts as irrelevant')]];
}

// Whether other measures have the same leader; those that have not are named in what is explained.
function measuresFact({ others }) {
  if (!others) return null;
  const about = others.unfit ? TERMS['not comparable'] : others.names.join(', ');
  return ['Other measures', about ? term(others.text, about) : others.text];
}

// How sure the choice is, in numbers.
function howSure(found) {
  const { verdict } = statistics();
  const shown = [leadFact(found), judgedFact(verdict), measuresFact(found)].filter(Boolean);
  return shown.length > 0 && h('dl.sure', null, shown.map(([title, text]) => h('div', null, h('dt', null, title), h('dd', null, text))));
}

function factorRows(factors, scale) {
  const strips = (kind, content) => h(`li.factor.${kind}`, { 'aria-hidden': true }, h('span.factor-what'), h('span.dots-cell', null, content));
  const rows = factors.map((one, k) => h('li.factor', null,
    h('span.factor-what', null,
      h('b.factor-name', null, one.factor === factors[k - 1]?.factor ? '' : Object.hasOwn(TERMS, one.factor) ? term(one.factor) : foreign(one.factor)), ' ',
      h('span', null, one.pair.map((text, side) => [side > 0 && ' instead of ', foreign(text)]))),
    h('span.dots-cell', null,
      h('i.zero', { css: { '--at': across(scale.zero) }, 'aria-hidden': true }),
      drawn(one.drawn, { height: 20, label: range(one.low, one.high, 2) })),
    h('b.num', null, signed(one.difference, 2)),
    h(`span.finding${one.clear ? '.found' : ''}`, null, term(one.words))));
  return [strips('factor-head', h('span.zero-name', { css: { '--at': across(scale.zero) } }, 'no difference')), rows, strips('factor-axis', drawnAxis(scale))];
}

// The measure: its words in a text, and after that the score; its name is in what is explained.
function aboutScore({ called, measure }) {
  return [called === measure ? '' : `${called}, ${measure} in files`, aboutMeasure(measure)].filter(Boolean).join(': ');
}

const scoreTerm = (found) => term('score', aboutScore(found));

function measured(said, found) {
  const text = said.replace(' of 1', '\u00a0of\u00a01');
  const at = text.indexOf(found.called);
  return at < 0 ? plainly(text) : [plainly(text.slice(0, at)), term(found.called, aboutScore(found)), plainly(text.slice(at + found.called.length))];
}

function whatMatters(found, most) {
  const { factors, factor_axis: scale, interactions, level } = found;
  if (!factors.length) return null;
  const [first, rest] = [factors.slice(0, most), factors.slice(most)];
  return [
    h('h3', null, 'What matters', h('span.aside', null, ' difference in ', scoreTerm(found), `, with ${confidence(level)} `, term('intervals', TERMS.interval))),
    h('ul.factors', null, factorRows(first, scale)),
    rest.length > 0 && h('details.rest', null, h('summary', null, `${whole(rest.length)} more`), h('ul.factors', null, factorRows(rest, scale))),
    interactions.map((text) => h('p.small', null, prose(text))),
  ];
}

// What the colours of the bars mean, with the losses of one setting.
function whereLost(own, found) {
  const unit = DATA.losses?.measure;
  const same = !unit || unit === found.measure;
  const about = new Map(DATA.losses?.parts.map((one) => [one.name, one.about]));
  const most = Math.max(...own.losses.map((one) => one.value));
  const entry = (kind, label, value, text) => h('li', null, h(`i.key.${fillingOf(kind)}`, { 'aria-hidden': true }), h('span', null,
    label, known(value) && [' ', h('b.num', null, fixed(value, 2))], value === most && fixed(most, 2) !== '0.00' && ' (most)', h('span.soft', null, `: ${text}`)));
  const [here, elsewhere] = [true, false].map((has) => Object.entries(found.parts).reverse().filter(([part]) => own.losses.some((one) => one.part === part) === has));
  return [
    h('h3', null, 'Where quality is lost', h('span.aside', null, ' of a perfect 1', !same && [' in ', term(unit)], ', under “', named(DATA.settings.indexOf(own.setting)), '”')),
    h('ul.lost', null, entry('left', 'reached', own.reached, same ? 'the score' : `in ${unit}`),
      here.map(([part, [kind, label]]) => entry(kind, label, own.losses.find((one) => one.part === part).value, about.get(label)))),
    elsewhere.length > 0 && h('p.small.soft', null, 'In other settings also: ', elsewhere.map(([, [kind, label]], k) => [k > 0 && ', ', h(`i.key.${fillingOf(kind)}`, { 'aria-hidden': true }), ' ', label])),
  ];
}

// From a perfect 1 down, as on Losses: what each step lost, then what is reached.
function leftBar({ bar, losses, reached }) {
  const told = [`reached ${fixed(reached, 2)}`, ...losses.map((one) => `${one.label} ${fixed(one.value, 2)}`)];
  return tip(drawn(bar, { label: told.join(', ') }), told.join('\n'));
}

function rankRow(one) {
  const setting = DATA.settings.indexOf(one.setting);
  return h(`li.setting-row.${one.group}`, null,
    h('span.setting-name', null, setting < 0 ? foreign(one.words) : named(setting), ' ', one.why && h('small.soft', null, '· ', one.why)),
    h('span.dots-cell', null, drawn(one.drawn, { height: 20, label: range(one.low, one.high, 2) })),
    h('b.num', null, fixed(one.mean, 2)),
    one.losses.length ? h('span.left-cell', null, leftBar(one)) : null);
}

// The heading of a group; what rules all of it out is said once.
function groupHead(kind, rows) {
  const [title, name] = GROUPS[kind];
  const why = rows.every((one) => one.why === rows[0].why) ? rows[0]?.why : '';
  return [h('h4', null, term(title, TERMS[name]), why && h('span.soft', null, `: ${why}`)), why];
}

function ranking(found, most) {
  const { settings, setting_axis: scale, level, more } = found;
  // a handful of queries bounds nothing
  const few = !settings.some((one) => known(one.low));
  // one folded row would take as much room
  const shown = settings.filter((one, k) => k < most || one.group === 'use' || settings.length === most + 1);
  const rest = settings.filter((one) => !shown.includes(one));
  const lossy = Object.keys(found.parts).length > 0;
  const unit = DATA.losses?.measure;
  const bars = `reached, then lost${unit && unit !== found.measure ? ` (${unit})` : ''}`;
  const group = (kind) => {
    const rows = shown.filter((one) => one.group === kind);
    const [head, why] = groupHead(kind, rows);
    return rows.length > 0 && [settings.length > 1 && head, h('ul', null, rows.map((one) => rankRow(why ? { ...one, why: '' } : one)))];
  };
  return [
    h('h3', null, 'How the settings rank', h('span.aside', null, ' ', h('span.at-length', null, 'by ', scoreTerm(found), ', 0 to 1'), !few && [h('span.at-length', null, ','), ` with ${confidence(level)} `, term('intervals', TERMS.interval)])),
    h('div', null, Object.keys(GROUPS).map(group),
      h('div.setting-row.setting-axis', null, h('span.setting-name'), h('span.dots-cell', null, drawnAxis(scale)), h('b.num'), lossy && h('span.bar-name', { 'aria-hidden': true }, bars)),
      rest.length > 0 && h('details.rest', null, h('summary', null, more[most]), h('ul', null, rest.map(rankRow)))),
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

function nextStep({ text, command: run, config }) {
  if (!text) return null;
  const command = config || run;
  const code = command && h('code', null, command.split(' ').map((word, k) => [k > 0 && ' ', h('span.word', null, word)]));
  const button = command && h('button.quiet', { type: 'button', onclick: () => copyText(command, button, code) }, 'Copy');
  return h('p.next', null, h('b', null, 'Next'), ' ', h('span', null, plainly(text)), ' ', command && h('span.command', null, code, button));
}

// On a phone what is lost and the next step come before the settings and what matters, so that they are in sight.
const onPhone = matchMedia('(max-width: 640px)');
onPhone.addEventListener('change', () => draw((one) => one.id === 'glance'));

// What to use; or, in a frame and with a sign, why nothing is.
function sentence(text, tone, said) {
  if (tone === 'good') return h('h2.sentence', null, text);
  const sign = g('svg.sign', { viewBox: '0 0 24 24', 'aria-hidden': true }, g('path', { d: 'M12 3L22.5 21H1.5Z' }), g('path', { d: 'M12 9.5V15M12 17.5V18.5' }));
  return h(`h2.sentence.warns.${tone}`, null, sign, h('span', null, hidden(said), text));
}

// Where answers decide between settings whose rankings tie, the page opens with the verdict on them.
function answersLead() {
  return Boolean(DATA.answers?.glance) && state.measure === (DATA.headline || DATA.measures[0]);
}

function glanced() {
  return answersLead() ? DATA.answers.glance : statistics().glance;
}

function firstScreen(rows, factors) {
  const found = glanced();
  const head = h('p.facts', null, facts().map((fact) => h('span', null, fact)));
  if (!found) return [head, sentence(foreign(statistics().why || 'There is nothing to compare.'), 'poor', 'Warning: ')];
  const matters = whatMatters(found, factors);
  const lost = Object.keys(found.parts).length > 0 && whereLost(chosen(found.settings), found);
  return [
    !onPhone.matches && head,
    sentence(measured(found.sentence, found), found.tone, found.said),
    found.holds && h('p.holds', null, measured(found.holds, found)),
    found.again && h('p.holds', null, found.again),
    answersLead() ? h('p.small', null, prose(DATA.answers.rankings)) : howSure(found),
    onPhone.matches ? [lost, nextStep(found.next)] : h('div.beside', null, [matters, lost].map((one) => one && h('div', null, one))),
    found.settings.length > 0 && ranking(found, rows),
    onPhone.matches ? [matters, head] : nextStep(found.next),
  ];
}

// Fold rows until the next step is on the first screen; nothing to do while the view is hidden.
function fitScreen(one) {
  const next = () => one.body.querySelector('.next')?.getBoundingClientRect();
  if (one.fitted || onPhone.matches || !next()?.height) return;
  one.fitted = true;
  let [rows, factors] = [FIRST_ROWS, FIRST_ROWS];
  while (next().bottom + scrollY > innerHeight && (rows > LEAST_ROWS || factors > LEAST_FACTORS)) {
    // settings fold first: the best are still there
    if (rows > (factors > FEW_ROWS ? FEW_ROWS : LEAST_ROWS)) rows -= 1;
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
    const rows = glanced()?.factors || [];
    if (!rows.length) return null;
    return [
      h('p.lede', null, 'One level of a factor against another, averaged over all other factors. All intervals are right ', term('at once', TERMS.simultaneous), ` with ${confidence(DATA.level)} confidence.`),
      table([
        { key: 'factor', title: 'factor', value: (r) => r.factor, cell: (r) => [h('b', null, foreign(r.factor)), ': ', foreign(r.level), ' instead of ', foreign(r.against)], file: (r) => r.factor },
        ...['level', 'against', 'low', 'high'].map((key) => ({ key, fileOnly: true, value: (r) => r[key], file: (r) => r[key] })),
        { key: 'difference', title: `difference, ${confidence(DATA.level)} interval`, num: true, about: TERMS.interval, value: (r) => r.difference, cell: (r) => [h('b', null, signed(r.difference)), h('small.soft', null, ` ${range(r.low, r.high)}`)] },
        { key: 'words', title: 'finding', value: (r) => r.words, cell: (r) => term(r.words) },
      ], rows, { caption: 'Effects of the factors', keep: 'factors', most: 30 }),
      glanced().interactions.map((text) => h('p', null, prose(text))),
    ];
  },
});
