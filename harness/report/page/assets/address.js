// The reader's choices are in the address: a link brings them back, and so does Back. Choices unchanged since
// the start are left out; settings and queries go by their names, so that a link says what it shows.

const SHARED = ['view', 'measure', 'stage', 'split', 'find', 'type', 'order', 'named', 'factors', 'group', 'price', 'folded'];
const SETTINGS = ['a', 'b', 'chosen', 'worst'];
const address = { first: {}, reading: false };

// A step back undoes a choice, not a letter that was typed.
const QUIET = ['find', 'named', 'folded'];

function writtenState() {
  const out = new URLSearchParams();
  for (const key of SHARED) if ((state[key] ?? '') !== (address.first[key] ?? '')) out.set(key, state[key]);
  for (const key of SETTINGS) if (state[key] !== address.first[key]) out.set(key, DATA.settings[state[key]] ?? '');
  if (byId('drill').open) {
    out.set('query', DATA.queries.id[drilled.query]);
    out.set('setting', DATA.settings[drilled.setting]);
    out.set('beside', DATA.settings[drilled.other] ?? '');
  }
  return out.toString();
}

function currentHash() {
  return location.hash.replace(/^#/, '');
}

function remember(quiet = false) {
  if (address.reading) return;
  const now = writtenState();
  if (now === currentHash()) return;
  if (quiet) location.replace(`#${now}`);
  else location.hash = now;
}

// The choices that an address names; what this page does not have stays as it was at the start.
function readState(text) {
  const given = new URLSearchParams(text);
  const out = { ...address.first };
  const fits = {
    view: (name) => Boolean(viewNode(name)),
    measure: (name) => DATA.measures.includes(name),
    stage: (name) => name === 'final' || DATA.stages.includes(name),
    split: (name) => name === 'all' || Boolean(DATA.summary[name]),
    order: (name) => Object.hasOwn(ORDERS, name),
    type: (name) => !name || DATA.queries.type.includes(name),
    group: (name) => DATA.queries.groups.some((one) => one.name === name),
    price: (name) => Object.hasOwn(PRICES, name),
    factors: (wanted) => [...new URLSearchParams(wanted)].every(([name, value]) => DATA.factors.find((one) => one.name === name)?.values.some((own) => String(own ?? '') === value)),
  };
  for (const key of SHARED) if (given.has(key) && (fits[key]?.(given.get(key)) ?? true)) out[key] = given.get(key);
  for (const key of SETTINGS) {
    const place = DATA.settings.indexOf(given.get(key));
    if (place >= 0) out[key] = place;
  }
  return out;
}

function restore() {
  const text = currentHash();
  // the name of a section, as in old links
  if (text && !text.includes('=')) {
    if (viewOf(text)) choose({ view: viewOf(text) });
    byId(text)?.scrollIntoView();
    return;
  }
  if (text === writtenState()) return;
  address.reading = true;
  Object.assign(state, readState(text));
  drawControls();
  foldAll();
  draw();
  const given = new URLSearchParams(text);
  const query = DATA.queries.id.indexOf(given.get('query'));
  const dialog = byId('drill');
  if (query >= 0) {
    const setting = Math.max(0, DATA.settings.indexOf(given.get('setting')));
    const kept = dialog.open ? drilled.list : null;
    openQuery(query, setting, kept?.includes(query) ? kept : null, DATA.settings.indexOf(given.get('beside')));
  } else if (dialog.open) dialog.close();
  address.reading = false;
}

function startAddress() {
  address.first = Object.fromEntries([...SHARED, ...SETTINGS].map((key) => [key, state[key]]));
  addEventListener('hashchange', restore);
  if (currentHash()) restore();
}

// Sections fold; which of them are folded is one of the choices.
function foldedNow() {
  return new Set(state.folded.split(',').filter(Boolean));
}

function foldAll() {
  const folded = foldedNow();
  for (const one of sections) {
    const fold = one.node?.querySelector(':scope > details.fold');
    if (fold) fold.open = !folded.has(one.id);
  }
}

function noteFold(id, open) {
  const folded = foldedNow();
  if (open) folded.delete(id);
  else folded.add(id);
  choose({ folded: [...folded].sort().join(',') });
}
