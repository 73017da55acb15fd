// One query: what was ranked for it, what was judged, and how every setting did.

const drilled = { query: 0, setting: 0, other: -1, list: [], from: null, unfolded: false, around: false, find: '' };

// The setting to compare with another: the one that was asked for, else the leader, else the second.
function otherSetting(setting) {
  const order = ranked();
  return [state.a, state.b, leaderOf(), ...order].find((i) => i !== undefined && i !== setting && order.includes(i)) ?? -1;
}

function openQuery(query, setting, list = null, other = otherSetting(setting)) {
  drilled.from = document.activeElement;
  Object.assign(drilled, { query, setting, other, list: list?.length ? list : DATA.queries.id.map((_, i) => i) });
  drawDrill();
  const dialog = byId('drill');
  if (!dialog.open) dialog.showModal();
  remember();
  dialog.scrollTop = 0;
}

function stepQuery(step) {
  const at = drilled.list.indexOf(drilled.query) + step;
  if (at < 0 || at >= drilled.list.length) return;
  drilled.query = drilled.list[at];
  drawDrill();
  byId('drill').scrollTop = 0;
}

function rankingOf(setting, query) {
  return DATA.detail.rankings[stageOf(setting)]?.[setting]?.[query] || null;
}

// Whether the page has rankings and judged text of a query: of thousands it has those of some.
function isDrilled(query) {
  return !DATA.detail.drilled || DATA.detail.drilled.includes(query);
}

// The texts that the steps of a setting searched for. A route that searched for the same as its fusion is not repeated.
function askedBy(setting, query) {
  const { texts, steps } = DATA.detail.asked;
  const own = steps.filter((one) => one.setting === setting);
  const textsOf = (name) => own.find((one) => one.step === name)?.by[query].join();
  return own.filter((one) => {
    const above = one.step.slice(0, Math.max(0, one.step.lastIndexOf('.')));
    return !above || textsOf(above) !== textsOf(one.step);
  }).map((one) => [one.step, one.by[query].map((place) => texts[place])]);
}

function askedNote(setting, query) {
  const steps = askedBy(setting, query).filter(([, texts]) => texts.length !== 1 || texts[0] !== DATA.queries.text[query]);
  return steps.length ? h('ul.asked.small', null, steps.map(([step, texts]) => h('li', null,
    h('b', null, steps.length > 1 || step !== 'retrieve' ? `asked by ${step}` : 'asked'), ' ',
    texts.length ? texts.map((text, i) => [i ? h('span.soft', null, ' · ') : null, foreign(text, 'span')]) : h('span.soft', null, 'nothing')))) : null;
}

function rankedColumn(setting, query, other = -1) {
  const ranking = rankingOf(setting, query);
  const compared = other >= 0 && shareText(setting, other) ? rankingOf(other, query) : null;
  const places = compared?.[0].length ? matched(ranking, compared) : null;
  return h('section.ranking', { 'aria-label': `Ranking of ${nameOf(setting)}` },
    h('h3', null, named(setting), ' ', h('span.soft.num', null, `${state.measure} ${fixed(score(setting, query))}`)),
    askedNote(setting, query),
    replyPanel(setting, query),
    ranking?.[0].length
      ? h('ol.passages', null, ranking[0].map((_, rank) => passage(rank, ranking, query, places ? places[rank] : null, readBadge(setting, query, rank))))
      : h('p.soft', null, isDrilled(query) ? 'There is no ranking of this query here.' : `The rankings of this query are not on this page: ${DATA.files.rankings} has them.`));
}

function evidenceList(query, setting, other = -1) {
  const all = DATA.detail.evidence[query];
  if (!all.length) return h('p.soft', null, isDrilled(query) ? 'Nothing was judged for this query.' : `What was judged for this query is not on this page: ${DATA.files.judgments} has it.`);
  const spans = all.filter((span) => isInText(span, setting));
  if (!spans.length) return h('p.soft', null, 'The parser of this setting has lost all that was judged for this query.');
  const ranking = rankingOf(setting, query);
  const compared = other >= 0 && shareText(setting, other) ? rankingOf(other, query) : null;
  const item = (span) => h('li', null, gradeChip(span[3]), ' ', foundNote(span, ranking),
    compared ? [h('span.soft.small', null, ' · in the other '), foundNote(span, compared)] : null, ' ',
    where(span[0], span[4], span[1], span[2]),
    span[3] > 0 && pagePicture(span),
    span[5] ? h('p.small.foreign', null, span[5]) : null,
    span[6] ? h('p.small.soft', null, 'The judge: ', foreign(span[6], 'span')) : null);
  // what was read and dismissed is often much, and asked for seldom
  const off = spans.filter((span) => span[3] === 0);
  return [
    h('ul.evidence', null, spans.filter((span) => span[3] !== 0).map(item)),
    off.length > 0 && h('details', null, h('summary.small', null, `${count(off.length, 'span')} of grade 0`), h('ul.evidence', null, off.map(item))),
  ];
}

function allSettings(query) {
  const place = percentOf(0, 1);
  const rows = ranked().map((i) => [i, score(i, query)]).sort((x, y) => (y[1] ?? -1) - (x[1] ?? -1));
  return h('ul.by-setting', null, rows.map(([i, value]) => h('li', null,
    h('button', { type: 'button', 'aria-pressed': String(i === drilled.setting), onclick: () => { drilled.setting = i; drawDrill(`s${i}`); }, 'data-keep': `s${i}` },
      named(i), h('b.num', null, fixed(value, 2)),
      strip(known(value) ? [g('rect.left', { x: 0, width: place(value), y: 0, height: 4 })] : [], { height: 4 })))));
}

// Where there is one column the judged text is above the ranking, folded away until one asks for it.
const small = matchMedia('(max-width: 900px)');

function judgedFold(query, setting, other) {
  const n = DATA.detail.evidence[query].filter((span) => isInText(span, setting)).length;
  return h('details.judged-fold', { open: drilled.unfolded, ontoggle: (event) => { drilled.unfolded = event.target.open; } },
    h('summary', null, `Judged text${n ? ` (${whole(n)})` : ''}`), evidenceList(query, setting, other));
}

// The text around passages is on the page, hidden until one asks for it.
function aroundSwitch(dialog) {
  const box = h('input', { type: 'checkbox', checked: drilled.around, 'data-keep': 'around', onchange: () => {
    drilled.around = box.checked;
    dialog.classList.toggle('with-around', box.checked);
  } });
  return h('label.check', null, box, ' text around passages');
}

function drawDrill(focus) {
  const { query, setting } = drilled;
  const other = drilled.other === setting ? -1 : drilled.other;
  const q = DATA.queries;
  const at = drilled.list.indexOf(query);
  const names = settingOptions();
  const button = (text, key, run, more = {}) => h('button.quiet', { type: 'button', 'data-keep': key, onclick: run, ...more }, text);
  const pick = (key) => (value) => { drilled[key] = Number(value); drawDrill(key); };
  const dialog = byId('drill');
  swap(dialog,
    h('div.drill-bar', null,
      button('← Previous', 'previous', () => { stepQuery(-1); }, { disabled: at <= 0 }),
      button('Next →', 'next', () => { stepQuery(1); }, { disabled: at < 0 || at >= drilled.list.length - 1 }),
      h('span.soft.small.num', null, at >= 0 ? `${at + 1} of ${drilled.list.length}` : ''),
      button('Close', 'close', () => dialog.close(), { 'aria-label': 'Close (Escape)', autofocus: true })),
    h('div.drill-head', null,
      h('p.soft.small', null, foreign(q.id[query]), q.type[query] ? [' · ', foreign(q.type[query].replaceAll('_', ' '))] : null, ` · ${q.split[query]}`, q.answerable[query] ? null : ' · the documents hold no answer'),
      h('h2', { id: 'drill-title' }, foreign(q.text[query] || q.id[query], 'span'))),
    h('div.drill-body', null,
      h('aside', null,
        h('h3', null, 'Settings'), allSettings(query),
        small.matches ? null : [h('h3', null, 'Judged text'), evidenceList(query, setting, other)]),
      h('div', null,
        h('div.tools', null,
          select('setting', names, setting, pick('setting'), { 'data-keep': 'setting' }),
          names.length > 1 && select('compare with', [[-1, 'none'], ...names.filter(([i]) => i !== setting)], drilled.other, pick('other'), { 'data-keep': 'other' }),
          DATA.stages.length > 1 && select('stage', stageOptions(), state.stage, (stage) => { choose({ stage }); drawDrill('stage'); }, { 'data-keep': 'stage' }),
          search('Search in passages', drilled.find, (find) => { drilled.find = find; findInPassages(dialog, find); }, { 'data-keep': 'find-passage' }),
          DATA.detail.around ? aroundSwitch(dialog) : null,
          h('span.soft.small.found-count', { role: 'status' })),
        small.matches ? judgedFold(query, setting, other) : null,
        other >= 0 ? rankingsPanel(query, setting, other) : null,
        h('div.rankings', null, rankedColumn(setting, query, other), other >= 0 ? rankedColumn(other, query, setting) : null))));
  dialog.classList.toggle('with-around', drilled.around);
  findInPassages(dialog, drilled.find);
  if (focus) dialog.querySelector(`[data-keep="${focus}"]`)?.focus();
  if (dialog.open) remember(true);
}

function startDrill() {
  const dialog = byId('drill');
  dialog.addEventListener('keydown', (event) => {
    if (event.target.closest('select, input, summary')) return;
    if (event.key === 'ArrowLeft') stepQuery(-1);
    else if (event.key === 'ArrowRight') stepQuery(1);
    else return;
    event.preventDefault();
    dialog.querySelector('[data-keep="close"]').focus();
  });
  small.addEventListener('change', () => { if (dialog.open) drawDrill(); });
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener('close', () => remember());
  dialog.addEventListener('close', () => drilled.from?.isConnected && drilled.from.focus({ preventScroll: true }));
}
