// The first screen and four views, reached by tabs; the address keeps the view, and paper shows all of them.

const VIEWS = {
  glance: ['Overview', ['glance']],
  compare: ['Compare', ['answer', 'names', 'factors', 'board', 'dropped', 'gains', 'differences', 'curves', 'reading', 'reranked', 'splits', 'kinds', 'price', 'recall', 'answers']],
  losses: ['Losses', ['losses', 'filters']],
  queries: ['Queries', ['queries', 'histograms']],
  run: ['Run', ['method', 'judged', 'health', 'origin', 'conventions', 'terms']],
};

const viewOf = (id) => Object.keys(VIEWS).find((view) => VIEWS[view][1].includes(id));

function viewNode(view) {
  return byId(`view-${view}`);
}

// Sections are drawn in the order of their views; a view without any has no tab.
function buildViews() {
  const main = byId('main');
  swap(main);
  const tabs = [];
  for (const [view, [title, ids]] of Object.entries(VIEWS)) {
    const shown = ids.map((id) => sections.find((one) => one.id === id));
    const within = h('ul.within');
    const node = h('div.view', { id: `view-${view}`, hidden: true }, within);
    main.append(node);
    for (const one of shown) node.append(buildSection(one));
    for (const one of shown) drawOne(one);
    const there = shown.filter((one) => !one.node.hidden);
    if (!there.length) {
      node.remove();
      continue;
    }
    const listed = there.filter((one) => one.title && !one.bare);
    swap(within, listed.map((one) => h('li', null, h('a', { href: `#${one.id}`, onclick: (event) => goTo(event, one) }, one.short || one.title))));
    within.hidden = listed.length < 3;
    tabs.push(h('li', null, h('a', { href: `#view=${view}`, 'data-view': view, onclick: (event) => { event.preventDefault(); choose({ view }); } }, title)));
  }
  swap(byId('tabs'), tabs);
}

function buildSection(one) {
  one.body = h('div.body');
  const folds = !one.bare && one.title;
  one.node = h(`section${one.bare ? '.bare' : ''}`, { id: one.id, 'aria-label': one.title }, folds
    ? h('details.fold', { open: true, ontoggle: (event) => noteFold(one.id, event.target.open) }, h('summary', null, h('h2', null, one.title)), one.body)
    : one.body);
  return one.node;
}

function showView() {
  if (showView.last === state.view) return;
  for (const node of document.querySelectorAll('.view')) node.hidden = node.id !== `view-${state.view}`;
  for (const tab of document.querySelectorAll('#tabs a')) {
    if (tab.dataset.view === state.view) tab.setAttribute('aria-current', 'page');
    else tab.removeAttribute('aria-current');
  }
  byId('controls').hidden = state.view === 'glance';
  for (const one of sections) if (viewOf(one.id) === state.view) one.shown?.(one);
  hideTip();
  if (showView.last) scrollTo(0, 0);
  showView.last = state.view;
}
showView.last = '';

// Going to a section keeps the choices in the address.
function goTo(event, one) {
  event.preventDefault();
  const fold = one.node.querySelector(':scope > details.fold');
  if (fold) fold.open = true;
  one.node.scrollIntoView();
  fold?.querySelector('summary').focus({ preventScroll: true });
}
