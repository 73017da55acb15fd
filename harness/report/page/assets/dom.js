// Building blocks of the sections, and the tooltip.

function hidden(text) {
  return h('span.hidden', null, text);
}

function select(label, options, value, onchange, attributes = {}) {
  const node = h('select', { ...attributes, onchange: () => onchange(node.value) },
    options.map(([key, text]) => h('option', { value: key, selected: String(key) === String(value) }, text)));
  return h('label.field', null, h('span', null, label), node);
}

function search(label, value, oninput, attributes = {}) {
  let timer = 0;
  const node = h('input', {
    type: 'search', value, placeholder: label, 'aria-label': label, autocomplete: 'off', ...attributes,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => oninput(node.value), 120);
    },
  });
  return node;
}

// A tooltip for the pointer; what it says is also in the text of the page or in a label.
function tip(node, text) {
  node.addEventListener('pointerenter', (event) => showTip(event, text));
  node.addEventListener('pointermove', (event) => showTip(event, text));
  node.addEventListener('pointerleave', hideTip);
  return node;
}

// The explanation of a control: for the mouse, for the keyboard, and for a finger, until it taps elsewhere.
function explained(node, text) {
  const show = () => {
    const box = node.getBoundingClientRect();
    showTip({ clientX: box.left - 14, clientY: box.bottom - 12 }, text);
    node.setAttribute('aria-describedby', 'tip');
  };
  const hide = () => {
    node.removeAttribute('aria-describedby');
    hideTip();
  };
  node.explain = show;
  node.addEventListener('pointerenter', (event) => { if (event.pointerType === 'mouse') show(); });
  node.addEventListener('pointerleave', (event) => { if (event.pointerType === 'mouse') hide(); });
  node.addEventListener('focus', show);
  node.addEventListener('click', show);
  node.addEventListener('blur', hide);
  return node;
}

function startTips() {
  addEventListener('keydown', (event) => { if (event.key === 'Escape') hideTip(); });
  addEventListener('pointerdown', (event) => { if (!event.target.closest('[aria-describedby=tip]')) hideTip(); });
  // a word that took the focus may have been scrolled into sight for it
  addEventListener('scroll', () => {
    const node = document.querySelector('[aria-describedby=tip]');
    if (node) node.explain();
    else hideTip();
  }, { passive: true });
}

function showTip(event, text) {
  const box = byId('tip');
  const content = typeof text === 'function' ? text(event) : text;
  if (!content) return hideTip();
  if (box.textContent !== content) box.textContent = content;
  box.hidden = false;
  const left = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8);
  const below = event.clientY + 18 + box.offsetHeight < window.innerHeight;
  const top = below ? event.clientY + 18 : event.clientY - box.offsetHeight - 12;
  box.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
}

function hideTip() {
  byId('tip').hidden = true;
}
